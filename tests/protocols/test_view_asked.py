from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.protocols import MISSING, Asked, ask, chat, messages, responses, surface
from conformance.values import Protocol, Request

CHAT, MESSAGES, RESPONSES = Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES


def asked(protocol: Protocol, body: Any, **more: Any) -> Asked:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(**{"method": "POST", "url": "http://127.0.0.1:8000/v1/x", "body": raw, **more})
    return ask(protocol, request)


@pytest.mark.parametrize(
    ("method", "url", "protocol"),
    [
        ("POST", "https://h/v1/threads/t/messages", None),
        ("POST", "https://h/rooms/7/messages", None),
        ("POST", "https://h/gateway/v1beta/messages?beta=true", MESSAGES),
        ("POST", "https://h/messages", MESSAGES),
        ("POST", "https://direct.evolink.ai/v1/chat/completions", CHAT),
        ("POST", "https://gateway.example/kimi/proxy/v1/messages?beta=true", MESSAGES),
        ("POST", "http://127.0.0.1:1/v1/responses/#x", RESPONSES),
        ("POST", "http://127.0.0.1:1/chat/completions", CHAT),
        ("GET", "/v1/messages", MESSAGES),
        ("post", "http://h/v1/responses/", RESPONSES),
        ("POST", "http://h/v1/messages/count_tokens", None),
        ("GET", "http://h/v1/responses/resp_1", None),
        ("POST", "http://h/v1/completions", None),
        ("POST", "http://h/v1/embeddings?next=/v1/messages", None),
        ("OPTIONS", "http://h/v1/messages", None),
        ("HEAD", "http://h/v1/messages", None),
        ("GET", "wss://h/v1/responses", None),
        ("POST", "http://[::1/v1/messages", MESSAGES),
        ("POST", "", None),
    ],
)
def test_the_surface_is_told_by_the_end_of_the_path(method: str, url: str, protocol: Protocol | None) -> None:
    assert surface(method, url) is protocol


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "empty"),
        (b"{", "expecting property name enclosed in double quotes at byte 1"),
        (b'{"model": "kimi-k3"', "expecting ',' delimiter at byte 19"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b"[]", "not an object"),
        (b'"{}"', "not an object"),
        (b"null", "not an object"),
        (b'{"a": NaN}', "NaN is no JSON value, at byte 6"),
        (b"{}", None),
        (b'{"model": 1, "model": "kimi-k3"}', None),
    ],
)
def test_a_malformed_body_says_why(body: bytes, reason: str | None) -> None:
    view = asked(CHAT, body)
    assert view.malformed == reason
    if reason is not None:
        assert view.body == {}
        assert view.breaches == ()


def test_of_a_repeated_key_the_last_value_counts() -> None:
    assert asked(CHAT, b'{"model": 1, "model": "kimi-k3"}').model == "kimi-k3"


@pytest.mark.parametrize(
    ("value", "scheme"),
    [
        (None, "missing"),
        ("Bearer sk-1", "bearer"),
        ("bearer  sk-1", "bearer"),
        ("Bearer [redacted]", "bearer"),
        ("Bearer", "other"),
        ("Bearer ", "other"),
        ("Basic dTpw", "other"),
        ("sk-1", "other"),
        ("", "other"),
    ],
)
def test_the_scheme_of_authorization(value: str | None, scheme: str) -> None:
    headers = (("x-api-key", "sk-1"),) + ((("AUTHORIZATION", value),) if value is not None else ())
    assert asked(CHAT, {}, headers=headers).scheme == scheme


