import pytest

from conformance.models import MODELS
from conformance.values import Protocol

CELLS = [(protocol, model) for protocol in Protocol for model in MODELS]


def pytest_generate_tests(metafunc):
    if {"protocol", "model"} <= set(metafunc.fixturenames):
        metafunc.parametrize(("protocol", "model"), CELLS, ids=[f"{protocol}-{model}" for protocol, model in CELLS])
    elif "protocol" in metafunc.fixturenames:
        metafunc.parametrize("protocol", list(Protocol), ids=str)


@pytest.fixture
def minimal(protocol):
    """The smallest valid body of a surface, without a model."""
    return {
        Protocol.CHAT: {"messages": [{"role": "user", "content": "Hi"}]},
        Protocol.MESSAGES: {"max_tokens": 16, "messages": [{"role": "user", "content": "Hi"}]},
        Protocol.RESPONSES: {"input": "Hi"},
    }[protocol]
