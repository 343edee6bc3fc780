"""What is refused, with which status and envelope, and what is accepted beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from reference_asking import CHAT, K3, MESSAGES, PATHS, PRO, RESPONSES, Asker, body_of, tool_of

from conformance import specs
from conformance.models import ALL
from conformance.protocols import Answer
from conformance.reference import Settings, app
from conformance.values import Protocol

OK = [{"role": "user", "content": "Reply with OK."}]
GREETING = "Reply with OK."
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
MODES = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])


def is_refused(answer: Answer, status: int, kind: str) -> None:
    assert (answer.status, answer.media_type) == (status, "application/json")
    value: Any = answer.value
    if answer.protocol is MESSAGES:
        assert set(value) == {"type", "error", "request_id"}
        assert (value["type"], set(value["error"])) == ("error", {"type", "message"})
    else:
        assert set(value) == {"error"}
        assert set(value["error"]) == {"message", "type", "code"}
    assert value["error"]["type"] == kind
    assert value["error"]["message"]


CHAT_BAD: dict[str, dict[str, Any]] = {
    "no messages": {"messages": []},
    "messages null": {"messages": None},
    "role": {"messages": [{"role": "robot", "content": "x"}]},
    "role developer": {"messages": [{"role": "developer", "content": "x"}]},
    "content number": {"messages": [{"role": "user", "content": 5}]},
    "part type": {"messages": [{"role": "user", "content": [{"type": "sound"}]}]},
    "limit zero": {"max_completion_tokens": 0},
    "limit large": {"max_completion_tokens": 1_048_577},
    "limit fraction": {"max_completion_tokens": 1.5},
    "limit string": {"max_completion_tokens": "16"},
    "limit boolean": {"max_completion_tokens": True},
    "old limit zero": {"max_tokens": 0},
    "effort": {"reasoning_effort": "extreme"},
    "effort type": {"reasoning_effort": ["low"]},
    "stream": {"stream": "yes"},
    "tools type": {"tools": {}},
    "tool type": {"tools": [{"type": "gadget"}]},
    "tool without parameters": {"tools": [{"type": "function", "function": {"name": "f"}}]},
    "129 tools": {"tools": [tool_of(CHAT, f"t{n}", SCHEMA) for n in range(129)]},
    "choice": {"tool_choice": "sometimes"},
    "cache mode": {"prompt_cache_options": {"mode": "explicit"}},
    "cache ttl": {"prompt_cache_options": {"ttl": "2h"}},
    "format": {"response_format": {"type": "yaml"}},
    "format schema": {"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
    "model": {"model": "kimi-k9"},
    "model type": {"model": 5},
}
MESSAGES_BAD: dict[str, dict[str, Any]] = {
    "no messages": {"messages": []},
    "role system": {"messages": [{"role": "system", "content": "x"}, *OK]},
    "no content": {"messages": [{"role": "user"}]},
    "block type": {"messages": [{"role": "user", "content": [{"type": "sound"}]}]},
    "result without content": {
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}]
    },
    "limit zero": {"max_tokens": 0},
    "limit large": {"max_tokens": 1_048_577},
    "limit string": {"max_tokens": "16"},
    "effort": {"output_config": {"effort": "extreme"}},
    "system": {"system": 5},
    "stream": {"stream": 1},
    "tool without schema": {"tools": [{"name": "f"}]},
    "max_uses": {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 0}]},
    "choice": {"tool_choice": {"type": "sometimes"}},
    "choice string": {"tool_choice": "auto"},
    "33 bytes": {"stop_sequences": ["x" * 33]},
    "33 bytes of cjk": {"stop_sequences": ["止" * 11]},
    "six sequences": {"stop_sequences": list("abcdef")},
    "empty sequence": {"stop_sequences": [""]},
    "cache type": {"cache_control": {"ttl": "5m"}},
    "cache ttl": {"cache_control": {"type": "ephemeral", "ttl": "2h"}},
    "format": {"output_config": {"format": {"type": "json_schema"}}},
    "model": {"model": "kimi-k9"},
}
RESPONSES_BAD: dict[str, dict[str, Any]] = {
    "input": {"input": 5},
    "item": {"input": [5]},
    "item type": {"input": [{"type": "sound"}]},
    "item role": {"input": [{"role": "robot", "content": "x"}]},
    "limit zero": {"max_output_tokens": 0},
    "limit large": {"max_output_tokens": 1_048_577},
    "stream": {"stream": "yes"},
    "model": {"model": "kimi-k9"},
    "model null": {"model": None},
}
BAD = [
    pytest.param(protocol, change, id=f"{protocol}-{name}")
    for protocol, table in ((CHAT, CHAT_BAD), (MESSAGES, MESSAGES_BAD), (RESPONSES, RESPONSES_BAD))
    for name, change in table.items()
]


@pytest.mark.parametrize(("protocol", "change"), BAD)
@MODES
def test_a_body_that_breaks_the_schema_is_refused(
    server: Asker, protocol: Protocol, change: dict[str, Any], stream: bool
) -> None:
    body = body_of(protocol, GREETING, stream=stream) | change
    is_refused(server.exchange(protocol, body), 400, "invalid_request_error")


REQUIRED = [
    (CHAT, "messages"),
    (MESSAGES, "messages"),
    (MESSAGES, "max_tokens"),
    (RESPONSES, "input"),
    (RESPONSES, "model"),
]


@pytest.mark.parametrize(("protocol", "name"), REQUIRED)
def test_a_missing_field_is_refused_by_name(server: Asker, protocol: Protocol, name: str) -> None:
    body = body_of(protocol, GREETING)
    del body[name]
    answer = server.exchange(protocol, body)
    is_refused(answer, 400, "invalid_request_error")
    assert name in answer.value["error"]["message"]


K3_BAD = [
    (CHAT, {"temperature": 0.5}),
    (CHAT, {"temperature": True}),
    (CHAT, {"top_p": 1}),
    (CHAT, {"reasoning_effort": "low"}),
    (CHAT, {"reasoning_effort": "xhigh"}),
    (CHAT, {"prompt_cache_options": {"ttl": "5m"}}),
    (MESSAGES, {"temperature": 0}),
    (MESSAGES, {"top_p": 0.9}),
    (MESSAGES, {"stop_sequences": ["x"]}),
    (MESSAGES, {"cache_control": {"type": "ephemeral"}}),
    (MESSAGES, {"output_config": {"effort": "high"}}),
    (MESSAGES, {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
]


@pytest.mark.parametrize(("protocol", "change"), K3_BAD, ids=str)
def test_kimi_k3_refuses_what_the_others_take(server: Asker, protocol: Protocol, change: dict[str, Any]) -> None:
    is_refused(server.ask(protocol, GREETING, model=K3, **change), 400, "invalid_request_error")
    for model in ALL[:2]:
        assert server.ask(protocol, GREETING, model=model, **change).ok


ACCEPTED: list[tuple[Protocol, str, dict[str, Any]]] = [
    (CHAT, K3, {"temperature": 1.0, "top_p": 0.95, "reasoning_effort": "max"}),
    (CHAT, K3, {"temperature": None, "top_p": None}),
    (CHAT, PRO, {"temperature": "hot", "top_p": -3}),
    (CHAT, PRO, {"unknown": {"deep": [1]}, "stream_options": None, "parallel_tool_calls": False}),
    (CHAT, PRO, {"max_completion_tokens": 1_048_576}),
    (CHAT, PRO, {"max_completion_tokens": 300.0}),
    (CHAT, PRO, {"tools": [tool_of(CHAT, f"t{n}", {"type": "object"}) for n in range(128)]}),
    (CHAT, PRO, {"response_format": {"type": "text"}}),
    (CHAT, PRO, {"messages": [{"role": "system", "content": "Be brief."}, *OK]}),
    (CHAT, PRO, {"messages": [*OK, {"role": "assistant", "content": "Hm"}, *OK]}),
    (MESSAGES, K3, {"temperature": 1, "top_p": 0.95, "output_config": {"effort": "max"}, "stop_sequences": []}),
    (MESSAGES, PRO, {"stop_sequences": ["x" * 32, "止" * 10, "a", "b", "c"]}),
    (MESSAGES, PRO, {"max_tokens": 1_048_576}),
    (MESSAGES, PRO, {"metadata": {"user_id": "u"}, "service_tier": "auto"}),
    (MESSAGES, PRO, {"cache_control": {"type": "ephemeral", "ttl": "1h"}, "system": []}),
    (RESPONSES, K3, {"reasoning": {"effort": "low"}, "store": False, "include": []}),
    (RESPONSES, PRO, {"reasoning": {"effort": "unheard-of", "summary": "auto"}, "tools": [{"type": "web_search"}]}),
    (RESPONSES, PRO, {"input": []}),
]


@pytest.mark.parametrize(("protocol", "model", "change"), ACCEPTED, ids=str)
def test_edges_and_what_is_left_open_are_accepted(
    server: Asker, protocol: Protocol, model: str, change: dict[str, Any]
) -> None:
    answer = server.exchange(protocol, body_of(protocol, GREETING, model=model) | change)
    assert answer.ok, answer.raw


@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
def test_a_missing_model_is_the_documented_default(server: Asker, protocol: Protocol) -> None:
    body = body_of(protocol, GREETING)
    del body["model"]
    assert server.exchange(protocol, body).answer_model == PRO


@pytest.mark.parametrize("protocol", list(Protocol))
def test_every_documented_example_is_answered(server: Asker, protocol: Protocol) -> None:
    for name, example in specs.documented_examples(protocol).items():
        text = json.dumps(example).replace(
            "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAA...", "https://example.com/a.jpg"
        )
        assert server.exchange(protocol, json.loads(text)).ok, name


MALFORMED = {
    "empty": b"",
    "white space": b" \n",
    "truncated": b'{"model": "kimi',
    "array": b"[]",
    "null": b"null",
    "text": b"hello",
    "not a number": b'{"model": NaN}',
    "invalid utf-8": b'{"model": "\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "two values": b"{} {}",
    "unpaired surrogate": b'{"model": "\\ud800"}',
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "large integer": b'{"max_tokens": 1' + b"0" * 5_000 + b"}",
    "too large": b'{"a": "' + b"x" * (17 << 20) + b'"}',
}


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_json_object_is_refused(server: Asker, protocol: Protocol, content: bytes) -> None:
    is_refused(server.exchange(protocol, content), 400, "invalid_request_error")


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def listed(depth: int) -> list[Any]:
    return [listed(depth - 1)] if depth else []


HOSTILE: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "deep extra": ({"extra": listed(200)}, (200,)),
    "deep tool": ({"tools": [tool_of(CHAT, "f", nested(200))]}, (200,)),
    "deep tool called": ({"tools": [tool_of(CHAT, "f", nested(200))], "tool_choice": "required"}, (200, 400)),
    "deep content": ({"messages": [{"role": "user", "content": listed(200)}]}, (400,)),
    "1 MiB": ({"messages": [{"role": "user", "content": "x" * (1 << 20)}]}, (200,)),
    "nul": ({"messages": [{"role": "user", "content": "a\0b"}]}, (200,)),
    "wrong large value": ({"messages": "x" * (1 << 20)}, (400,)),
}


@pytest.mark.parametrize(("change", "statuses"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_values_are_survived(server: Asker, change: dict[str, Any], statuses: tuple[int, ...]) -> None:
    answer = server.exchange(CHAT, body_of(CHAT, GREETING) | change)
    assert answer.status in statuses
    if answer.status == 400:
        assert len(answer.raw) < 2_000


def test_a_prompt_beyond_the_context_window_is_refused(server: Asker) -> None:
    words = "abcdef " * 1_198_373  # 8 MiB
    for protocol in (CHAT, MESSAGES):
        answer = server.ask(protocol, words, limit=1)
        is_refused(answer, 400, "invalid_request_error")
        assert "1048576" in answer.value["error"]["message"]


KEYLESS = {
    "missing": None,
    "basic": "Basic c2stcmVmZXJlbmNl",
    "bare": "sk-reference",
    "wrong": "Bearer sk-other",
    "empty": "Bearer ",
}


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("value", KEYLESS.values(), ids=KEYLESS)
@MODES
def test_a_request_without_a_good_bearer_key_gets_401(
    server: Asker, protocol: Protocol, value: str | None, stream: bool
) -> None:
    del server.headers["authorization"]
    headers = {"x-api-key": "sk-reference"} | ({} if value is None else {"authorization": value})
    answer = server.exchange(protocol, body_of(protocol, GREETING, stream=stream), **headers)
    is_refused(answer, 401, "authentication_error")
    assert b"sk-" not in answer.raw


def test_authentication_comes_before_validation(server: Asker) -> None:
    answer = server.exchange(MESSAGES, b"{", authorization="Bearer sk-other")
    is_refused(answer, 401, "authentication_error")


@pytest.mark.parametrize(("key", "status"), [("anything", 200), ("invalid-key", 401), ("INVALID", 401)])
def test_without_a_list_any_key_but_an_invalid_one_is_accepted(key: str, status: int) -> None:
    assert Asker(app(Settings(keys=None)), key).ask(CHAT, GREETING).status == status


def test_the_bearer_scheme_is_read_in_any_case(server: Asker) -> None:
    assert server.exchange(CHAT, body_of(CHAT, GREETING), authorization="bearer  sk-reference").ok


def test_requests_above_the_rate_wait_for_the_window(clock: Any) -> None:
    application = app(Settings(rpm=2, clock=clock, keys=frozenset({"one", "two"})))
    one, two = Asker(application, "one"), Asker(application, "two")
    assert [one.ask(protocol, GREETING).status for protocol in (CHAT, MESSAGES)] == [200, 200]
    clock.now += 20.5
    for protocol in Protocol:
        answer = one.ask(protocol, GREETING)
        is_refused(answer, 429, "rate_limit_error")
        assert dict(answer.headers)["retry-after"] == "40"
    assert two.ask(CHAT, GREETING).ok
    clock.now += 40
    assert one.ask(CHAT, GREETING).ok


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_get_405(server: Asker, protocol: Protocol, method: str) -> None:
    answer = server.request(method, PATHS[protocol])
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "member"),
    [("/", "code"), ("/v1/models", "code"), ("/v1/messages/count_tokens", "type"), ("/v1/responses/resp_1", "code")],
)
def test_unknown_paths_get_404_in_the_nearest_envelope(server: Asker, path: str, member: str) -> None:
    answer = server.post(path, json={})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    assert member in answer.json()["error"]
    assert ("request_id" in answer.json()) == path.startswith("/v1/messages")


@pytest.mark.parametrize("value", ["application/json; charset=utf-8", "Application/JSON", "text/plain"])
def test_the_content_type_does_not_matter(server: Asker, value: str) -> None:
    assert server.exchange(CHAT, body_of(CHAT, GREETING), **{"content-type": value}).ok


def test_query_and_foreign_headers_do_not_matter(server: Asker) -> None:
    body = body_of(MESSAGES, GREETING)
    answer = server.post("/v1/messages?beta=true", json=body, headers={"anthropic-beta": "x"})
    assert answer.status_code == 200
