"""How often the first finding of a report names the fault: ``reports.order`` over the trials of the self-test.

``kimi-conformance selftest --format json > trials.json; python benchmarks/finding_order.py trials.json`` prints a line
of JSON: the trials in which several rules found something, in how many of them the first in the order of reports is one
that must catch the fault, and in how many that holds in the order of the ledger.
"""

# ruff: noqa: INP001 (a script)

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.reports.order import weight
from conformance.rules import RULES
from conformance.values import Protocol

LEDGER = {rule: place for place, rule in enumerate(RULES)}


def first(trial: dict[str, Any], breadth: Callable[[tuple[int, int]], int]) -> str:
    """The rule whose finding comes first; ``breadth`` takes it from the weight."""

    def key(rule: str) -> tuple[int, int, int]:
        weighed = weight(RULES[rule].level_on(Protocol(trial["protocol"]), trial["model"]), rule)
        return weighed[0], breadth(weighed), LEDGER[rule]

    return min(trial["by"], key=key)


def main(path: str) -> None:
    """Print the counts."""
    trials = [trial for trial in json.loads(Path(path).read_text("utf-8"))["trials"] if len(trial["by"]) > 1]
    named = {
        name: sum(first(trial, breadth) in trial["expected"] for trial in trials)
        for name, breadth in (("reports", lambda weighed: weighed[1]), ("ledger", lambda _: 0))
    }
    sys.stdout.write(json.dumps({"trials": len(trials), **named}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
