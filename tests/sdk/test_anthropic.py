"""The anthropic package on Messages."""

from __future__ import annotations

import asyncio

import anthropic
import pytest
from pydantic import BaseModel

from conformance.models import ALL
from conformance.reference import DEFAULT_KEY, Running

OK = [{"role": "user", "content": "Reply with OK."}]
WEATHER = {
    "name": "get_weather",
    "description": "Get the weather for a specified city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 1}
PNG = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAF0lEQVR4nGP4TyJgGNUwqmFUw6iGUQ3DBwAMfwH/8vYvOwAAAABJRU5ErkJggg=="


class Result(BaseModel):
    result: str
    count: int


@pytest.mark.parametrize("model", ALL)
def test_create_answers_with_thinking_and_usage(anthropic_client: anthropic.Anthropic, model: str) -> None:
    answer = anthropic_client.messages.create(model=model, max_tokens=1024, messages=OK)
    assert [block.type for block in answer.content] == ["thinking", "text"]
    assert answer.content[0].signature
    assert (answer.content[1].text, answer.stop_reason, answer.stop_sequence) == ("OK", "end_turn", None)
    assert answer.usage.output_tokens > answer.usage.output_tokens_details.thinking_tokens > 0


def test_create_stream_gives_events_in_order(anthropic_client: anthropic.Anthropic) -> None:
    events = list(anthropic_client.messages.create(model="kimi-k3", max_tokens=1024, messages=OK, stream=True))
    kinds = [event.type for event in events]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert events[0].message.usage.input_tokens == events[-2].usage.input_tokens


def test_stream_helper_gives_text_and_final_message(anthropic_client: anthropic.Anthropic) -> None:
    with anthropic_client.messages.stream(model="kimi-k3.1-pro", max_tokens=1024, messages=OK) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    whole = anthropic_client.messages.create(model="kimi-k3.1-pro", max_tokens=1024, messages=OK)
    assert text == "OK"
    assert [block.model_dump(exclude={"parsed_output"}) for block in final.content] == [
        block.model_dump() for block in whole.content
    ]
    assert final.usage.output_tokens == whole.usage.output_tokens


def test_tool_round_trip_streamed(anthropic_client: anthropic.Anthropic) -> None:
    messages: list = [{"role": "user", "content": "Call get_weather for Paris and for Rome."}]
    arguments = {"model": "kimi-k3.1-pro", "max_tokens": 1024, "tools": [WEATHER]}
    with anthropic_client.messages.stream(messages=messages, **arguments) as stream:
        first = stream.get_final_message()
    calls = [block for block in first.content if block.type == "tool_use"]
    assert [call.input for call in calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert first.stop_reason == "tool_use"
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": f"{call.input['city']}: sun"} for call in calls
    ]
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    second = anthropic_client.messages.create(messages=messages, **arguments)
    assert second.stop_reason == "end_turn"
    assert "Paris: sun" in second.content[-1].text


def test_tool_runner_runs_the_tool(anthropic_client: anthropic.Anthropic) -> None:
    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Get the weather for a specified city.

        Args:
            city: The city.
        """
        return f"Rain in {city}."

    runner = anthropic_client.beta.messages.tool_runner(
        model="kimi-k3.1-pro",
        max_tokens=1024,
        tools=[get_weather],
        thread=False,  # message threads are a service of Anthropic's own that the documents do not name
        messages=[{"role": "user", "content": "Call get_weather for Oslo."}],
    )
    assert "Rain in Oslo." in runner.until_done().content[-1].text


def test_any_forces_a_call_and_none_prevents_it(anthropic_client: anthropic.Anthropic) -> None:
    def kinds(choice: str) -> list[str]:
        answer = anthropic_client.messages.create(
            model="kimi-k3",
            max_tokens=1024,
            messages=[{"role": "user", "content": "Call get_weather for Paris."}],
            tools=[WEATHER],
            tool_choice={"type": choice},
        )
        return [block.type for block in answer.content]

    assert kinds("any") == ["thinking", "tool_use"]
    assert kinds("none") == ["thinking", "text"]


def test_web_search_runs_on_the_server_and_its_blocks_go_back(anthropic_client: anthropic.Anthropic) -> None:
    messages: list = [{"role": "user", "content": "Use web search to find the official Kimi homepage URL."}]
    arguments = {"model": "kimi-k3.1-pro", "max_tokens": 1024, "tools": [SEARCH]}
    with anthropic_client.messages.stream(messages=messages, **arguments) as stream:
        first = stream.get_final_message()
    _, use, found, text = first.content
    assert [block.type for block in first.content][1:3] == ["server_tool_use", "web_search_tool_result"]
    assert use.id == found.tool_use_id
    assert use.input["query"] == "the official Kimi homepage URL"
    assert found.content[0].url.startswith("https://")
    assert first.usage.server_tool_use.web_search_requests == 1
    assert "kimi.com" in text.text
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": "Reply with OK."}]
    assert anthropic_client.messages.create(messages=messages, **arguments).content[-1].text == "OK"


def test_parse_gives_an_instance_of_the_model(anthropic_client: anthropic.Anthropic) -> None:
    answer = anthropic_client.messages.parse(
        model="kimi-k3.1-pro",
        max_tokens=1024,
        messages=[{"role": "user", "content": "Return a JSON object with result equal to OK."}],
        output_format=Result,
    )
    assert answer.parsed_output.result == "OK"


def test_stream_helper_parses_structured_output(anthropic_client: anthropic.Anthropic) -> None:
    with anthropic_client.messages.stream(
        model="kimi-k3.1-pro",
        max_tokens=1024,
        messages=OK,
        output_format=Result,
        output_config={"effort": "low"},
    ) as stream:
        assert isinstance(stream.get_final_message().parsed_output, Result)


def test_stop_sequence_ends_the_turn(anthropic_client: anthropic.Anthropic) -> None:
    answer = anthropic_client.messages.create(
        model="kimi-k3.1-pro",
        max_tokens=1024,
        messages=[{"role": "user", "content": "Count from 1 to 50."}],
        stop_sequences=["6 7"],
    )
    assert answer.content[-1].text == "1 2 3 4 5 "
    assert (answer.stop_reason, answer.stop_sequence) == ("end_turn", None)


def test_image_is_seen(anthropic_client: anthropic.Anthropic) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "Describe this image."}]
    answer = anthropic_client.messages.create(
        model="kimi-k3",
        max_tokens=1024,
        messages=[{"role": "user", "content": content}],
    )
    assert "16 by 16" in answer.content[-1].text
    assert answer.usage.input_tokens > 200


def test_cache_is_written_and_read(anthropic_client: anthropic.Anthropic) -> None:
    system = "The quick brown fox jumps over the lazy dog. " * 300
    arguments = {
        "model": "kimi-k3.1-pro",
        "max_tokens": 1024,
        "system": system,
        "messages": OK,
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    cold, warm = (anthropic_client.messages.create(**arguments).usage for _ in range(2))
    assert cold.cache_creation.ephemeral_1h_input_tokens == cold.cache_creation_input_tokens > 1024
    assert warm.cache_read_input_tokens == cold.cache_creation_input_tokens
    assert warm.input_tokens == cold.input_tokens


def test_with_raw_response_shows_the_request_id(anthropic_client: anthropic.Anthropic) -> None:
    raw = anthropic_client.messages.with_raw_response.create(model="kimi-k3", max_tokens=64, messages=OK)
    assert raw.headers["request-id"] == raw.parse()._request_id
    assert raw.parse().stop_reason == "max_tokens"


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_tokens": 0},
        {"messages": [{"role": "system", "content": "x"}]},
        {"stop_sequences": ["x"]},
        {"cache_control": {"type": "ephemeral"}},
        {"output_config": {"effort": "low"}},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_bad_request_is_mapped(anthropic_client: anthropic.Anthropic, arguments: dict) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        anthropic_client.messages.create(**{"model": "kimi-k3", "max_tokens": 64, "messages": OK} | arguments)
    assert caught.value.body["error"]["type"] == "invalid_request_error"
    assert caught.value.request_id


def test_wrong_key_is_mapped(server: Running) -> None:
    with (
        anthropic.Anthropic(auth_token="sk-wrong", base_url=server.base_url, max_retries=0) as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        client.messages.create(model="kimi-k3", max_tokens=64, messages=OK)


def test_async_client_creates_and_streams(server: Running) -> None:
    async def both() -> tuple[str, str]:
        async with anthropic.AsyncAnthropic(auth_token=DEFAULT_KEY, base_url=server.base_url) as client:
            whole = await client.messages.create(model="kimi-k3.1-pro", max_tokens=1024, messages=OK)
            async with client.messages.stream(model="kimi-k3.1-pro", max_tokens=1024, messages=OK) as stream:
                return whole.content[-1].text, await stream.get_final_text()

    assert asyncio.run(both()) == ("OK", "OK")
