"""The official clients through the proxy, against the reference server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")

import anthropic
import openai
from pydantic import BaseModel
from scripted_upstream import SECONDS

from conformance import proxy
from conformance.evidence import read
from conformance.reference import DEFAULT_KEY, running
from conformance.reference.faults import FAULTS
from conformance.values import Level, Protocol

OK = [{"role": "user", "content": "Reply with OK."}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Proxied:
    """Clients of a proxy."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def openai(self) -> openai.OpenAI:
        return openai.OpenAI(api_key=DEFAULT_KEY, base_url=f"{self.base_url}/v1", max_retries=0, timeout=SECONDS)

    def anthropic(self) -> anthropic.Anthropic:
        return anthropic.Anthropic(auth_token=DEFAULT_KEY, base_url=self.base_url, max_retries=0, timeout=SECONDS)


@contextmanager
def judging(journal: Path) -> Iterator[tuple[proxy.Desk, list[proxy.Told]]]:
    """A judge and what it told; on leaving, everything has been judged."""
    told: list[proxy.Told] = []
    desk = proxy.Desk(proxy.Orders(journal=str(journal)), told.append)
    try:
        yield desk, told
    finally:
        desk.close(SECONDS)
    assert not desk.unjudged


@contextmanager
def proxied(desk: proxy.Desk, fault: str | None = None) -> Iterator[Proxied]:
    """Clients of a proxy before a reference server."""
    with running(hooks=FAULTS[fault].hooks() if fault else None, addresses=1) as server:
        target = proxy.upstream(server.base_url)
        with proxy.running(target, proxy.listen("127.0.0.1:0"), tap=desk.tap, take=desk.take) as listening:
            yield Proxied(listening.base_url)


class City(BaseModel):
    name: str


def chat_json(found: Proxied) -> None:
    with found.openai() as client:
        answer = client.chat.completions.create(model="kimi-k3", messages=OK)
    assert answer.choices[0].message.content == "OK"


def chat_stream(found: Proxied) -> None:
    with found.openai() as client:
        chunks = list(client.chat.completions.create(model="kimi-k3.1-pro", messages=OK, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "OK"


def chat_tools(found: Proxied) -> None:
    tool = {"type": "function", "function": {"name": "get_weather", "description": "", "parameters": PARAMETERS}}
    with found.openai() as client:
        messages: list = [{"role": "user", "content": "Call get_weather for Paris."}]
        first = client.chat.completions.create(model="kimi-k3", messages=messages, tools=[tool]).choices[0].message
        messages += [first, {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "sun"}]
        second = client.chat.completions.create(model="kimi-k3", messages=messages, tools=[tool])
    assert "sun" in second.choices[0].message.content


def chat_parsed(found: Proxied) -> None:
    with found.openai() as client:
        answer = client.chat.completions.parse(model="kimi-k3", messages=OK, response_format=City)
    assert isinstance(answer.choices[0].message.parsed, City)


def responses_json(found: Proxied) -> None:
    with found.openai() as client:
        assert client.responses.create(model="kimi-k3", input="Reply with OK.").output_text == "OK"


def responses_stream(found: Proxied) -> None:
    with found.openai() as client:
        events = list(client.responses.create(model="kimi-k3", input="Reply with OK.", stream=True))
    assert events[-1].type == "response.completed"


def messages_json(found: Proxied) -> None:
    with found.anthropic() as client:
        answer = client.messages.create(model="kimi-k3.1-pro", max_tokens=1024, messages=OK)
    assert answer.content[-1].text == "OK"


def messages_stream(found: Proxied) -> None:
    with (
        found.anthropic() as client,
        client.messages.stream(model="kimi-k3.1-pro", max_tokens=1024, messages=OK) as stream,
    ):
        assert "".join(stream.text_stream) == "OK"


def errors(found: Proxied) -> None:
    with found.openai() as client, pytest.raises(openai.NotFoundError):
        client.models.list()
    with found.anthropic() as client, pytest.raises(anthropic.BadRequestError):
        client.messages.create(model="kimi-k3", max_tokens=-1, messages=OK)


def many_at_once(found: Proxied) -> None:
    async def ask(client: openai.AsyncOpenAI) -> str:
        stream = await client.chat.completions.create(model="kimi-k3", messages=OK, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    async def both() -> list[str]:
        async with openai.AsyncOpenAI(api_key=DEFAULT_KEY, base_url=f"{found.base_url}/v1", max_retries=0) as client:
            return await asyncio.gather(*(ask(client) for _ in range(8)))

    assert asyncio.run(both()) == ["OK"] * 8


WORK: tuple[Callable[[Proxied], None], ...] = (
    chat_json,
    chat_stream,
    chat_tools,
    chat_parsed,
    responses_json,
    responses_stream,
    messages_json,
    messages_stream,
    errors,
    many_at_once,
)


FAULTY: tuple[tuple[str, Callable[[Proxied], None]], ...] = (
    ("usage-total-off-by-one", chat_json),
    ("usage-total-off-by-one", responses_stream),
    ("chunk-id-changes", chat_stream),
    ("body-id-empty", messages_json),
    ("item-id-changes-at-end", responses_stream),
)


def test_clients_work_as_before_and_nothing_is_found(tmp_path: Path):
    with judging(tmp_path / "journal.jsonl") as (desk, told), proxied(desk) as found:
        for work in WORK:
            work(found)
    exchanges = read(str(tmp_path / "journal.jsonl")).exchanges
    assert len(exchanges) == len(told) == 18
    assert {exchange.protocol for exchange in exchanges} == set(Protocol)
    assert [exchange.id for exchange in exchanges if exchange.failure is not None] == []
    assert [finding for one in told for finding in one.findings if finding.level is not Level.INFO] == []


def test_faults_are_named_by_their_rules(tmp_path: Path):
    with judging(tmp_path / "journal.jsonl") as (desk, told):
        for fault, work in FAULTY:
            with proxied(desk, fault) as found:
                work(found)
    assert len(told) == len(FAULTY)
    for one, (fault, _) in zip(told, FAULTY, strict=True):
        assert {finding.rule for finding in one.findings} & set(FAULTS[fault].caught_by), fault
