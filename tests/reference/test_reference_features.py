"""Structured output, stop sequences, media and the prompt cache."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from reference_asking import CHAT, K3, MESSAGES, PRO, RESPONSES, Asker, body_of, tool_of

from conformance.models import ALL
from conformance.protocols import BUILDERS, Answer
from conformance.reference import Settings, app
from conformance.values import Protocol

MODES = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
MEDIA = Path(__file__).parents[2] / "fixtures" / "media"
PEOPLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "minItems": 2,
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "field": {"enum": ["physics", "computing"]}},
                "required": ["name", "field"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["people"],
    "additionalProperties": False,
}


def format_of(protocol: Protocol, schema: dict[str, Any]) -> dict[str, Any]:
    if protocol is CHAT:
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}
    if protocol is MESSAGES:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    return {"text": {"format": {"type": "json_schema", "name": "x", "schema": schema}}}


@MODES
@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_text_follows_the_schema(server: Asker, protocol: Protocol, model: str, stream: bool) -> None:
    answer = server.ask(protocol, "Hello.", model=model, stream=stream, **format_of(protocol, PEOPLE))
    if (protocol, model) == (MESSAGES, K3):
        assert answer.status == 400
    else:
        jsonschema.validate(json.loads(answer.text), PEOPLE)


@pytest.mark.parametrize("protocol", list(Protocol))
def test_values_asked_for_are_taken_where_they_fit(server: Asker, protocol: Protocol) -> None:
    schema = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    answer = server.ask(protocol, "Return a JSON object with result equal to OK.", **format_of(protocol, schema))
    assert json.loads(answer.text) == {"result": "OK"}


def test_json_object_is_an_object_whatever_is_asked(server: Asker) -> None:
    for user in ("Hello.", "Return a JSON object with result equal to OK.", "Reply with OK."):
        answer = server.ask(CHAT, user, model=K3, response_format={"type": "json_object"})
        assert json.loads(answer.text) == {"result": "OK"}


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"enum": []}, {"type": "integer", "minimum": 2, "maximum": 1}]
)
def test_a_format_without_an_instance_is_refused(server: Asker, protocol: Protocol, schema: dict[str, Any]) -> None:
    assert server.ask(protocol, "Hello.", **format_of(protocol, schema)).status == 400


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_forced_call_goes_before_the_format(server: Asker, protocol: Protocol) -> None:
    build = BUILDERS[protocol]
    options = {"tools": [tool_of(protocol, "f", {"type": "object"})], **format_of(protocol, PEOPLE)}
    assert server.ask(protocol, "Hello.", choice=build.choice("required"), **options).client_calls
    jsonschema.validate(json.loads(server.ask(protocol, "Hello.", **options).text), PEOPLE)


TEXT = "alpha bravo HALT-HERE charlie 停止标记 delta"


@MODES
@pytest.mark.parametrize(
    ("sequences", "text"),
    [
        (["HALT-HERE"], "alpha bravo "),
        (["avo HAL"], "alpha br"),
        (["停止标记", "charlie"], "alpha bravo HALT-HERE "),
        (["停止标记"], "alpha bravo HALT-HERE charlie "),
        (["never", "标记 d"], "alpha bravo HALT-HERE charlie 停止"),
        (["alpha"], ""),
        (["halt-here", "HALT-HERES"], TEXT),
        (["The"], TEXT),
    ],
)
def test_a_stop_sequence_ends_the_text_at_its_first_match(
    server: Asker, stream: bool, sequences: list[str], text: str
) -> None:
    user = f"Repeat this exactly, with nothing before or after: {TEXT}"
    answer = server.ask(MESSAGES, user, stop_sequences=sequences, stream=stream)
    assert (answer.text, answer.finish, answer.body["stop_sequence"]) == (text, "end_turn", None)
    usage: Any = answer.usage_raw
    said = usage["output_tokens"] - usage["output_tokens_details"]["thinking_tokens"]
    assert said <= len(text.encode()) + 32


def test_the_limit_counts_before_a_later_stop_sequence(server: Asker) -> None:
    answer = server.ask(MESSAGES, "Count from 1 to 1000.", stop_sequences=["900"], limit=200)
    assert (answer.finish, answer.usage_raw["output_tokens"]) == ("max_tokens", 200)


def coded(name: str) -> str:
    return base64.b64encode((MEDIA / name).read_bytes()).decode()


def shown(server: Asker, protocol: Protocol, part: dict[str, Any], model: str = PRO) -> Answer:
    content = [part, {"type": "text", "text": "What is shown?"}]
    return server.ask(protocol, model=model, messages=[{"role": "user", "content": content}])


IMAGES = [
    ("square.png", "image/png"),
    ("square.jpg", "image/jpeg"),
    ("square.gif", "image/gif"),
    ("square.webp", "image/webp"),
]


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize(("name", "media_type"), IMAGES)
def test_images_are_accepted_and_cost_tokens(server: Asker, name: str, media_type: str, model: str) -> None:
    url = f"data:{media_type};base64,{coded(name)}"
    source = {"type": "base64", "media_type": media_type, "data": coded(name)}
    without = server.ask(CHAT, "What is shown?", model=model).usage_raw["prompt_tokens"]
    for form in (url, {"url": url}):
        answer = shown(server, CHAT, {"type": "image_url", "image_url": form}, model)
        assert answer.usage_raw["prompt_tokens"] >= without + 256
        assert media_type.rpartition("/")[2].upper() in answer.text
    assert (
        shown(server, MESSAGES, {"type": "image", "source": source}, model).usage_raw["input_tokens"] >= without + 256
    )


@pytest.mark.parametrize("as_object", [False, True])
def test_videos_are_accepted_on_chat(server: Asker, as_object: bool) -> None:
    url = f"data:video/mp4;base64,{coded('square.mp4')}"
    assert shown(server, CHAT, {"type": "video_url", "video_url": {"url": url} if as_object else url}).ok


def test_urls_are_accepted_without_being_fetched(server: Asker) -> None:
    url = "http://127.0.0.1:9/a.png"
    assert shown(server, CHAT, {"type": "image_url", "image_url": url}).ok
    assert shown(server, MESSAGES, {"type": "image", "source": {"type": "url", "url": url}}).ok
    content = [{"type": "input_image", "image_url": url}, {"type": "input_text", "text": "What is shown?"}]
    assert "an image" in server.ask(RESPONSES, messages=[{"role": "user", "content": content}]).text


BAD_IMAGES = {
    "another type": ("image/jpeg", coded("square.png")),
    "not base64": ("image/png", "***"),
    "cut off": ("image/png", coded("square.png")[:20]),
    "empty": ("image/png", ""),
    "unknown type": ("image/tiff", coded("square.png")),
    "text": ("image/gif", base64.b64encode(b"hello, I am no image").decode()),
}


@pytest.mark.parametrize(("media_type", "data"), BAD_IMAGES.values(), ids=BAD_IMAGES)
def test_what_is_no_image_of_its_type_is_refused(server: Asker, media_type: str, data: str) -> None:
    part = {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
    assert shown(server, CHAT, part).status == 400
    block = {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
    assert shown(server, MESSAGES, block).status == 400


@pytest.mark.parametrize(
    "url", ["", "data:,hello", "data:image/png,abc", "ftp://example.com/a.png", "file:///etc/passwd"]
)
def test_other_urls_are_refused_on_chat(server: Asker, url: str) -> None:
    assert shown(server, CHAT, {"type": "image_url", "image_url": url}).status == 400


WORDS = "The quick brown fox jumps over the lazy dog. " * 300


def counts(answer: Answer) -> tuple[int, int, int]:
    """Input tokens in all, those read from the cache, those written to it."""
    usage: Any = answer.usage_raw
    if answer.protocol is MESSAGES:
        read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        return usage["input_tokens"] + read + written, read, written
    details = usage["prompt_tokens_details" if answer.protocol is CHAT else "input_tokens_details"]
    total = usage["prompt_tokens" if answer.protocol is CHAT else "input_tokens"]
    return total, details["cached_tokens"], details.get("cache_write_tokens", 0)


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_long_prompt_is_written_then_read(server: Asker, protocol: Protocol, model: str) -> None:
    cold, warm, streamed = (
        counts(server.ask(protocol, WORDS, model=model, stream=stream)) for stream in (False, False, True)
    )
    assert cold[0] == warm[0]
    assert warm == streamed
    assert cold[1] == warm[2] == 0
    assert 1024 < warm[1] <= warm[0]
    splits = model != K3 and protocol is not RESPONSES
    assert cold[2] == (warm[1] if splits else 0)


def test_kimi_k3_reports_no_writes(server: Asker) -> None:
    chat = server.ask(CHAT, WORDS, model=K3).usage_raw
    assert "cache_write_tokens" not in chat["prompt_tokens_details"]
    messages = server.ask(MESSAGES, WORDS + "again", model=K3).usage_raw
    assert messages["cache_creation"] == {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}


@pytest.mark.parametrize(
    ("top", "category"),
    [
        ({}, "5m"),
        ({"cache_control": {"type": "ephemeral"}}, "5m"),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, "1h"),
    ],
)
@pytest.mark.parametrize("marker", [None, "5m", "1h"])
def test_only_the_top_level_decides_on_the_category(
    server: Asker, top: dict[str, Any], category: str, marker: str | None
) -> None:
    block = {"type": "text", "text": WORDS} | (
        {"cache_control": {"type": "ephemeral", "ttl": marker}} if marker else {}
    )
    usage = server.ask(MESSAGES, messages=[{"role": "user", "content": [block]}], **top).usage_raw
    other = {"5m": "1h", "1h": "5m"}[category]
    assert usage["cache_creation"][f"ephemeral_{category}_input_tokens"] == usage["cache_creation_input_tokens"] > 1024
    assert usage["cache_creation"][f"ephemeral_{other}_input_tokens"] == 0


@pytest.mark.parametrize(("ttl", "seconds"), [(None, 300), ("5m", 300), ("1h", 3600)])
def test_what_is_not_read_is_forgotten_after_its_time(clock: Any, ttl: str | None, seconds: int) -> None:
    asker = Asker(app(Settings(clock=clock)))
    options = {"prompt_cache_options": {"ttl": ttl}} if ttl else {}
    reads = []
    for wait in (0, seconds - 1, seconds - 1, seconds):
        clock.now += wait
        reads.append(counts(asker.ask(CHAT, WORDS, **options))[1] > 0)
    assert reads == [False, True, True, False]


def test_short_prompts_are_not_cached(server: Asker) -> None:
    for _ in range(2):
        total, read, written = counts(server.ask(CHAT, "word " * 900))
        assert total < 1024
        assert (read, written) == (0, 0)


def test_a_common_beginning_is_read_and_the_rest_written(server: Asker) -> None:
    first = counts(server.ask(CHAT, "Hello.", system=WORDS))
    second = counts(server.ask(CHAT, WORDS + "Something else.", system=WORDS))
    assert second[1] >= first[2] - 128
    assert second[2] > 1024
    assert second[1] + second[2] <= second[0]


def test_a_fresh_beginning_reads_nothing(server: Asker) -> None:
    server.ask(CHAT, WORDS)
    assert counts(server.ask(CHAT, "Fresh. " + WORDS))[1] == 0


def test_the_cache_grows_with_the_conversation(server: Asker) -> None:
    body = body_of(CHAT, WORDS)
    first = server.exchange(CHAT, body)
    second = server.exchange(CHAT, BUILDERS[CHAT].continue_with(body, first.body, "Reply with OK."))
    assert counts(second)[1] >= counts(first)[2]


def test_keys_and_models_share_no_cache() -> None:
    application = app(Settings(keys=None))
    one, two = Asker(application, "one"), Asker(application, "two")
    assert counts(one.ask(CHAT, WORDS))[1] == 0
    assert counts(two.ask(CHAT, WORDS))[1] == 0
    assert counts(one.ask(CHAT, WORDS, model=K3))[1] == 0
    assert counts(one.ask(CHAT, WORDS))[1] > 0


def test_limit_choice_and_effort_do_not_change_the_prompt(server: Asker) -> None:
    tools = [tool_of(CHAT, "f", {"type": "object"})]
    cold = counts(server.ask(CHAT, WORDS, tools=tools))
    warm = counts(server.ask(CHAT, WORDS, tools=tools, choice="required", effort="low", limit=50))
    assert cold[0] == warm[0]
    assert warm[1] == cold[2]
