"""What two JSON values differ in, as edits, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from conformance.specs.schemas import escaped

MOST_EDITS = 200  # of one comparison: what follows says nothing new
_DEEPEST = 64


class Edit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One place at which two values differ; UNSET stands for absence."""

    pointer: str  # JSON pointer; of an array whose length differs that of its entries
    here: Any = msgspec.UNSET
    there: Any = msgspec.UNSET


def edits(here: Any, there: Any) -> tuple[Edit, ...]:
    """What to change in ``here`` to get ``there``, at most 200 edits; integers and floats of one value are equal."""
    found: list[Edit] = []
    for edit in _edits(here, there, "", 0):
        found.append(edit)
        if len(found) == MOST_EDITS:
            break
    return tuple(found)


def distance(found: Sequence[Edit]) -> tuple[int, int]:
    """How far apart: first the number of edits, then the size of what they change."""
    return len(found), sum(_size(edit.here) + _size(edit.there) for edit in found)


def _edits(here: Any, there: Any, pointer: str, depth: int) -> Iterator[Edit]:
    if depth < _DEEPEST and isinstance(here, dict) and isinstance(there, dict):
        for name in {**here, **there}:
            if name in here and name in there:
                yield from _edits(here[name], there[name], f"{pointer}/{escaped(name)}", depth + 1)
            else:
                one, two = here.get(name, msgspec.UNSET), there.get(name, msgspec.UNSET)
                yield Edit(pointer=f"{pointer}/{escaped(name)}", here=one, there=two)
        return
    if depth < _DEEPEST and isinstance(here, list) and isinstance(there, list):
        for place in range(max(len(here), len(there))):
            if place < len(here) and place < len(there):
                yield from _edits(here[place], there[place], f"{pointer}/{place}", depth + 1)
            else:
                one = here[place] if place < len(here) else msgspec.UNSET
                two = there[place] if place < len(there) else msgspec.UNSET
                yield Edit(pointer=f"{pointer}/{place}", here=one, there=two)
        return
    if isinstance(here, bool) != isinstance(there, bool) or here != there:
        yield Edit(pointer=pointer, here=here, there=there)


def _size(value: Any) -> int:
    return 0 if value is msgspec.UNSET else len(repr(value))
