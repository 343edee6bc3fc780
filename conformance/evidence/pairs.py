"""The minimal pairs of the rules: exchanges that pass, and the same ones with one fault.

They lie in fixtures/pairs, one file a rule, and are built from the exchanges of fixtures/bases; fixtures/README.md
describes both. Tests judge them, and ``explain`` shows them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from conformance.evidence import fixtures
from conformance.evidence.changes import BadChange, apply
from conformance.evidence.written import BadExchange, exchange
from conformance.values import Exchange, Level

_KEYS = {"name", "base", "setup", "fault", "level", "may_warn"}
_IDS = ("id", "item_id", "call_id", "tool_use_id")


class BadPair(Exception):
    """A file of pairs or a base is not as it must be; the message names file and pair."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One case of one rule."""

    rule: str
    name: str
    good: tuple[Exchange, ...]
    bad: tuple[Exchange, ...]
    level: Level | None  # of the finding on the bad side; None: the rule's own on that surface
    may_warn: tuple[str, ...]  # rules that may warn on the good side


def pairs(rule: str | None = None, *, root: Path | None = None) -> Iterator[Pair]:
    """The pairs of one rule, or of all, in the order of rule ids; none where no file is there. Raises ``BadPair``."""
    root = root or fixtures.root()
    folder = root / "pairs"
    for path in [folder / f"{rule}.yaml"] if rule is not None else sorted(folder.glob("*.yaml")):
        if path.is_file():
            yield from _file(path, root)


def _file(path: Path, root: Path) -> Iterator[Pair]:
    entries = _loaded(path)
    if not isinstance(entries, list):
        raise BadPair(f"{path.name}: expected a list of pairs")
    seen: set[str] = set()
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise BadPair(f"{path.name}: expected a pair with a name, got {entry!r:.80}")
        name = entry["name"]
        if name in seen:
            raise BadPair(f"{path.name}: two pairs named {name!r}")
        seen.add(name)
        try:
            yield _pair(entry, path.stem, root)
        except (BadPair, BadChange, BadExchange, ValueError) as error:
            raise BadPair(f"{path.name}: {name}: {error}") from None


def _pair(entry: dict[str, Any], rule: str, root: Path) -> Pair:
    if unknown := entry.keys() - _KEYS:
        raise BadPair(f"unknown {', '.join(sorted(unknown))}; known are {', '.join(sorted(_KEYS))}")
    names = entry.get("base")
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not names:
        raise BadPair("expected base, a name or a list of names")
    forms = [_base(name, root, names[:place].count(name)) for place, name in enumerate(names)]
    forms = _changed(forms, entry.get("setup") or [], "setup")
    faulty = _changed(copy.deepcopy(forms), entry.get("fault") or [], "fault")
    if faulty == forms:
        raise BadPair("the fault changes nothing")
    return Pair(
        rule=rule,
        name=entry["name"],
        good=_exchanges(forms),
        bad=_exchanges(faulty),
        level=Level(entry["level"]) if "level" in entry else None,
        may_warn=tuple(entry.get("may_warn") or ()),
    )


def changed(names: str | list[str], ops: list[Any], root: Path) -> tuple[Exchange, ...]:
    """Bases with changes applied. Raises ``BadPair``."""
    listed = [names] if isinstance(names, str) else names
    forms = [_base(name, root, listed[:place].count(name)) for place, name in enumerate(listed)]
    return _exchanges(_changed(forms, ops, "change"))


def _changed(forms: list[Any], ops: Any, field: str) -> list[Any]:
    if not isinstance(ops, list):
        raise BadPair(f"{field}: expected a list of ops")
    for number, op in enumerate(ops, 1):
        try:
            apply(forms, op)
        except BadChange as error:
            raise BadPair(f"{field}, op {number}: {error}") from None
    return forms


def _exchanges(forms: list[Any]) -> tuple[Exchange, ...]:
    return tuple(exchange(form, str(number)) for number, form in enumerate(forms, 1))


def _base(name: Any, root: Path, repeat: int) -> Any:
    """A base of its own; the ids of its answer differ from those of its earlier uses."""
    path = root / "bases" / f"{name}.yaml"
    if not isinstance(name, str) or not path.is_file():
        known = ", ".join(sorted(other.stem for other in (root / "bases").glob("*.yaml")))
        raise BadPair(f"no base {name!r}; there are {known}")
    form = copy.deepcopy(_loaded(path))
    if repeat and isinstance(form.get("response"), dict):
        for part in ("json", "sse"):
            if part in form["response"]:
                form["response"][part] = _renamed(form["response"][part], f"-{repeat + 1}")
    return form


def _renamed(value: Any, suffix: str) -> Any:
    if isinstance(value, list):
        return [_renamed(item, suffix) for item in value]
    if isinstance(value, dict):
        return {
            key: f"{item}{suffix}" if key in _IDS and isinstance(item, str) else _renamed(item, suffix)
            for key, item in value.items()
        }
    return value


@cache
def _loaded(path: Path) -> Any:
    try:
        return fixtures.load(path)
    except (yaml.YAMLError, OSError) as error:
        raise BadPair(f"{path.name}: {' '.join(str(error).split())[:200]}") from None
