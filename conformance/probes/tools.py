"""Function tools: offered, forced, named, forbidden, called in parallel, and answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.probes.cell import Cell
from conformance.probes.script import Script, attempt
from conformance.protocols import Answer
from conformance.values import Protocol


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function tool, whatever the surface."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=dict)

    def on(self, cell: Cell, **options: Any) -> dict[str, Any]:
        """The tool as the cell's surface declares it."""
        tool: dict[str, Any] = cell.builder.tool(self.name, dict(self.schema), self.description, **options)
        return tool


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


GET_WEATHER = Function(
    name="get_weather",
    description="Get the weather for a specified city",
    schema=_object(city={"type": "string", "description": "City name"}),
)
ADD = Function(name="add", description="Add two integers", schema=_object(a={"type": "integer"}, b={"type": "integer"}))
BOOK_TABLE = Function(
    name="book_table",
    description="Book a table at a restaurant",
    schema=_object(
        restaurant={"type": "string", "minLength": 1},
        seating={"type": "string", "enum": ["inside", "terrace", "bar"]},
        guests={
            "type": "array",
            "minItems": 1,
            "maxItems": 8,
            "items": _object(name={"type": "string"}, vegetarian={"type": "boolean"}),
        },
        price={"type": "number", "minimum": 0},
    ),
)
LIST_CITIES = Function(
    name="list_cities",
    description="Show a list of cities",
    schema=_object(
        cities={
            "type": "array",
            "minItems": 400,
            "items": _object(name={"type": "string", "minLength": 3}, country={"type": "string", "minLength": 4}),
        }
    ),
)
ASK_WEATHER = "Check today's weather in Beijing."


def offered(cell: Cell) -> Script:
    """A tool offered for a question that needs it, and for one that does not."""
    tools = [GET_WEATHER.on(cell), ADD.on(cell)]
    for user in (ASK_WEATHER, "Reply with OK."):
        for body in cell.both(cell.body(user, tools=tools, choice=cell.builder.choice("auto"))):
            yield cell.ask(body)


def required(cell: Cell) -> Script:
    """A call that must be made, in both modes."""
    for body in cell.both(_forced(cell)):
        yield cell.ask(body)


def rich_arguments(cell: Cell) -> Script:
    """A forced call whose schema has nested objects, an array, an enum and a boolean; strict on chat too."""
    strict: list[dict[str, Any]] = [{}]
    if cell.protocol is Protocol.CHAT:
        strict.append({"strict": True})
    for options in strict:
        body = cell.body(
            "Book a table for Ada and Grace on the terrace of Luna. Call book_table.",
            tools=[BOOK_TABLE.on(cell, **options)],
            choice=cell.builder.choice("required"),
        )
        for mode in cell.both(body):
            yield cell.ask(mode)


def named(cell: Cell) -> Script:
    """One of two functions named (chat only: messages documents no named choice)."""
    if cell.protocol is not Protocol.CHAT:
        return
    for name in ("add", "get_weather"):
        body = cell.body(
            "What is 17 + 25, and what is the weather in Beijing?",
            tools=[GET_WEATHER.on(cell), ADD.on(cell)],
            choice=cell.builder.choice("named", name),
        )
        for mode in cell.both(body):
            yield cell.ask(mode)


def forbidden(cell: Cell) -> Script:
    """Tools, then web search, offered under tool_choice none to a prompt that asks for them."""
    offers: list[tuple[str, list[dict[str, Any]]]] = [
        ("Call get_weather for Beijing.", [GET_WEATHER.on(cell)]),
    ]
    if cell.protocol is not Protocol.RESPONSES:
        offers.append(("Use web search to find the official Kimi homepage URL.", [cell.builder.search()]))
    for user, tools in offers:
        for body in cell.both(cell.body(user, tools=tools, choice=cell.builder.choice("none"))):
            yield cell.ask(body)


def round_trip(cell: Cell) -> Script:
    """A forced call, its result, and a further question; once from JSON and once from a stream."""
    for body in cell.both(_forced(cell)):
        yield from attempt(_round_trip(cell, body))


def _round_trip(cell: Cell, body: dict[str, Any]) -> Script:
    answer = yield cell.ask(body)
    if not answer.client_calls:
        return
    follow_up = cell.proceed(_unforced(body), answer, _results(answer, "17 degrees and sunny"))
    said = yield cell.ask(follow_up, parent=answer)
    if said.ok:
        yield cell.ask(cell.proceed(follow_up, said, "Reply with exactly: thank you"), parent=said)


def parallel(cell: Cell) -> Script:
    """Two calls in one answer, both answered; once from JSON and once from a stream."""
    body = cell.body("Call get_weather for Paris and for Rome.", tools=[GET_WEATHER.on(cell)])
    for mode in cell.both(body):
        yield from attempt(_parallel(cell, mode))


def _parallel(cell: Cell, body: dict[str, Any]) -> Script:
    answer = yield cell.ask(body)
    if len(answer.client_calls) > 1:
        yield cell.ask(cell.proceed(body, answer, _results(answer, "17 degrees", "21 degrees")), parent=answer)


def two_rounds(cell: Cell) -> Script:
    """One conversation with a call in each of two turns; once from JSON and once from a stream."""
    body = cell.body("Call get_weather for Paris.", tools=[GET_WEATHER.on(cell)])
    for mode in cell.both(body):
        yield from attempt(_two_rounds(cell, mode))


def _two_rounds(cell: Cell, body: dict[str, Any]) -> Script:
    said = None
    for question in ("Call get_weather for Rome.", "Reply with exactly: both done"):
        answer = yield cell.ask(body, parent=said)
        if not answer.client_calls:
            return
        body = cell.proceed(body, answer, _results(answer, "12 degrees"))
        said = yield cell.ask(body, parent=answer)
        if not said.ok:
            return
        body = cell.proceed(body, said, question)
    yield cell.ask(body, parent=said)


def orphan_result(cell: Cell) -> Script:
    """A result whose id matches no call: without any call, and beside a real one."""
    if cell.protocol is Protocol.RESPONSES:
        return
    tools = [GET_WEATHER.on(cell)]
    for body in cell.both(cell.body(messages=[*_user(ASK_WEATHER), _result(cell, "call_of_nobody")], tools=tools)):
        yield cell.challenge(body)
    yield from attempt(_orphan_beside_call(cell))


def _orphan_beside_call(cell: Cell) -> Script:
    answer = yield cell.ask(_forced(cell))
    if answer.client_calls:
        body = cell.proceed(_unforced(_forced(cell)), answer, [_result(cell, "call_of_nobody")])
        yield cell.challenge(body, parent=answer)


def _forced(cell: Cell) -> dict[str, Any]:
    return cell.body(ASK_WEATHER, tools=[GET_WEATHER.on(cell)], choice=cell.builder.choice("required"))


def _unforced(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "tool_choice"}


def _user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def _result(cell: Cell, call_id: str) -> dict[str, Any]:
    if cell.protocol is Protocol.CHAT:
        return {"role": "tool", "tool_call_id": call_id, "content": "17 degrees"}
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "17 degrees"}
    return {"role": "user", "content": [block]}


def _results(answer: Answer, *texts: str) -> dict[str, str]:
    """A result for each call of an answer, the last text for all that are left."""
    return {str(call.id): texts[min(place, len(texts) - 1)] for place, call in enumerate(answer.client_calls)}
