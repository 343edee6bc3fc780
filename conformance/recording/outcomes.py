"""What the run that recorded a folder of cassettes decided, case by case: a replay must decide the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from conformance.evidence import Unreadable
from conformance.values import Outcome, Verdict

FILE = "verdicts.json"


def outcomes(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Outcome by case id (rule/surface/model), without the cases that do not apply."""
    return {
        f"{verdict.rule}/{verdict.protocol.value}/{verdict.model}": verdict.outcome.value
        for verdict in verdicts
        if verdict.outcome is not Outcome.NOT_APPLICABLE
    }


def save_outcomes(folder: str | Path, found: Mapping[str, str] | None) -> None:
    """Write the file, one case a line; without outcomes, remove it: it speaks for all cassettes or for none.

    Raises ``OSError``.
    """
    path = Path(folder) / FILE
    if found is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")


def load_outcomes(folder: str | Path) -> dict[str, str] | None:
    """The outcomes; None where the cassettes are of several runs. Raises ``Unreadable``."""
    path = Path(folder) / FILE
    try:
        if not path.is_file():
            return None
        found = json.loads(path.read_bytes()[: 16 * 1024**2])
    except OSError as error:
        raise Unreadable(str(path), error.strerror or str(error)) from None
    except (ValueError, RecursionError):
        raise Unreadable(str(path), "no JSON") from None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise Unreadable(str(path), "expected an object of outcomes by case")
    return found
