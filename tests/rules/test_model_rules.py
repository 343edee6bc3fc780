from __future__ import annotations

import json
from typing import Any

import pytest
from made_exchanges import answer, body, exchange, found

from conformance.judge import judge
from conformance.rules import RULES
from conformance.values import Chunk, Exchange, Intent, Level, Protocol, Response

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES
MUST, SHOULD = Level.MUST, Level.SHOULD
K3, PRO, FAST = "kimi-k3", "kimi-k3.1-pro", "kimi-k3.1-pro-highspeed"
SCHEMA = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}
STREAM = {
    CHAT: 'data: {"id": "x", "object": "chat.completion.chunk", "model": "kimi-k3", "choices": []}\n\n',
    MESSAGES: 'event: message_start\ndata: {"type": "message_start", "message": {"model": "kimi-k3"}}\n\n',
}

REFUSED_BY_K3: list[tuple[Protocol, dict[str, Any], str, Level]] = [
    (MESSAGES, {"stop_sequences": ["x"]}, "model.k3.stop-sequences-rejected", MUST),
    (CHAT, {"temperature": 0}, "model.k3.temperature-rejected", MUST),
    (MESSAGES, {"temperature": 0.99}, "model.k3.temperature-rejected", MUST),
    (CHAT, {"top_p": 1}, "model.k3.top-p-rejected", MUST),
    (MESSAGES, {"top_p": 0.5}, "model.k3.top-p-rejected", MUST),
    (MESSAGES, {"cache_control": {"type": "ephemeral"}}, "model.k3.cache-control-rejected", SHOULD),
    (CHAT, {"prompt_cache_options": {"ttl": "5m"}}, "model.k3.prompt-cache-options-rejected", SHOULD),
    (
        MESSAGES,
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        "model.k3.output-format-rejected",
        SHOULD,
    ),
    (CHAT, {"reasoning_effort": "low"}, "model.k3.effort-only-max", SHOULD),
    (CHAT, {"reasoning_effort": "none"}, "model.k3.effort-only-max", SHOULD),
    (MESSAGES, {"output_config": {"effort": "high"}}, "model.k3.effort-only-max", SHOULD),
]


@pytest.mark.parametrize(("protocol", "more", "rule", "level"), REFUSED_BY_K3)
def test_what_kimi_k3_refuses(protocol: Protocol, more: dict[str, Any], rule: str, level: Level):
    sent = body(protocol, K3, **more)
    assert found(exchange(protocol, sent, 400)) == {}
    assert found(exchange(protocol, sent, 200)) == {rule: level}
    streamed = body(protocol, K3, stream=True, **more)
    assert found(exchange(protocol, streamed, 200, STREAM[protocol])) == {rule: level}
    assert rule not in found(exchange(protocol, sent, 429))
    assert rule in found(exchange(protocol, sent, 500))
    assert not any(name.startswith("model.k3.") for name in found(exchange(protocol, body(protocol, PRO, **more), 200)))


def test_a_prefix_before_the_model_does_not_hide_it():
    sent = body(CHAT, "moonshotai/kimi-k3", temperature=0.2)
    assert found(exchange(CHAT, sent, 200)) == {"model.k3.temperature-rejected": MUST}


@pytest.mark.parametrize("status", [403, 404, 422])
def test_sampling_values_need_any_4xx(status: int):
    levels = found(exchange(CHAT, body(CHAT, K3, temperature=0.2), status))
    assert "model.k3.temperature-rejected" not in levels


@pytest.mark.parametrize(
    "more", [{"temperature": 1}, {"temperature": 1.0}, {"top_p": 0.95}, {"temperature": 1, "top_p": 0.95}]
)
@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
def test_kimi_k3_accepts_its_own_sampling(protocol: Protocol, more: dict[str, Any]):
    sent = body(protocol, K3, **more)
    assert found(exchange(protocol, sent, 200)) == {}
    assert found(exchange(protocol, sent, 400)) == {"model.k3.temperature-one-accepted": SHOULD}
    assert found(exchange(protocol, sent, 400, intents=(Intent.VALID,))) == {
        "model.k3.temperature-one-accepted": SHOULD
    }


def test_an_ignored_option_that_takes_effect_is_told():
    got = answer(MESSAGES, K3)
    got["usage"] |= {
        "cache_creation_input_tokens": 1216,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1216},
    }
    sent = body(MESSAGES, K3, cache_control={"type": "ephemeral", "ttl": "1h"})
    told = [f.message for f in judge([exchange(MESSAGES, sent, 200, got)]).findings if "cache-control" in f.rule]
    assert len(told) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"result": "OK"}', {}),
        ('{"answer": "OK"}', {"model.k3.response-format-accepted": MUST}),
        ("OK", {"model.k3.response-format-accepted": MUST}),
        ('```json\n{"result": "OK"}\n```', {"model.k3.response-format-accepted": MUST}),
    ],
)
def test_kimi_k3_follows_a_response_format(text: str, expected: dict[str, Level]):
    sent = body(CHAT, K3, response_format=FORMAT)
    assert found(exchange(CHAT, sent, 200, answer(CHAT, K3, text))) == expected


def test_kimi_k3_accepts_a_response_format():
    levels = found(exchange(CHAT, body(CHAT, K3, response_format=FORMAT), 400))
    assert levels["model.k3.response-format-accepted"] is MUST
    odd = {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "thing"}}}
    assert found(exchange(CHAT, body(CHAT, K3, response_format=odd), 400)) == {}


