"""An example of a rule, from its minimal pairs: what passes, and how the one that fails differs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence

from conformance.evidence.pairs import Pair, pairs
from conformance.judge import judge
from conformance.reports.safe import safe
from conformance.rules import Rule
from conformance.values import Exchange, Finding

WIDEST = 160  # characters of a line
MOST = 60  # lines of the passing example, and of the difference


def example(rule: Rule) -> Iterator[tuple[str, list[str]]]:
    """Headings and lines: the passing exchanges of the rule's first pair, then the difference of the failing ones."""
    pair = next(pairs(rule.id), None)
    if pair is None:
        return
    good, bad = ([line for e in side for line in rendered(e)] for side in (pair.good, pair.bad))
    yield f"An example that passes ({pair.name})", _bounded(good)
    difference = list(difflib.unified_diff(good, bad, "passes", "fails", lineterm="", n=2))
    finding = _finding(pair, rule)
    yield "An example that fails", [*_bounded(difference), "", *([] if finding is None else _told(finding))]


def rendered(exchange: Exchange) -> list[str]:
    """An exchange as lines: request, response, and JSON laid out so that a difference is a line."""
    request, response = exchange.request, exchange.response
    lines = [f"{request.method} {request.url}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    lines += ["", *_body(request.body), ""]
    if response is not None:
        lines.append(f"HTTP {response.status}")
        lines += [f"{name}: {value}" for name, value in response.headers]
        lines += ["", *_body(b"".join(chunk.data for chunk in response.chunks)), ""]
    if exchange.failure is not None:
        lines += [f"(the connection failed: {exchange.failure.kind} {exchange.failure.message})", ""]
    return [safe(line, WIDEST) for line in lines]


def _body(data: bytes) -> list[str]:
    text = data.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False).splitlines()
    except (ValueError, RecursionError):
        return text.splitlines()


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
