"""The openai package on Chat Completions."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Literal

import openai
import pytest
from pydantic import BaseModel

from conformance.models import ALL
from conformance.reference import DEFAULT_KEY, Running, Settings, running

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0\x90\x91h6" + b"\0\0\0\0IEND\xaeB`\x82",
).decode()
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather for a specified city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
OK = [{"role": "user", "content": "Reply with OK."}]


class Review(BaseModel):
    title: str
    score: int
    mood: Literal["good", "bad"]
    tags: list[str]


@pytest.mark.parametrize("model", ALL)
def test_create_answers_with_reasoning_and_usage(openai_client: openai.OpenAI, model: str) -> None:
    answer = openai_client.chat.completions.create(model=model, messages=OK)
    message = answer.choices[0].message
    assert (answer.model, message.role, message.content, answer.choices[0].finish_reason) == (
        model,
        "assistant",
        "OK",
        "stop",
    )
    assert message.reasoning_content
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert 0 < answer.usage.completion_tokens_details.reasoning_tokens < answer.usage.completion_tokens


def test_stream_joins_to_what_create_says(openai_client: openai.OpenAI) -> None:
    asked = [{"role": "user", "content": "Count from 1 to 30."}]
    whole = openai_client.chat.completions.create(model="kimi-k3.1-pro", messages=asked)
    chunks = list(openai_client.chat.completions.create(model="kimi-k3.1-pro", messages=asked, stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == whole.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[-1].usage == whole.usage


def test_stream_reports_usage_in_a_chunk_of_its_own_when_asked(openai_client: openai.OpenAI) -> None:
    chunks = list(
        openai_client.chat.completions.create(
            model="kimi-k3",
            messages=OK,
            stream=True,
            stream_options={"include_usage": True},
        ),
    )
    assert [bool(chunk.usage) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1].choices == []


def test_stream_helper_accumulates_the_answer(openai_client: openai.OpenAI) -> None:
    with openai_client.chat.completions.stream(model="kimi-k3.1-pro", messages=OK) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert "".join(deltas) == final.choices[0].message.content == "OK"
    assert final.choices[0].message.reasoning_content


def test_parse_gives_an_instance_of_the_model(openai_client: openai.OpenAI) -> None:
    answer = openai_client.chat.completions.parse(
        model="kimi-k3",
        messages=[{"role": "user", "content": "Review the film, with title equal to Solaris."}],
        response_format=Review,
    )
    assert answer.choices[0].message.parsed.title == "Solaris"


def test_stream_helper_parses_structured_output(openai_client: openai.OpenAI) -> None:
    with openai_client.chat.completions.stream(model="kimi-k3.1-pro", messages=OK, response_format=Review) as stream:
        final = stream.get_final_completion()
    assert isinstance(final.choices[0].message.parsed, Review)


def test_json_object_gives_an_object(openai_client: openai.OpenAI) -> None:
    answer = openai_client.chat.completions.create(
        model="kimi-k3",
        messages=[{"role": "user", "content": "Return a JSON object with result equal to OK."}],
        response_format={"type": "json_object"},
    )
    assert json.loads(answer.choices[0].message.content) == {"result": "OK"}


def test_tool_round_trip_with_two_calls(openai_client: openai.OpenAI) -> None:
    messages: list = [{"role": "user", "content": "Call get_weather for Paris and for Rome."}]
    first = openai_client.chat.completions.create(model="kimi-k3.1-pro", messages=messages, tools=[WEATHER])
    calls = first.choices[0].message.tool_calls
    assert [json.loads(call.function.arguments) for call in calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert first.choices[0].finish_reason == "tool_calls"
    messages.append(first.choices[0].message)
    messages += [
        {"role": "tool", "tool_call_id": call.id, "content": f"{18 + n} degrees"} for n, call in enumerate(calls)
    ]
    second = openai_client.chat.completions.create(model="kimi-k3.1-pro", messages=messages, tools=[WEATHER])
    assert second.choices[0].finish_reason == "stop"
    assert "18 degrees" in second.choices[0].message.content
    assert "19 degrees" in second.choices[0].message.content


def test_stream_helper_parses_tool_arguments(openai_client: openai.OpenAI) -> None:
    class GetWeather(BaseModel):
        city: str
        days: int

    tool = openai.pydantic_function_tool(GetWeather)
    with openai_client.chat.completions.stream(
        model="kimi-k3.1-pro",
        messages=[{"role": "user", "content": "What is the weather in Oslo?"}],
        tools=[tool],
        tool_choice="required",
    ) as stream:
        names = [event.name for event in stream if event.type == "tool_calls.function.arguments.done"]
        final = stream.get_final_completion()
    parsed = final.choices[0].message.tool_calls[0].function.parsed_arguments
    assert names == ["GetWeather"]
    assert parsed.city == "Oslo"


def test_web_search_is_answered_after_the_echo(openai_client: openai.OpenAI) -> None:
    messages: list = [{"role": "user", "content": "Use web search to find the official Kimi homepage URL."}]
    tools = [{"type": "web_search"}]
    first = openai_client.chat.completions.create(model="kimi-k3.1-pro", messages=messages, tools=tools)
    call = first.choices[0].message.tool_calls[0]
    assert (call.type, call.function.name) == ("builtin_function", "$web_search")
    messages.append(first.choices[0].message.to_dict(warnings=False))  # the package knows no builtin_function
    messages.append({"role": "tool", "tool_call_id": call.id, "content": call.function.arguments})
    second = openai_client.chat.completions.create(model="kimi-k3.1-pro", messages=messages, tools=tools)
    assert "kimi.com" in second.choices[0].message.content


def test_image_is_seen(openai_client: openai.OpenAI) -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    content = [image, {"type": "text", "text": "Describe this image."}]
    answer = openai_client.chat.completions.create(model="kimi-k3", messages=[{"role": "user", "content": content}])
    assert "16 by 16" in answer.choices[0].message.content
    assert answer.usage.prompt_tokens > 200


def test_limit_cuts_the_answer_off(openai_client: openai.OpenAI) -> None:
    answer = openai_client.chat.completions.create(model="kimi-k3", messages=OK, max_completion_tokens=8)
    assert (answer.choices[0].finish_reason, answer.usage.completion_tokens) == ("length", 8)


def test_with_raw_response_shows_the_headers(openai_client: openai.OpenAI) -> None:
    raw = openai_client.chat.completions.with_raw_response.create(model="kimi-k3", messages=OK)
    assert raw.headers["content-type"] == "application/json"
    assert raw.headers["date"]
    assert raw.parse()._request_id == raw.headers["x-request-id"]


def test_async_client_creates_and_streams(server: Running) -> None:
    async def both() -> tuple[str, str]:
        async with openai.AsyncOpenAI(api_key=DEFAULT_KEY, base_url=f"{server.base_url}/v1", max_retries=0) as client:
            whole = await client.chat.completions.create(model="kimi-k3.1-pro-highspeed", messages=OK)
            stream = await client.chat.completions.create(model="kimi-k3", messages=OK, stream=True)
            parts = [chunk.choices[0].delta.content or "" async for chunk in stream]
            return whole.choices[0].message.content, "".join(parts)

    assert asyncio.run(both()) == ("OK", "OK")


@pytest.mark.parametrize(
    "arguments",
    [{"max_tokens": 0}, {"temperature": 0.2}, {"reasoning_effort": "low"}, {"model": "kimi-k9"}, {"messages": []}],
    ids=lambda arguments: next(iter(arguments)),
)
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_bad_request_is_mapped(openai_client: openai.OpenAI, arguments: dict, stream: bool) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        openai_client.chat.completions.create(**{"model": "kimi-k3", "messages": OK, "stream": stream} | arguments)
    assert caught.value.type == "invalid_request_error"


def test_wrong_key_is_mapped(server: Running) -> None:
    with (
        openai.OpenAI(api_key="sk-wrong", base_url=f"{server.base_url}/v1", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.chat.completions.create(model="kimi-k3", messages=OK)


def test_rate_limit_is_mapped_on_both_clients() -> None:
    import anthropic

    with (
        running(Settings(rpm=1), addresses=1) as server,
        openai.OpenAI(api_key=DEFAULT_KEY, base_url=f"{server.base_url}/v1", max_retries=0) as client,
        anthropic.Anthropic(auth_token=DEFAULT_KEY, base_url=server.base_url, max_retries=0) as other,
    ):
        client.chat.completions.create(model="kimi-k3", messages=OK)
        with pytest.raises(openai.RateLimitError) as caught:
            client.chat.completions.create(model="kimi-k3", messages=OK)
        assert 0 < int(caught.value.response.headers["retry-after"]) <= 60
        with pytest.raises(anthropic.RateLimitError):
            other.messages.create(model="kimi-k3", max_tokens=64, messages=OK)
