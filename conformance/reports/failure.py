"""A failure of generated requests as people read it: the rule and its source, the requests to paste, the difference."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import msgspec

from conformance import specs
from conformance.generators.failure import Failure, Sent
from conformance.protocols import BUILDERS
from conformance.reports.curl import curl
from conformance.reports.safe import safe
from conformance.reports.words import counted
from conformance.values import Exchange, Protocol, Request

MOST_EDITS = 12  # that are shown
LONGEST_SNIPPET = 20_000  # bytes of a body; a longer one is read from the failure file
_WIDTH = 100
_HEADERS = '"Authorization": "Bearer " + os.environ["KIMI_API_KEY"], "Content-Type": "application/json"'


def lines(failure: Failure, *, base_url: str, file: str | None = None) -> Iterator[str]:
    """The failure as lines of text, everything from the wire made safe to print."""
    yield f"{failure.level.value}  {failure.rule}: {safe(failure.message)}"
    yield f"  on {failure.protocol.value} {failure.model}, {_origin(failure)}"
    yield from _indented("rule", failure.statement)
    found = specs.citation(failure.source)
    yield f"  source    {found.file}, line {found.line}"
    yield from (f"            > {line}" for line in found.text.splitlines())
    if failure.broken is not None:
        yield f"  breaks    {failure.broken}"
    if failure.also:
        yield from _indented("also", f"the same requests break {', '.join(failure.also)}")
    yield f"  expected  {_value(failure.expected)}"
    yield f"  actual    {_value(failure.actual)}" + (f" at {safe(failure.pointer)}" if failure.pointer else "")
    yield from _difference(failure)
    number = len(failure.requests)
    for place, request in enumerate(failure.requests, 1):
        which = f" (request {place} of {number})" if number > 1 else ""
        yield f"  as a curl line{which}:"
        yield f"    {curl(_exchange(failure.protocol, failure.model, request, base_url, file))}"
    for place, request in enumerate(failure.requests, 1):
        which = f" (request {place} of {number})" if number > 1 else ""
        yield f"  with httpx{which}:"
        yield from (f"    {line}" for line in httpx_snippet(failure.protocol, request, base_url, file).splitlines())
    if file is not None:
        yield f"  again:    kimi-conformance fuzz --replay-failure {safe(file)}"


def httpx_snippet(protocol: Protocol, request: Sent, base_url: str, file: str | None = None) -> str:
    """Python that sends a request byte for byte; the key comes from the environment."""
    url = base_url + BUILDERS[protocol].path
    body = request.body
    if len(body) > LONGEST_SNIPPET:
        content = f"BODY,  # {len(body)} bytes: read it from {file or 'the failure file'!a}"
    else:
        content = f"{request.text!a}.encode()," if request.text is not None else f"{body!r},"
    return "\n".join(
        (
            "import os, httpx",
            "",
            "answer = httpx.post(",
            f"    {url!a},",
            f"    headers={{{_HEADERS}}},",
            f"    content={content}",
            ")",
            "print(answer.status_code, answer.text)",
        )
    )


def _origin(failure: Failure) -> str:
    one, many = f"{failure.kind} request", f"{failure.kind} requests"
    if failure.kind == "conversation":
        one, many = "step of conversations", "steps of conversations"
    size, tries = counted(len(failure.requests), "request"), counted(failure.tries, "try", "tries")
    return f"after {counted(failure.examples, one, many)}, shrunk to {size} in {tries}, seed {failure.seed}"


def _difference(failure: Failure) -> Iterator[str]:
    near = failure.nearest
    if near is None:
        yield "  nearest accepted request: none was seen"
        return
    count = len(near.edits)
    yield f"  nearest accepted request: {count} edit{'s' * (count != 1)} away"
    for edit in near.edits[:MOST_EDITS]:
        here, there = (_side(value) for value in (edit.here, edit.there))
        yield f"    {safe(edit.pointer) or 'the body'}: {here} here, {there} there"
    if count > MOST_EDITS:
        yield f"    and {count - MOST_EDITS} more"


def _side(value: object) -> str:
    return "absent" if value is msgspec.UNSET else _value(value)


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    return f'"{safe(value, 120)}"' if isinstance(value, str) else safe(value, 120)


def _indented(name: str, text: str) -> Iterator[str]:
    first, *rest = textwrap.wrap(safe(text, 2000), _WIDTH, break_on_hyphens=False) or [""]
    yield f"  {name:<8}  {first}"
    yield from (f"            {line}" for line in rest)


def _exchange(protocol: Protocol, model: str, request: Sent, base_url: str, file: str | None) -> Exchange:
    headers = (("Authorization", "Bearer REDACTED"), ("Content-Type", "application/json"))
    url = base_url + BUILDERS[protocol].path
    sent = Request(method="POST", url=url, headers=headers, body=request.body)
    return Exchange(id=f"in {safe(file or 'the failure file')}", protocol=protocol, model=model, request=sent)
