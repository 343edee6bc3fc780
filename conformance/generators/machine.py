"""A conversation as a hypothesis state machine: ask, call, answer the calls, search, continue, switch modes.

After every step everything that was sent so far is judged, by whoever opened the line that the machine talks through.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from conformance.generators.schemas_of_tools import schemas
from conformance.generators.texts import prompts, texts
from conformance.models import MODELS
from conformance.protocols import BUILDERS, Answer, NoAnswerError
from conformance.values import Protocol as Surface

TOOL = "get_weather"
SEARCH = "Use web search to find the official Kimi homepage URL."
_CITIES = ("Paris", "Rome and for Oslo", "Beijing")
_CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Line(Protocol):
    """What one conversation is held through."""

    def send(self, body: dict[str, Any], *, goes_on: bool, keep: bool) -> Answer | None:
        """The answer, once everything so far is judged; None where nothing more may be sent.

        ``goes_on`` says that the body continues the last answer that was kept. Raises ``FoundError`` on a broken rule.
        """


class _Talk(RuleBasedStateMachine):
    """The steps of a conversation; a subclass says on which surface, with which model and through which line."""

    surface: Surface
    model: str
    most_tokens: int | None
    open: Callable[[], Line]

    def __init__(self) -> None:
        super().__init__()
        self.line = type(self).open()
        self.builder = BUILDERS[self.surface]
        self.body: dict[str, Any] = {}
        self.answer: Answer | None = None
        self.ended = False

    @initialize(data=st.data(), tools=st.booleans(), search=st.booleans(), stream=st.booleans(), rich=st.booleans())
    def begin(self, data: Any, *, tools: bool, search: bool, stream: bool, rich: bool) -> None:
        """Choose what the conversation is held with; nothing is sent yet."""
        offered = []
        if tools:
            schema = data.draw(schemas())[0] if rich else _CITY
            offered.append(self.builder.tool(TOOL, schema, "Get the weather for a specified city"))
        if search and self.surface is not Surface.RESPONSES:
            offered.append(self.builder.search(None))
        limit = self.most_tokens if self.most_tokens is not None else 4096
        self.body = self.builder.body(
            self.model, messages=[], limit=limit, stream=stream or None, tools=offered or None
        )
        if self.surface is Surface.RESPONSES:
            self.body["input"] = []

    @property
    def waiting(self) -> bool:
        """Whether calls are waiting for their results."""
        return bool(self.answer is not None and self.answer.client_calls)

    def can_ask(self) -> bool:
        """Whether the user may say something now."""
        return not self.ended and not self.waiting

    def offers_function(self) -> bool:
        """Whether a call can be asked for now."""
        return self.can_ask() and any(TOOL in json.dumps(tool) for tool in self.body.get("tools", ()))

    def offers_search(self) -> bool:
        """Whether a search can be asked for now."""
        return self.can_ask() and any("web_search" in json.dumps(tool) for tool in self.body.get("tools", ()))

    @rule(words=prompts())
    @precondition(lambda self: self.can_ask())
    def ask(self, words: str) -> None:
        """The user says something."""
        self._say(words)

    @rule(city=st.sampled_from(_CITIES), required=st.booleans())
    @precondition(lambda self: self.offers_function())
    def call(self, city: str, *, required: bool) -> None:
        """The user asks for a call, which may be required."""
        self._say(f"Call {TOOL} for {city}.", choice="required" if required else None)

    @rule()
    @precondition(lambda self: self.offers_search())
    def search(self) -> None:
        """The user asks for a search."""
        self._say(SEARCH)

    @rule(data=st.data())
    @precondition(lambda self: not self.ended and self.waiting)
    def answer_calls(self, data: Any) -> None:
        """Every call gets its result, in any order; a search on chat gets its arguments back, as documented."""
        calls = self.answer.client_calls if self.answer is not None else ()
        results = {
            str(call.id): str(call.arguments) if call.search else data.draw(st.just("17 degrees") | texts())
            for call in data.draw(st.permutations(calls))
        }
        self._continue(results)

    @rule()
    @precondition(lambda self: self.answer is not None)
    def repeat(self) -> None:
        """The same request once more, which a cache may know."""
        self._send(self.body, goes_on=False, keep=False)

    @rule()
    @precondition(lambda self: not self.ended)
    def switch_mode(self) -> None:
        """From here on the other mode: a stream instead of JSON, or JSON instead of a stream."""
        self.body = {key: value for key, value in self.body.items() if key != "stream"} | (
            {} if self.body.get("stream") else {"stream": True}
        )

    @rule(data=st.data())
    @precondition(lambda self: not self.ended)
    def change_effort(self, data: Any) -> None:
        """From here on another effort that the model takes."""
        effort = data.draw(st.sampled_from(MODELS[self.model].efforts))
        if self.surface is Surface.CHAT:
            self.body = {**self.body, "reasoning_effort": effort}
        elif self.surface is Surface.MESSAGES:
            self.body = {**self.body, "output_config": {"effort": effort}}
        else:
            self.body = {**self.body, "reasoning": {"effort": effort}}

    def _say(self, words: str, *, choice: str | None = None) -> None:
        if self.answer is None:
            field = "input" if self.surface is Surface.RESPONSES else "messages"
            self.body = {**self.body, field: [{"role": "user", "content": words}]}
        else:
            self._append(words)
        sent = self.body if choice is None else {**self.body, "tool_choice": self.builder.choice(choice)}
        self._send(sent, goes_on=self.answer is not None)

    def _continue(self, results: dict[str, str]) -> None:
        self._append(results)
        self._send(self.body, goes_on=True)

    def _append(self, new: Any) -> None:
        answer = self.answer
        try:
            self.body = self.builder.continue_with(self.body, (answer.body if answer else None) or {}, new)
        except NoAnswerError:
            reject()

    def _send(self, body: dict[str, Any], *, goes_on: bool, keep: bool = True) -> None:
        answer = self.line.send(body, goes_on=goes_on, keep=keep)
        if answer is None:
            reject()
        if keep:
            self.answer = answer
            self.ended = not _can_go_on(answer)


def _can_go_on(answer: Answer) -> bool:
    """Whether the history may hold the answer: it is whole, and its calls can be told apart."""
    names = [call.id for call in answer.client_calls]
    distinct = all(isinstance(name, str) for name in names) and len(set(map(str, names))) == len(names)
    return answer.ok and answer.complete and answer.broken is None and not answer.truncated and distinct


def machine(
    surface: Surface, model: str, line: Callable[[], Line], *, most_tokens: int | None = None
) -> type[RuleBasedStateMachine]:
    """A machine for one surface and model; each of its runs holds a conversation through a line of its own."""
    names = {"surface": surface, "model": model, "open": staticmethod(line), "most_tokens": most_tokens}
    return type("Conversation", (_Talk,), names)
