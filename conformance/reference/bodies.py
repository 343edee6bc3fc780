"""A request body's bytes into a JSON object, or a 400 that says what is wrong."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.reference.refusals import Layer, Refused, invalid

MAX_BYTES = 16 * 1024 * 1024


def json_object(raw: bytes) -> dict[str, Any]:
    """The object that the bytes are as strict JSON (UTF-8, no NaN, no unpaired surrogate); raises Refused.

    Nesting is bounded by the interpreter's recursion limit, a few hundred levels above what any request needs.
    """
    if len(raw) > MAX_BYTES:
        raise _malformed(f"The request body is larger than {MAX_BYTES} bytes.")
    if not raw.strip():
        raise _malformed("The request body is empty: a JSON object is expected.")
    try:
        value = msgspec.json.decode(raw)
    except RecursionError as error:
        raise nested_too_deeply() from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise _malformed(f"The request body is not valid JSON: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise _malformed(f"The request body must be a JSON object, not {_name(value)}.")
    return value


def nested_too_deeply() -> Refused:
    """The refusal of a body whose nesting exceeds what the server can follow."""
    return _malformed("The request body is nested too deeply.")


def _malformed(message: str) -> Refused:
    return invalid(message, layer=Layer.PARSING, code="invalid_json")


def _name(value: object) -> str:
    names: dict[type, str] = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
