"""Errors that show the inside of the service: stack traces, source paths, hosts behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.protocols.view import Answer, Kind
from conformance.rules.places import ERROR_MESSAGE
from conformance.rules.registry import Findings, rule
from conformance.values import Basis, Finding, Level

_READ = 20_000  # characters of an error that are searched
_FILE = r"[\w@./\\-]{1,200}"
_OCTETS = r"(?:\.\d{1,3})"
_PRIVATE = (
    rf"(?:10{_OCTETS}{{3}}|127{_OCTETS}{{3}}|192\.168{_OCTETS}{{2}}|172\.(?:1[6-9]|2\d|3[01]){_OCTETS}{{2}})"
    r":\d{1,5}"
)
_FRAME = r"\bat (?:async )?(?:[\w$.<>\[\] ]{1,120} \()?(?:file://|node:|[A-Za-z]:\\)?"
_ZONES = "internal|local|lan|intra|corp|svc"
_INNER_NAME = (  # one label alone could be a word of the message: errors.internal
    rf"(?=[\w.-]{{0,60}}[\d-]|(?:[\w-]{{1,63}}\.){{2}}|[\w-]{{1,63}}\.(?:{_ZONES}):\d)"
    rf"[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{0,8}}\.(?:{_ZONES})(?::\d{{1,5}})?"
)
_ROOTS = "usr|home|root|opt|app|srv|var|workspace|build|code"
_SOURCES = "py|[cm]?[jt]s|go|rb|java|rs|php|cs|lua"
_TRACES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile("|".join(patterns)))
    for what, *patterns in (
        ("a Python traceback", r"Traceback \(most recent call last\)", r'File "[^"\n]{1,200}", line \d+'),
        ("a JavaScript stack frame", rf"{_FRAME}{_FILE}\.[cm]?[jt]sx?:\d+(?::\d+)?"),
        ("a Java stack frame", r"\bat [\w$.]{1,200}\([\w$]{1,100}\.(?:java|kt|scala):\d+\)", r"Exception in thread \""),
        ("a Go stack trace", r"\bgoroutine \d+ \[", rf"\b{_FILE}\.go:\d+"),
        ("a Rust panic", r"\bpanicked at\b", rf"\b{_FILE}\.rs:\d+:\d+"),
        ("a .NET stack frame", r"\bin [^\n]{1,200}\.(?:cs|vb|fs):line \d+"),
        ("a Ruby or PHP stack frame", rf"\b{_FILE}\.rb:\d+:in [`'‘]", rf"\b{_FILE}\.php(?::\d+|\(\d+\)| on line \d+)"),
        (
            "a source path",
            rf"(?<![\w/])/(?:{_ROOTS})/{_FILE}\.(?:{_SOURCES})\b",
            r"\bsite-packages/",
            r"\bnode_modules/",
        ),
        (
            "a host behind the service",
            r"\bECONN(?:REFUSED|RESET|ABORTED) \S",
            r"\b(?:ENOTFOUND|EAI_AGAIN) \S",
            r"\bdial (?:tcp|udp)\b",
            r"ConnectionPool\(host=",
            rf"\b{_INNER_NAME}\b",
            rf"\b{_PRIVATE}\b",
            r"\blocalhost:\d{1,5}\b",
        ),
    )
)
_URL = re.compile(r"https?://([\w.-]{1,253})(:\d{1,5})?(/[\w./-]{0,200})?")
_API = re.compile(r"/(?:v\d+|chat/completions|completions|messages|responses|generate|infer)\b")
_OWN = "evolink.ai"
_DOCUMENTATION = re.compile(  # what an error may point its reader to: a label of the host, or where its path begins
    r"(?:^|\.)(?:docs?|help|support|learn|developers?|platform|status|errors|wiki|github|gitlab)\.|/(?:docs?|help|wiki)/"
)


def failed(answer: Answer) -> bool:
    """An error answer, or a stream that carries an error."""
    return answer.error is not None or (
        answer.status is not None and answer.status >= 400 and answer.kind is not Kind.EMPTY
    )


@rule("http.no-internals-leaked", Level.SHOULD, Basis.PROTOCOL, source=ERROR_MESSAGE, when=failed)
def error_shows_no_internals(answer: Answer) -> Findings:
    """An error shows no stack trace, no source path and no host behind the service."""
    asked = answer.asked.raw.decode("utf-8", "replace")
    for what, shape in _leaks(_words(answer), answer.asked.host):
        if shape not in asked and shape not in answer.asked.prompt:
            yield Finding(message=f"the error shows {what}", expected="no internals", actual=shape[:200])
            return


def _words(answer: Answer) -> str:
    """What the error says, as a reader sees it: strings decoded."""
    found: list[str] = []
    stack: list[object] = [answer.error.raw if answer.error else None]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    if not found:
        found = [answer.raw[:_READ].decode("utf-8", "replace")]
    return "\n".join(found)[:_READ]


def _leaks(words: str, host: str) -> Iterator[tuple[str, str]]:
    """What an error shows of the inside, and the words that show it; the host that was asked is no secret."""
    asked = (host, host.partition(":")[0])
    for what, pattern in _TRACES:
        found = (match.group() for match in pattern.finditer(words))
        shown = next((shape for shape in found if shape.lower() not in asked), None)
        if shown is not None:
            yield what, shown
    for match in _URL.finditer(words):
        name, port, path = match.groups()
        own = name in asked or name == _OWN or name.endswith(f".{_OWN}")
        pointed = not port and _DOCUMENTATION.search(f"{name}{path or ''}")
        if not own and not pointed and (port or _API.search(path or "")):
            yield "the address of a host behind the service", match.group()
