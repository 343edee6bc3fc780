"""An example of a rule, from its minimal pairs: what passes, and how the one that fails differs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from conformance.evidence.pairs import Pair, pairs
from conformance.judge import judge
from conformance.reports.safe import safe
from conformance.rules import Rule
from conformance.values import Exchange, Finding

WIDEST = 160  # characters of a line
BEFORE = 40  # of them, those shown before the point at which two long lines differ
MOST = 60  # lines of the passing example, and of the difference


def example(rule: Rule) -> Iterator[tuple[str, list[str]]]:
    """Headings and lines: the passing exchanges of the rule's first pair, then the difference of the failing ones."""
    pair = next(pairs(rule.id), None)
    if pair is None:
        return
    passing = [safe(line, WIDEST) for exchange in pair.good for line in rendered(exchange)]
    yield "An example that passes", _bounded(passing)
    good, bad = ([line for e in side for line in rendered(e, laid_out=True)] for side in (pair.good, pair.bad))
    finding = _finding(pair, rule)
    told = [] if finding is None else ["", *_told(finding)]
    yield f"An example that fails ({pair.name})", [*_bounded(difference(good, bad)), *told]


def rendered(exchange: Exchange, *, laid_out: bool = False) -> list[str]:
    """An exchange as lines, unbounded and as they came; ``laid_out`` also spreads the JSON of events over lines."""
    request, response = exchange.request, exchange.response
    lines = [f"{request.method} {request.url}"]
    if exchange.intents:
        lines.append(f"(the probe declares: {', '.join(exchange.intents)})")
    lines += [f"{name}: {value}" for name, value in request.headers]
    lines += ["", *_body(request.body, laid_out=laid_out), ""]
    if response is not None:
        lines.append(f"HTTP {response.status}")
        if exchange.live:
            lines.append(f"(received after {', '.join(f'{chunk.ms:g}' for chunk in response.chunks)} ms)")
        lines += [f"{name}: {value}" for name, value in response.headers]
        lines += ["", *_body(b"".join(chunk.data for chunk in response.chunks), laid_out=laid_out), ""]
    if exchange.failure is not None:
        lines += [f"(the connection failed: {exchange.failure.kind} {exchange.failure.message})", ""]
    return lines


def difference(good: Sequence[str], bad: Sequence[str]) -> list[str]:
    """A unified difference, safe to print; of two long lines it shows the part from which they differ."""
    lines = list(difflib.unified_diff(good, bad, "passes", "fails", lineterm="", n=2))
    shown: list[str] = []
    removed: list[str] = []
    for mark, run in groupby(lines, key=lambda line: line[:1]):
        if mark == "-":
            removed = list(run)
            continue
        added = list(run)
        for old, new in zip_longest(removed, added if mark == "+" else ()):
            start = _alike(old[1:], new[1:]) if old and new else 0
            shown += [_window(line, start) for line in (old, new) if line is not None]
        shown += [] if mark == "+" else [safe(line, WIDEST) for line in added]
        removed = []
    return [*shown, *(safe(line, WIDEST) for line in removed)]


def _alike(one: str, two: str) -> int:
    """How many characters two lines begin with alike."""
    return next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def _window(line: str, start: int) -> str:
    if len(line) <= WIDEST or start <= BEFORE:
        return safe(line, WIDEST)
    return f"{line[0]} … {safe(line[start + 1 - BEFORE :], WIDEST)}"


def _body(data: bytes, *, laid_out: bool) -> list[str]:
    text = data.decode("utf-8", "backslashreplace")
    whole = _spread(text)
    if whole is not None:
        return whole
    lines = text.splitlines()
    if not laid_out:
        return lines
    return [part for line in lines for part in _event_line(line)]


def _event_line(line: str) -> list[str]:
    spread = _spread(line.removeprefix("data: ")) if line.startswith("data: ") else None
    return [line] if spread is None else ["data:", *spread]


def _spread(text: str) -> list[str] | None:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    except (ValueError, RecursionError):
        return None


def _finding(pair: Pair, rule: Rule) -> Finding | None:
    return next(iter(judge(pair.bad, rules=[rule]).findings), None)


def _told(finding: Finding) -> list[str]:
    level = finding.level.value if finding.level else ""
    lines = [f"{level}: {safe(finding.message)}"]
    if finding.pointer:
        lines.append(f"at {safe(finding.pointer)}")
    if finding.expected is not None or finding.actual is not None:
        lines.append(f"expected {safe(finding.expected, 120)}, actual {safe(finding.actual, 120)}")
    return lines


def _bounded(lines: Sequence[str]) -> list[str]:
    return list(lines) if len(lines) <= MOST else [*lines[:MOST], f"… {len(lines) - MOST} more lines"]
