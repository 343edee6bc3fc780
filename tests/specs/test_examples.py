import pytest

from conformance import specs
from conformance.models import ALL
from conformance.values import Protocol

EXAMPLES = [(protocol, name) for protocol in Protocol for name in specs.documented_examples(protocol)]


def test_every_example_of_the_documents_is_there():
    names = {protocol: set(specs.documented_examples(protocol)) for protocol in Protocol}
    assert names == {
        Protocol.CHAT: {
            *("simple", "highspeed", "k3", "streaming", "multimodal", "function_calling", "web_search"),
            *("structured_output", "cache_1h", "curl"),
        },
        Protocol.MESSAGES: {
            *("simple", "highspeed", "streaming", "cache_1h", "web_search", "structured_output", "curl"),
        },
        Protocol.RESPONSES: {"simple", "curl"},
    }


@pytest.mark.parametrize(("protocol_", "name"), EXAMPLES, ids=[f"{protocol}-{name}" for protocol, name in EXAMPLES])
def test_a_documented_request_breaks_no_constraint_of_its_model(protocol_, name):
    body = specs.documented_examples(protocol_)[name]
    assert body["model"] in ALL
    assert specs.breaches(protocol_, body["model"], body) == ()


def test_the_command_of_a_page_is_its_simple_example(protocol):
    examples = specs.documented_examples(protocol)
    assert examples["curl"] == examples["simple"]


@pytest.mark.parametrize("required", [False, True])
def test_a_documented_answer_is_valid(protocol, model, required):
    assert specs.body_breaches(protocol, model, specs.example_answer(protocol), required=required) == ()


def test_the_documented_answers_are_those_of_their_surfaces():
    assert specs.example_answer(Protocol.CHAT)["object"] == "chat.completion"
    assert specs.example_answer(Protocol.MESSAGES)["type"] == "message"
    assert specs.example_answer(Protocol.RESPONSES)["id"] == "resp_6adc72aab1f2eaaebe6b869e"


def test_a_caller_may_change_an_example(protocol):
    specs.documented_examples(protocol)["simple"].clear()
    specs.example_answer(protocol).clear()
    assert specs.documented_examples(protocol)["simple"]["model"]
    assert specs.example_answer(protocol)
