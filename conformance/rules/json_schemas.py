"""JSON Schemas that a request carries, and whether a value of the answer is valid under them.

Both come from outside: a schema that cannot be used, or that refers elsewhere, is ``Unusable``; nothing is fetched.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conformance.rules.payloads import brief
from conformance.specs.schema_costs import TooCostly, affordable

_SHOWN = 200
_LARGEST = 2**20  # characters of a schema that is compiled
_LARGEST_PRODUCT = 10**8  # characters of a schema without references times those of a value that need no estimate
_REFERENCE = re.compile(r'"\$(?:ref|dynamicRef)":')
_REMOTE = re.compile(r'"\$(?:ref|dynamicRef)": *"[^#"]')


class Unusable(Exception):
    """The schema says nothing about any value; the message says why."""


@dataclass(frozen=True, kw_only=True)
class SchemaFault:
    """The first constraint that a value breaks."""

    pointer: str  # into the value
    message: str
    expected: Any
    actual: Any


def breach(schema: dict[str, Any], value: object) -> SchemaFault | None:
    """What makes a value invalid under a schema; None for a valid one. Raises Unusable."""
    try:
        text = json.dumps(schema, ensure_ascii=True, sort_keys=True)
    except (ValueError, RecursionError):
        raise Unusable("the schema is nested too deep") from None
    _affordable(schema, text, value)
    try:
        error = next(iter(_compiled(text).iter_errors(value)), None)
    except (ValueError, TypeError, RecursionError, OverflowError) as problem:
        raise Unusable(f"the value cannot be judged under the schema: {str(problem)[:_SHOWN]}") from None
    if error is None:
        return None
    path = list(error.instance_path)
    return SchemaFault(
        pointer="".join(f"/{_escaped(part)}" for part in path),
        message=error.message[:_SHOWN],
        expected=brief(_at(schema, list(error.schema_path))),
        actual=brief(_at(value, path)),
    )


def _affordable(schema: dict[str, Any], text: str, value: object) -> None:
    try:
        size = len(json.dumps(value, ensure_ascii=True))
        if _REFERENCE.search(text) or len(text) * size > _LARGEST_PRODUCT:
            affordable(schema, value, size)
    except (ValueError, RecursionError):
        raise Unusable("the schema or the value is nested too deep") from None
    except TooCostly as problem:
        raise Unusable(f"the schema is not followed: {problem}") from None


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    import jsonschema_rs  # noqa: PLC0415 (importing the rules must not pay for it)

    if len(text) > _LARGEST:
        raise Unusable("the schema is too large")
    if _REMOTE.search(text):
        raise Unusable("the schema refers to another document")
    try:
        return jsonschema_rs.validator_for(json.loads(text), validate_formats=False)
    except (ValueError, TypeError, RecursionError) as problem:
        raise Unusable(f"the schema cannot be used: {str(problem)[:_SHOWN]}") from None


def _escaped(part: object) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")[:_SHOWN]


def _at(value: Any, path: list[Any]) -> Any:
    for part in path:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None
    return value
