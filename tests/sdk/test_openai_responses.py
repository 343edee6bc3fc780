"""The openai package on Responses."""

from __future__ import annotations

import asyncio
import json

import openai
import pytest
from pydantic import BaseModel

from conformance.models import ALL
from conformance.reference import DEFAULT_KEY, Running

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the weather for a specified city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}


class Result(BaseModel):
    result: str
    count: int


@pytest.mark.parametrize("model", ALL)
def test_create_answers(openai_client: openai.OpenAI, model: str) -> None:
    answer = openai_client.responses.create(model=model, input="Reply with OK.")
    assert (answer.output_text, answer.status, answer.model) == ("OK", "completed", model)
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


def test_string_and_user_message_cost_the_same(openai_client: openai.OpenAI) -> None:
    forms = [
        "Reply with OK.",
        [{"role": "user", "content": "Reply with OK."}],
        [{"role": "user", "content": [{"type": "input_text", "text": "Reply with OK."}]}],
    ]
    answers = [openai_client.responses.create(model="kimi-k3.1-pro", input=form) for form in forms]
    assert len({answer.usage.input_tokens for answer in answers}) == 1


def test_stream_ends_with_the_whole_response(openai_client: openai.OpenAI) -> None:
    events = list(openai_client.responses.create(model="kimi-k3", input="Count from 1 to 20.", stream=True))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == text == " ".join(map(str, range(1, 21)))


def test_stream_helper_gives_the_final_response(openai_client: openai.OpenAI) -> None:
    with openai_client.responses.stream(model="kimi-k3.1-pro", input="Reply with OK.") as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_response()
    assert final.output_text == "OK"
    assert {"response.reasoning_summary_text.delta", "response.output_text.done"} <= kinds


def test_parse_gives_an_instance_of_the_model(openai_client: openai.OpenAI) -> None:
    answer = openai_client.responses.parse(
        model="kimi-k3.1-pro",
        input="Return a JSON object with result equal to OK.",
        text_format=Result,
    )
    assert answer.output_parsed.result == "OK"


def test_stream_helper_parses_structured_output(openai_client: openai.OpenAI) -> None:
    with openai_client.responses.stream(model="kimi-k3", input="Fill the form.", text_format=Result) as stream:
        final = stream.get_final_response()
    assert isinstance(final.output_parsed, Result)


def test_tool_round_trip_with_the_output_sent_back(openai_client: openai.OpenAI) -> None:
    history: list = [{"role": "user", "content": "Call get_weather for Paris."}]
    first = openai_client.responses.create(model="kimi-k3.1-pro", input=history, tools=[WEATHER])
    call = next(item for item in first.output if item.type == "function_call")
    assert json.loads(call.arguments) == {"city": "Paris"}
    history += first.output
    history.append({"type": "function_call_output", "call_id": call.call_id, "output": "21 degrees"})
    second = openai_client.responses.create(model="kimi-k3.1-pro", input=history, tools=[WEATHER])
    assert "21 degrees" in second.output_text


def test_stream_helper_streams_a_forced_call(openai_client: openai.OpenAI) -> None:
    with openai_client.responses.stream(
        model="kimi-k3",
        input="Say hello.",
        tools=[WEATHER],
        tool_choice="required",
    ) as stream:
        pieces = [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]
        final = stream.get_final_response()
    call = final.output[-1]
    assert (call.type, call.name) == ("function_call", "get_weather")
    assert "".join(pieces) == call.arguments


def test_limit_makes_it_incomplete(openai_client: openai.OpenAI) -> None:
    answer = openai_client.responses.create(model="kimi-k3.1-pro", input="Count from 1 to 500.", max_output_tokens=200)
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert answer.usage.output_tokens == 200


def test_history_of_the_answer_is_accepted(openai_client: openai.OpenAI) -> None:
    history: list = [{"role": "user", "content": "Reply with OK."}]
    first = openai_client.responses.create(model="kimi-k3.1-pro", input=history)
    history += first.output
    history.append({"role": "user", "content": "Reply with exactly: 再见"})
    assert openai_client.responses.create(model="kimi-k3.1-pro", input=history).output_text == "再见"


def test_bad_request_is_mapped(openai_client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError):
        openai_client.responses.create(model="kimi-k3.1-pro", input="x", max_output_tokens=0)


def test_async_stream(server: Running) -> None:
    async def text() -> str:
        async with openai.AsyncOpenAI(api_key=DEFAULT_KEY, base_url=f"{server.base_urls[1]}/v1") as client:
            stream = await client.responses.create(model="kimi-k3", input="Reply with OK.", stream=True)
            return "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])

    assert asyncio.run(text()) == "OK"
