"""Placeholders hide what was said and keep everything that rules read."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.evidence import fixtures, read
from conformance.evidence.pairs import pairs
from conformance.evidence.placeholders import Placeholders
from conformance.evidence.words import Words
from conformance.evidence.written import exchange
from conformance.judge import judge
from conformance.redact import KEY_MARK
from conformance.values import Chunk, Exchange, Outcome, Protocol, Request, Response

SHARED = Path(__file__).parents[2].parent / "shared" / "field-cases"

MEANING = {
    "error.not-as-text": "whether a text reads as an error",
    "stream.utf8-intact": "text that was decoded wrongly",
    "media.image-accepted": "pictures, whose data is blanked",
    "media.image-types-accepted": "likewise",
}
"""Rules that read what words mean, so that their verdicts may change."""


def base(name: str) -> Exchange:
    return exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), name)


BASES = sorted(path.stem for path in (fixtures.root() / "bases").glob("*.yaml"))


def hidden(*exchanges: Exchange) -> list[Exchange]:
    placeholders = Placeholders()
    placeholders.learn(exchanges)
    return [placeholders.exchange(one) for one in exchanges]


def body(one: Exchange) -> bytes:
    return b"".join(chunk.data for chunk in one.response.chunks)


def seen(exchanges) -> tuple[Counter, dict]:
    judgement = judge(exchanges)
    findings = Counter((f.rule, f.level, f.exchange, f.pointer) for f in judgement.findings if f.rule not in MEANING)
    verdicts = {(v.rule, v.protocol, v.model): v.outcome for v in judgement.verdicts if v.rule not in MEANING}
    return findings, verdicts


def same(exchanges) -> None:
    before, after = seen(exchanges), seen(hidden(*exchanges))
    assert after[0] == before[0]
    assert {key: (value, after[1][key]) for key, value in before[1].items() if after[1][key] is not value} == {}


def test_verdicts_stay_on_every_base():
    same([base(name) for name in BASES])


@pytest.mark.parametrize("name", ["chat.stream", "messages.tool-stream", "responses.stream"])
def test_verdicts_stay_on_streams_whose_lines_end_in_cr(name):
    one = base(name)
    chunks = (Chunk(ms=1.0, data=body(one).replace(b"\n", b"\r")),)
    same([replace(one, response=replace(one.response, chunks=chunks))])


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "object", "properties": {"choice": {"enum": ["A", "B", "C", "D"]}}}, '{"choice":"A"}'),
        ({"type": "object", "properties": {"k": {"const": "x"}}}, '{"k":"x"}'),
        ({"type": "object", "properties": {"path": {"pattern": "\\/v1\\/\\w+$"}}}, '{"path":"/v1/chat"}'),
        ({"type": "number"}, "1e3"),
        ({"type": "number"}, "-2.5E-04"),
    ],
)
def test_verdicts_stay_on_answers_that_a_schema_fixes_to_the_letter(schema, text):
    form = fixtures.load(fixtures.root() / "bases" / "chat.json-schema.yaml")
    form["request"]["body"]["response_format"]["json_schema"]["schema"] = schema
    form["response"]["json"]["choices"][0]["message"]["content"] = text
    same([exchange(form, "1")])


SOME = [pair for number, pair in enumerate(pairs()) if number % 8 == 0]


def test_verdicts_stay_on_pairs():
    for pair in SOME:
        for side in (pair.good, pair.bad):
            try:
                same(side)
            except AssertionError as error:
                raise AssertionError(f"{pair.rule}: {pair.name}") from error


@pytest.mark.skipif(not SHARED.is_dir(), reason="the field cases are not part of the repository")
def test_verdicts_stay_on_field_cases():
    for path in sorted(SHARED.glob("*.har"))[::6]:
        exchanges = read(path).exchanges
        before, after = seen(exchanges), seen(hidden(*exchanges))
        assert after == before, path.name


@pytest.mark.parametrize("name", BASES)
def test_lengths_structure_and_borders_stay(name):
    one = base(name)
    (clean,) = hidden(one)
    assert len(clean.request.body) == len(one.request.body)
    assert [len(chunk.data) for chunk in clean.response.chunks] == [len(chunk.data) for chunk in one.response.chunks]
    assert re.sub(rb"[A-Za-z0-9]", b"", body(clean)) == re.sub(rb"[A-Za-z0-9]", b"", body(one))
    assert clean.request.headers == one.request.headers


@pytest.mark.parametrize("name", BASES)
def test_no_word_of_prompts_and_answers_survives(name):
    one = base(name)
    (clean,) = hidden(one)
    written = clean.request.body + body(clean)
    for word in (b"Berlin", b"November", b"evening", b"question", b"Shanghai", b"Wall fell"):
        assert word not in written


def test_a_text_in_pieces_is_replaced_as_the_whole_text():
    stream, plain = hidden(base("chat.stream"), base("chat.plain"))
    events = [json.loads(line[6:]) for line in body(stream).decode().splitlines() if line.startswith("data: {")]
    pieces = [e["choices"][0]["delta"].get("content") or "" for e in events if e.get("choices")]
    assert "".join(pieces) == json.loads(body(plain))["choices"][0]["message"]["content"]
    assert len([piece for piece in pieces if piece]) > 1


def answer(text: str, asked: dict | None = None, **more: object) -> tuple[Exchange, dict]:
    request = {"model": "kimi-k3", "messages": [{"role": "user", "content": "Hello"}], **(asked or {})}
    said = {"id": "chatcmpl-Hello", "choices": [{"message": {"content": text, **more}}], "usage": {"total_tokens": 7}}
    data = json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass")
    one = Exchange(
        id="1",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        request=Request(method="POST", url="http://h/v1/chat/completions", body=json.dumps(request).encode()),
        response=Response(status=200, chunks=(Chunk(ms=1, data=data[:40]), Chunk(ms=2, data=data[40:]))),
    )
    (clean,) = hidden(one)
    return clean, json.loads(body(clean))


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "kelvin"]}}}
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Tells the weather", "parameters": SCHEMA}}
]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"city": "Paris", "unit": "celsius", "n": 12, "ok": true}', ["city", "celsius", "12", "true"]),
        (
            "I call get_weather <think>now</think> [TOOL_CALLS] ◁think▷",
            ["get_weather", "<think>", "[TOOL_CALLS]", "◁think▷"],
        ),
        (f"Your key {KEY_MARK} is wrong", [KEY_MARK]),
        ("It STOPS here", ["STOP"]),
        ("a line\\n of LaTeX \\alpha", ["\\n"]),
    ],
)
def test_what_a_schema_a_stop_or_markup_fixes_stays(text, kept):
    _, said = answer(text, {"tools": TOOLS, "stop_sequences": ["stop"]})
    new = said["choices"][0]["message"]["content"]
    assert all(word in new for word in kept)
    assert new != text


def test_ids_names_usage_and_errors_stay():
    _, said = answer(
        "Hello", tool_calls=[{"id": "call_Hello", "function": {"name": "Hello", "arguments": '{"q": "Hello"}'}}]
    )
    assert (said["id"], said["usage"]) == ("chatcmpl-Hello", {"total_tokens": 7})
    (call,) = said["choices"][0]["message"]["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("call_Hello", "Hello")
    assert json.loads(call["function"]["arguments"]).keys() == {"q"}
    assert "Hello" not in call["function"]["arguments"]


def test_one_word_has_one_placeholder_and_another_use_has_others():
    clean, said = answer("Hello hello HELLO")
    first, second, third = said["choices"][0]["message"]["content"].split()
    assert json.loads(clean.request.body)["messages"][0]["content"] == first
    assert first.lower() == second == third.lower()
    assert {answer("Hello Wonderful World")[1]["choices"][0]["message"]["content"] for _ in range(4)} != {first}


def test_the_data_of_a_picture_is_blanked():
    url = "data:image/png;base64," + "iVBORw0KGgo" * 60
    content = [{"type": "image_url", "image_url": {"url": url}}]
    clean, _ = answer("x", {"messages": [{"role": "user", "content": content}]})
    new = json.loads(clean.request.body)["messages"][0]["content"][0]["image_url"]["url"]
    assert new.startswith(url[:250])
    assert set(new[256:]) == {"A"}
    assert len(new) == len(url)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.from_regex(r"[A-Za-z0-9 éß北京こЖ한]{0,60}")


@given(TEXTS)
def test_any_text_keeps_its_length_bytes_and_classes(text):
    words = Words()
    words.keep((), ("stop",))
    new = words.replaced(text)
    assert [len(char.encode()) for char in new] == [len(char.encode()) for char in text]
    assert [char.isspace() for char in new] == [char.isspace() for char in text]
    assert [char.isdecimal() for char in new] == [char.isdecimal() for char in text]
    assert [char.isascii() and char.isupper() for char in new] == [char.isascii() and char.isupper() for char in text]
    assert words.replaced(text) == new


@given(st.binary(max_size=200), st.sampled_from([b"", b"data: ", b'{"content":"', b'{"text":["\\ud800']))
def test_hostile_bodies_keep_their_length(data, start):
    one = base("chat.plain")
    raw = start + data
    dirty = Exchange(
        id="1",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        request=Request(method="POST", url=one.request.url, body=raw),
        response=Response(status=200, chunks=(Chunk(ms=0, data=raw),)),
    )
    (clean,) = hidden(dirty)
    assert (len(clean.request.body), len(body(clean))) == (len(raw), len(raw))


def test_the_rules_that_may_change_exist():
    from conformance.rules import RULES

    assert set(MEANING) <= set(RULES)
    assert Outcome.PASS in {v.outcome for v in judge([base("chat.plain")]).verdicts}
