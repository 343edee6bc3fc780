"""Whatever comes from the wire, no rule of these families raises."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from made_exchanges import answer, body, error, exchange, found

from conformance.values import Intent, Protocol

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
FIELDS = [
    *("model", "messages", "input", "stream", "tools", "tool_choice", "temperature", "top_p", "stop_sequences"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "response_format", "output_config", "reasoning"),
    *("reasoning_effort", "cache_control", "prompt_cache_options", "system"),
]
PARTS = [
    *("id", "type", "role", "content", "text", "name", "error", "message"),
    *("tool_use_id", "tool_call_id", "tool_calls", "input_schema"),
]


def json_with(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5)

    return st.recursive(LEAVES, wider)


VALUES = json_with(st.text(max_size=8)) | json_with(st.sampled_from(PARTS))
HEADERS = st.dictionaries(
    st.sampled_from(["Authorization", "Content-Type", "Content-Length", "Content-Encoding", "x-api-key", "Cookie"]),
    st.text(max_size=20) | st.sampled_from(["Bearer x", "Basic Og==", "application/json;", "9999999999999999999999"]),
    max_size=4,
)
BOUNDED = settings(max_examples=60)


@BOUNDED
@given(
    protocol=st.sampled_from(list(Protocol)),
    changes=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
    status=st.sampled_from([200, 400, 401, 404, 422, 429, 500, 502, None]),
    headers=HEADERS,
    intents=st.lists(st.sampled_from(list(Intent)), max_size=2, unique=True),
)
def test_hostile_requests(
    protocol: Protocol, changes: dict[str, Any], status: int | None, headers: dict[str, str], intents
):
    sent = {**body(protocol), **changes}
    got = answer(protocol) if status == 200 else error(protocol)
    failure = "reset" if status is None else None
    found(exchange(protocol, sent, status, got, headers=headers, intents=tuple(intents), failure=failure))


@BOUNDED
@given(
    protocol=st.sampled_from(list(Protocol)),
    got=VALUES
    | st.binary(max_size=60)
    | st.dictionaries(st.sampled_from(["error", "type", "request_id", *PARTS]), VALUES),
    status=st.sampled_from([200, 400, 401, 404, 429, 500]),
    headers=st.dictionaries(st.sampled_from(["Content-Type", "Retry-After", "X"]), st.text(max_size=20), max_size=2),
)
def test_hostile_answers(protocol: Protocol, got: object, status: int, headers: dict[str, str]):
    made = got if isinstance(got, bytes) else json.dumps(got)
    found(exchange(protocol, body(protocol), status, made, answered=headers))


@BOUNDED
@given(
    protocol=st.sampled_from(list(Protocol)),
    events=st.lists(st.tuples(st.sampled_from([None, "error", "x"]), VALUES | st.just("[DONE]")), max_size=5),
    broken=st.booleans(),
)
def test_hostile_streams(protocol: Protocol, events: list[tuple[str | None, object]], broken: bool):
    text = "".join((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in events)
    sent = body(protocol, stream=True, **({"tools": 5} if broken else {}))
    found(exchange(protocol, sent, 200, text or ":\n\n"))


@BOUNDED
@given(protocol=st.sampled_from(list(Protocol)), first=VALUES, second=VALUES, status=st.sampled_from([200, 400, 500]))
def test_hostile_pairs(protocol: Protocol, first: object, second: object, status: int):
    name = "input" if protocol is Protocol.RESPONSES else "messages"
    one, two = body(protocol, **{name: first}), body(protocol, **{name: second})
    found(exchange(protocol, one), exchange(protocol, two, status), exchange(protocol, one, status, host="http://[::1"))