@pytest.mark.parametrize(
    ("url", "headers", "host"),
    [
        ("https://user:pw@API.example:8443/v1/messages?x=@y", (), "api.example:8443"),
        ("http://127.0.0.1/v1", (), "127.0.0.1"),
        ("/v1/messages", (("Host", "api.example:1"),), "api.example:1"),
        ("/v1/messages", (), ""),
        ("http://[::1]:80/v1", (), "[::1]:80"),
    ],
)
def test_the_host_has_its_port_and_no_credentials(url: str, headers: Any, host: str) -> None:
    assert asked(CHAT, {}, url=url, headers=headers).host == host


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    ("protocol", "body", "expected"),
    [
        (CHAT, {"max_completion_tokens": 5, "max_tokens": 9}, {"limit": 5}),
        (CHAT, {"max_completion_tokens": "5", "max_tokens": 9}, {"limit": 9}),
        (CHAT, {"max_tokens": 16.0}, {"limit": None}),
        (CHAT, {"max_tokens": True}, {"limit": None}),
        (CHAT, {"max_tokens": 0}, {"limit": None}),
        (MESSAGES, {"max_tokens": 9}, {"limit": 9}),
        (RESPONSES, {"max_output_tokens": 9, "max_tokens": 3}, {"limit": 9}),
        (CHAT, {"model": "moonshotai/kimi-k3"}, {"model": "kimi-k3", "names_model": True}),
        (CHAT, {"model": None}, {"model": None, "names_model": True}),
        (CHAT, {"model": "gpt-9"}, {"model": None, "names_model": True}),
        (CHAT, {}, {"model": None, "names_model": False, "limit": None, "effort": MISSING}),
        (CHAT, {"stream": True}, {"stream": True}),
        (CHAT, {"stream": "true"}, {"stream": False}),
        (CHAT, {"stream": 1}, {"stream": False}),
        (MESSAGES, {"stop_sequences": ["a", 1, "b"]}, {"stop_sequences": ("a", "b")}),
        (MESSAGES, {"stop_sequences": "a"}, {"stop_sequences": ()}),
        (CHAT, {"stop_sequences": ["a"]}, {"stop_sequences": ()}),
        (CHAT, {"reasoning_effort": "low"}, {"effort": "low"}),
        (CHAT, {"reasoning_effort": None}, {"effort": None}),
        (MESSAGES, {"output_config": {"effort": 3}}, {"effort": 3}),
        (MESSAGES, {"output_config": "low"}, {"effort": MISSING}),
        (RESPONSES, {"reasoning": {"effort": "max"}}, {"effort": "max"}),
        (CHAT, {"tool_choice": "auto"}, {"choice": "auto", "choice_name": None}),
        (CHAT, {"tool_choice": "any"}, {"choice": None}),
        (CHAT, {"tool_choice": chat.choice("named", "f")}, {"choice": "named", "choice_name": "f"}),
        (CHAT, {"tool_choice": {"type": "function", "function": "f"}}, {"choice": None}),
        (MESSAGES, {"tool_choice": messages.choice("required")}, {"choice": "required"}),
        (MESSAGES, {"tool_choice": messages.choice("named", "f")}, {"choice": "named", "choice_name": "f"}),
        (MESSAGES, {"tool_choice": "auto"}, {"choice": None}),
        (MESSAGES, {"tool_choice": {"type": ["auto"]}}, {"choice": None}),
        (RESPONSES, {"tool_choice": responses.choice("named", "f")}, {"choice": "named", "choice_name": "f"}),
        (RESPONSES, {"tool_choice": "none"}, {"choice": "none"}),
        (CHAT, {"response_format": {"type": "json_object"}}, {"format": "json_object", "format_schema": None}),
        (CHAT, {"response_format": {"type": "xml"}}, {"format": None}),
        (CHAT, {"response_format": "json"}, {"format": None}),
        (
            CHAT,
            {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA, "strict": False}}},
            {"format": "json_schema", "format_schema": SCHEMA, "format_strict": False},
        ),
        (
            MESSAGES,
            {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            {"format": "json_schema", "format_schema": SCHEMA, "format_strict": None},
        ),
        (
            RESPONSES,
            {"text": {"format": {"type": "json_schema", "schema": SCHEMA, "strict": True}}},
            {"format": "json_schema", "format_schema": SCHEMA, "format_strict": True},
        ),
        (RESPONSES, {"input": "Hi."}, {"last_user": "Hi.", "prompt": "Hi."}),
        (
            RESPONSES,
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi."}]}]},
            {"last_user": "Hi."},
        ),
        (CHAT, {"messages": [{"role": "user", "content": "a"}, {"role": "assistant"}]}, {"last_user": "a"}),
        (
            MESSAGES,
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, 1, {"text": "b"}]}]},
            {"last_user": "a\nb"},
        ),
        (CHAT, {"messages": "a", "tools": {"a": 1}}, {"last_user": "", "tools": ()}),
    ],
)
def test_what_a_body_asks_for(protocol: Protocol, body: Any, expected: dict[str, object]) -> None:
    view = asked(protocol, body)
    assert {name: getattr(view, name) for name in expected} == expected


def test_tools_are_read_on_every_surface() -> None:
    for protocol, builder in ((CHAT, chat), (MESSAGES, messages), (RESPONSES, responses)):
        tools = [builder.tool("f", SCHEMA, "Do it.", strict=True), builder.search(max_uses=2), 7, {}]
        view = asked(protocol, {"tools": tools})
        function, search, empty = view.tools
        assert (function.name, function.schema, function.description, function.strict) == ("f", SCHEMA, "Do it.", True)
        assert search.search
        assert search.max_uses == (2 if protocol is MESSAGES else None)
        assert (empty.name, empty.schema, empty.search) == (None, None, False)
        assert view.searches
        assert view.functions == (function, empty)


def test_chat_search_is_known_in_both_spellings() -> None:
    builtin = {"type": "builtin_function", "function": {"name": "$web_search"}}
    for tool in (builtin, {"type": "web_search"}):
        (found,) = asked(CHAT, {"tools": [tool]}).tools
        assert (found.name, found.search) == ("$web_search", True)


def test_the_prompt_holds_every_text_that_a_model_may_quote() -> None:
    body = {
        "system": [{"type": "text", "text": "SYSTEM"}],
        "messages": [
            {"role": "user", "content": "USER"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {"KEY": "ARGUMENT"}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "RESULT"}]}]},
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "MEDIA"}}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "THOUGHT", "signature": "SIGNED"}]},
        ],
        "tools": [messages.tool("TOOL", {"properties": {"FIELD": {"description": "SCHEMA"}}}, "DESCRIPTION")],
    }
    lines = asked(MESSAGES, body).prompt.split("\n")
    words = ["SYSTEM", "USER", "KEY", "ARGUMENT", "RESULT", "THOUGHT", "TOOL", "DESCRIPTION", "FIELD", "SCHEMA"]
    assert [line for line in lines if line in {*words, "MEDIA", "SIGNED"}] == words


def test_a_header_is_found_whatever_its_case() -> None:
    view = asked(CHAT, {}, headers=(("X-Request-Id", "1"), ("x-request-id", "2")))
    assert view.header("x-REQUEST-id") == "1"
    assert view.header("host") is None
