"""Both official clients, unmodified, against a reference server on a real socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")

import anthropic
import openai

from conformance.reference import DEFAULT_KEY, Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def openai_client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key=DEFAULT_KEY, base_url=f"{server.base_url}/v1", max_retries=0, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def anthropic_client(server: Running) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(auth_token=DEFAULT_KEY, base_url=server.base_url, max_retries=0, timeout=60) as client:
        yield client
