"""The workers of xdist beyond what xdist does: they end with the run, and what they leave behind is taken over."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from conformance.gate import Exit
from conformance.plugin.joining import recorded
from conformance.plugin.result import Tally
from conformance.protocols import read

PATIENCE = 1.0  # seconds that workers have to end; then they are killed
PARTS = ".journal-*.jsonl"
_POLL = 0.2  # seconds


def journal_of(out: Path, worker: str) -> Path:
    """Where a worker keeps its journal."""
    return out / PARTS.replace("*", worker)


def end(manager: Any) -> None:
    """End the workers that a node manager of xdist has started, if need be in the midst of a request.

    What was answered before stands in their journals.
    """
    manager.group.terminate(timeout=PATIENCE)


def end_with_parent() -> None:
    """Let this process end soon after the one that started it, however that ends: nobody reads what it would send."""
    if os.name == "posix":
        threading.Thread(target=_follow, args=(os.getppid(),), name="end-with-parent", daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL)
    os._exit(Exit.NOT_VERIFIED)


def left_behind(out: Path, known: Iterable[Tally], order: tuple[str, ...]) -> Iterator[Tally]:
    """What workers did that could not tell it any more, by their journals."""
    told = {Path(tally.journal) for tally in known}
    for journal in sorted(out.glob(PARTS)):
        if journal not in told:
            usages = [read(exchange).usage for exchange in recorded(journal)]
            tokens = sum(usage.output or 0 for usage in usages if usage is not None)
            yield Tally(journal=str(journal), order=order, requests=len(usages), output_tokens=tokens)