@pytest.mark.parametrize("value", [0, 0.7, 1, 2, -1, 1e9])
@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
@pytest.mark.parametrize("model", [PRO, FAST])
def test_k31_ignores_sampling_values(protocol: Protocol, model: str, value: float):
    for name, rule in (("temperature", "model.k31.temperature-ignored"), ("top_p", "model.k31.top-p-ignored")):
        sent = body(protocol, model, **{name: value})
        assert found(exchange(protocol, sent, 200)) == {}
        assert found(exchange(protocol, sent, 400))[rule] is MUST


@pytest.mark.parametrize("effort", ["medium", "xhigh", "minimal", "none"])
def test_k31_accepts_effort_aliases(effort: str):
    for protocol, more in ((CHAT, {"reasoning_effort": effort}), (MESSAGES, {"output_config": {"effort": effort}})):
        assert found(exchange(protocol, body(protocol, **more), 200)) == {}
        assert found(exchange(protocol, body(protocol, **more), 400))["model.k31.effort-aliases-accepted"] is MUST


def test_effort_none_still_reasons():
    sent = body(CHAT, reasoning_effort="none")
    got = answer(CHAT)
    got["choices"][0]["message"].pop("reasoning_content")
    assert found(exchange(CHAT, sent, 200, got))["model.k31.effort-none-still-reasons"] is MUST
    got["usage"]["completion_tokens_details"] = {"reasoning_tokens": 4}
    assert found(exchange(CHAT, sent, 200, got)) == {}


@pytest.mark.parametrize(
    ("asked", "came", "expected"),
    [
        (PRO, PRO, {}),
        (PRO, K3, {"model.echoed": MUST}),
        (PRO, FAST, {"model.echoed": MUST}),
        (PRO, "", {"model.echoed": MUST}),
        (PRO, "gpt-4o", {"model.echoed": MUST}),
        (K3, "moonshot/kimi-k3", {"model.echoed": SHOULD}),
        (PRO, "KIMI-K3.1-PRO", {"model.echoed": SHOULD}),
        (PRO, "kimi-k3.1-pro-20260601", {"model.echoed": SHOULD}),
        (PRO, "kimi-k3.1-pro-mini", {"model.echoed": MUST}),
        ("moonshotai/kimi-k3", "kimi-k3", {"model.echoed": SHOULD}),
        ("moonshotai/kimi-k3", "moonshotai/kimi-k3", {}),
    ],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_the_model_is_echoed(protocol: Protocol, asked: str, came: str, expected: dict[str, Level]):
    levels = found(exchange(protocol, body(protocol, asked), 200, answer(protocol, came)), families=("model",))
    assert levels == expected


def test_a_missing_model_has_no_echo():
    assert found(exchange(CHAT, body(CHAT, model=...), 200, answer(CHAT, K3)), families=("model",)) == {}


@pytest.mark.parametrize(
    ("pro", "fast", "differs"),
    [(200, 200, False), (400, 400, False), (200, 400, True), (400, 200, True), (200, 429, False), (500, 200, False)],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_highspeed_decides_as_pro(protocol: Protocol, pro: int, fast: int, differs: bool):
    pair = (exchange(protocol, body(protocol, PRO), pro), exchange(protocol, body(protocol, FAST), fast))
    assert ("model.highspeed.same-decisions" in found(*pair)) is differs


def race(model: str, last: float, *, live: bool = True) -> Exchange:
    chunk = {"id": f"x{last}", "object": "chat.completion.chunk", "created": 1781429460, "model": model}
    first = {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}}]}
    end = {
        **chunk,
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 50, "total_tokens": 53},
    }
    made = exchange(CHAT, body(CHAT, model, stream=True), 200, "data: {}\n\n", live=live)
    chunks = [(100, first), (last, end), (last, "[DONE]")]
    data = [
        Chunk(ms=ms, data=f"data: {part if isinstance(part, str) else json.dumps(part)}\n\n".encode())
        for ms, part in chunks
    ]
    response = Response(status=200, headers=(("Content-Type", "text/event-stream"),), chunks=tuple(data))
    return Exchange(
        id=made.id,
        protocol=made.protocol,
        model=made.model,
        request=made.request,
        response=response,
        live=live,
    )


def speeds(*exchanges: Exchange) -> list[Any]:
    return [f.actual for f in judge(exchanges, rules=[RULES["model.highspeed.faster"]]).findings]


def test_speeds_are_recorded_side_by_side():
    runs = [race(PRO, 1100 + n) for n in range(3)] + [race(FAST, 600 + n) for n in range(3)]
    ((rates),) = speeds(*runs)
    assert rates[FAST] > rates[PRO] > 0
    assert speeds(*runs[:5]) == []


def test_speeds_of_a_recording_are_not_judged():
    assert speeds(*[race(model, 900 + n, live=False) for model in (PRO, FAST) for n in range(3)]) == []


@pytest.mark.parametrize("model", [PRO, FAST, K3])
@pytest.mark.parametrize(
    "more",
    [
        {"tools": [{"type": "web_search"}]},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]},
        {"stream": True},
        {"response_format": {"type": "json_object"}},
    ],
)
def test_chat_features_are_accepted_for_each_model(model: str, more: dict[str, Any]):
    sent = body(CHAT, model, **more)
    assert found(exchange(CHAT, sent, 400))["model.chat-features-accepted"] is SHOULD
    assert found(exchange(CHAT, sent, 400, intents=(Intent.VALID,)))["model.chat-features-accepted"] is MUST
