"""Values from the wire, taken as the type that they should have; what has another type leaves a note."""

from __future__ import annotations

from typing import Any

from conformance.protocols.view import MISSING, Note

MAX_NOTES = 1000


def field(value: object, key: str) -> object:
    """A field of a JSON object; MISSING where the value is no object or lacks it."""
    return value.get(key, MISSING) if isinstance(value, dict) else MISSING


def integer(value: object) -> int | None:
    """The value where it is a JSON integer: neither 16.0 nor true is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def spoken(value: object) -> str:
    """What a JSON value is, in words."""
    if value is MISSING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {dict: "an object", list: "an array", str: "a string", int: "an integer", float: "a fraction"}
    return names.get(type(value), "something else")


class Notes:
    """Collects the notes of one answer, and hands out typed values. MISSING and null give the empty value, silently."""

    def __init__(self) -> None:
        self._notes: list[Note] = []

    def add(self, pointer: str, message: str) -> None:
        """Note something about the value at a pointer; what exceeds MAX_NOTES is left out."""
        if len(self._notes) < MAX_NOTES:
            self._notes.append(Note(pointer=pointer, message=message))

    def all(self) -> tuple[Note, ...]:
        """The notes so far."""
        return tuple(self._notes)

    def mapping(self, value: object, pointer: str) -> dict[str, Any]:
        """A JSON object, or an empty one."""
        if isinstance(value, dict):
            return value
        self._wrong(value, pointer, "an object")
        return {}

    def items(self, value: object, pointer: str) -> list[Any]:
        """A JSON array, or an empty one."""
        if isinstance(value, list):
            return value
        self._wrong(value, pointer, "an array")
        return []

    def text(self, value: object, pointer: str) -> str | None:
        """A string, or None."""
        if isinstance(value, str):
            return value
        self._wrong(value, pointer, "a string")
        return None

    def count(self, value: object, pointer: str) -> int | None:
        """An integer of 0 or more, or None; null is noted too."""
        number = integer(value)
        if number is not None and number >= 0:
            return number
        if value is not MISSING:
            came = spoken(value) if number is None else "a negative number"
            self.add(pointer, f"expected an integer of 0 or more, got {came}")
        return None

    def _wrong(self, value: object, pointer: str, expected: str) -> None:
        if value is not MISSING and value is not None:
            self.add(pointer, f"expected {expected}, got {spoken(value)}")
