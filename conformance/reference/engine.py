"""The engine: one prompt into one answer, the same for the same seed and prompt.

It reasons first, more with more effort; then it searches, writes and calls, until it has ended or the limit is spent.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from typing import Any

from conformance.models import CONTEXT_WINDOW
from conformance.reference import directives, search
from conformance.reference.budget import Draft, bounded
from conformance.reference.cache import Measure
from conformance.reference.calls import Wanted, wanted
from conformance.reference.instances import Hints, Unsatisfiable, instance
from conformance.reference.prompts import SEARCH, Prompt, Tool
from conformance.reference.refusals import invalid
from conformance.reference.results import Call, Result, Search
from conformance.reference.wording import Turn, equalities, last_turn
from conformance.values import Protocol

_SENTENCES = {"low": 2, "high": 5, "max": 9}
_THOUGHTS = (
    "The request comes first, so I read it once more.",
    "Its wording leaves little room for doubt.",
    "Nothing in it needs a lengthy explanation.",
    "I should keep to the form that was asked for.",
    "The earlier turns, if there are any, still hold.",
    "A short reply serves better than a long one.",
    "I weigh what could be misunderstood and find nothing.",
    "The facts I need are at hand.",
    "I look at the details once again before I go on.",
    "Now I can write the reply.",
)
_REMARKS = (
    "Here is a short answer to your question.",
    "In short: that depends on what you need it for.",
    "That is a good point, and a brief reply is enough here.",
    "Yes, and there is little more to say about it.",
)
_MOST_QUOTED = 2_000  # characters of a tool's result


def answer(prompt: Prompt, measure: Measure, *, seed: int) -> Result:
    """Answer a prompt as far as its limit and the context window reach; its input tokens are not counted yet.

    Raises Refused where a schema that the request carries has no instance.
    """
    limit = min(prompt.limit, max(1, CONTEXT_WINDOW - measure.total))
    return bounded(_draft(prompt, seed, limit), limit, prompt.stop)


def _draft(prompt: Prompt, seed: int, limit: int) -> Draft:
    turn = last_turn(prompt)
    reasoning = _reasoning(prompt, turn, seed)
    calls = tuple(_calls(prompt, turn))
    searches = _searches(prompt, turn, called=bool(calls))
    text = "" if calls and not searches else _text(prompt, turn, searches, seed, limit)
    return Draft(reasoning=reasoning, searches=searches, text=text, calls=calls)


def _number(seed: int, *parts: str) -> int:
    digest = hashlib.blake2b("\0".join((str(seed), *parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _reasoning(prompt: Prompt, turn: Turn, seed: int) -> str:
    start = _number(seed, turn.text)
    number = _SENTENCES[prompt.effort]
    return " ".join(_THOUGHTS[(start + index) % len(_THOUGHTS)] for index in range(number))


def _calls(prompt: Prompt, turn: Turn) -> Iterator[Call]:
    for each in wanted(prompt, turn):
        yield _search_call(turn) if each.tool is None else _function_call(each, each.tool, turn)


def _search_call(turn: Turn) -> Call:
    arguments = _json({"query": search.queries(turn, 1)[0]})
    return Call(id=_identifier(), name=SEARCH, arguments=arguments, builtin=True)


def _function_call(want: Wanted, tool: Tool, turn: Turn) -> Call:
    schema = {**tool.parameters, "allOf": [*tool.parameters.get("allOf", []), {"type": "object"}]}
    try:
        arguments = instance(schema, Hints(values=equalities(turn.text), subject=want.subject))
    except Unsatisfiable as error:
        raise invalid(f"No arguments satisfy the schema of the tool {tool.name[:100]!r}: {error}.") from error
    return Call(id=_identifier(), name=tool.name, arguments=_json(arguments))


def _searches(prompt: Prompt, turn: Turn, *, called: bool) -> tuple[Search, ...]:
    """The searches that messages runs itself."""
    if prompt.protocol is not Protocol.MESSAGES or not prompt.search or prompt.choice.mode == "none":
        return ()
    forced = prompt.choice.mode == "required" and not called
    if not forced and not (turn.fresh and search.asked(turn)):
        return ()
    return tuple(
        Search(id=_identifier(), query=query, results=search.results(query))
        for query in search.queries(turn, prompt.search)
    )


def _text(prompt: Prompt, turn: Turn, searches: tuple[Search, ...], seed: int, limit: int) -> str:
    if prompt.format is not None:
        return _formatted(prompt.format.schema, turn)
    asked = directives.text_for(turn.text, limit) if turn.fresh or not turn.results else None
    if asked is not None:
        return asked
    if searches:
        return search.summary(searches[0].query)
    if turn.results:
        return " ".join(_quoted(name, result.text) for name, result in turn.results)
    if turn.media:
        return "The message shows " + " and ".join(media.description for media in turn.media) + "."
    return _REMARKS[_number(seed, turn.text) % len(_REMARKS)]


def _quoted(name: str, text: str) -> str:
    if name == SEARCH:
        return search.summary(_query(text))
    shown = text.strip()[:_MOST_QUOTED] or "nothing"
    return f"The result of {name} is: {shown}"


def _query(echoed: str) -> str:
    try:
        arguments = json.loads(echoed)
    except (ValueError, RecursionError):
        return "your question"
    query = arguments.get("query") if isinstance(arguments, dict) else None
    return query if isinstance(query, str) else "your question"


def _formatted(schema: Any, turn: Turn) -> str:
    values = equalities(turn.text)
    if schema == {"type": "object"}:
        return _json(values or {"result": "OK"})
    try:
        return _json(instance(schema, Hints(values=values)))
    except Unsatisfiable as error:
        raise invalid(f"No answer satisfies the schema of the output format: {error}.") from error


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _identifier() -> str:
    return secrets.token_hex(12)
