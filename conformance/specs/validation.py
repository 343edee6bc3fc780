"""JSON Schema validators for the effective schemas: a fast one that says yes or no, and one that explains.

Both know ``x-max-bytes`` and take ``oneOf`` as broken only where no option fits: the documents' options overlap (a
custom tool may look like the search tool), and more than one fit is no fault of the sender.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

MOST_ERRORS = 200  # of one instance: a hostile body may hold millions
_DEPTH = 32  # no schema looks deeper; what is below is free-form
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int, float),
}


def utf8_length(text: str) -> int:
    """Bytes of the UTF-8 form; a lone surrogate counts as the three bytes that it would take."""
    return len(text.encode("utf-8", "surrogatepass"))


def pruned(value: Any, depth: int = _DEPTH) -> Any:
    """The value, valid and invalid alike, in a form that can be walked and printed.

    Containers below a depth are emptied; integers that Python would not print become smaller ones beyond every limit.
    """
    if isinstance(value, dict):
        return {str(key): pruned(child, depth - 1) for key, child in value.items()} if depth else {}
    if isinstance(value, list):
        return [pruned(child, depth - 1) for child in value] if depth else []
    if isinstance(value, int) and value.bit_length() > 1024:
        return 2**1024 if value > 0 else -(2**1024)
    return value


class MaximumBytes:
    """The keyword ``x-max-bytes`` of the fast validator."""

    def __init__(self, _parent: Any, value: Any, _path: Any) -> None:
        self.limit: int = value

    def validate(self, instance: Any) -> None:
        """ValueError for a string of more bytes."""
        if isinstance(instance, str) and utf8_length(instance) > self.limit:
            raise ValueError("too many bytes")


def _one_of_as_any_of(node: Any) -> Any:
    if isinstance(node, list):
        return [_one_of_as_any_of(child) for child in node]
    if isinstance(node, dict):
        return {("anyOf" if key == "oneOf" else key): _one_of_as_any_of(child) for key, child in node.items()}
    return node


def _fits_type(option: dict[str, Any], instance: Any) -> bool:
    wanted = option.get("type")
    if wanted is None:
        return True
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(instance, bool):
        return "boolean" in names
    return any(isinstance(instance, _TYPES[name]) for name in names)


def tags(option: dict[str, Any]) -> list[Any] | None:
    """The values of ``type`` that the option is for; None where it takes any."""
    tag = option.get("properties", {}).get("type", {})
    if "const" in tag:
        return [tag["const"]]
    values = tag.get("enum")
    return values if isinstance(values, list) else None


def meant(options: list[dict[str, Any]], instance: Any) -> int | None:
    """Which option a value is clearly meant for, by its JSON type or its ``type``; None where that is open."""
    left = [number for number, option in enumerate(options) if _fits_type(option, instance)]
    if len(left) == 1:
        return left[0]
    if not isinstance(instance, dict):
        return None
    tagged = [number for number in left if instance.get("type") in (tags(options[number]) or ())]
    if len(tagged) == 1:
        return tagged[0]
    untagged = [number for number in left if tags(options[number]) is None]
    return untagged[0] if len(untagged) == 1 else None


def referred(definitions: dict[str, Any], option: Any) -> Any:
    """The schema itself, or the one that it refers to."""
    while isinstance(option, dict) and set(option) == {"$ref"}:
        option = definitions[option["$ref"].removeprefix("#/$defs/")]
    return option


def _one_of(definitions: dict[str, Any], validator: Any, options: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError  # noqa: PLC0415 (only invalid bodies pay for it)

    broken = []
    for number, option in enumerate(options):
        errors = list(itertools.islice(validator.descend(instance, option, schema_path=number), MOST_ERRORS))
        if not errors:
            return
        broken.append(errors)
    choice = meant([referred(definitions, option) for option in options], instance)
    if choice is None:
        yield ValidationError("fits none of the allowed forms")
    else:
        yield from broken[choice]


def _max_bytes(_validator: Any, limit: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError  # noqa: PLC0415 (only invalid bodies pay for it)

    if isinstance(instance, str) and utf8_length(instance) > limit:
        yield ValidationError("too many bytes")


class Validator:
    """Both validators of one schema, compiled once."""

    def __init__(self, schema: dict[str, Any]) -> None:
        import jsonschema_rs  # noqa: PLC0415 (importing the rules must not pay for it)

        self.schema = schema
        self._fast = jsonschema_rs.Draft202012Validator(
            _one_of_as_any_of(schema), keywords={"x-max-bytes": MaximumBytes}
        )

    def accepts(self, instance: Any) -> bool:
        """Whether the instance is valid; whatever the fast validator cannot take in is left to ``errors``."""
        try:
            return bool(self._fast.is_valid(instance))
        except (ValueError, TypeError, RecursionError):
            return False

    @functools.cached_property
    def _explaining(self) -> Any:
        from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 (only invalid bodies pay for it)

        one_of = functools.partial(_one_of, self.schema.get("$defs", {}))
        extended = validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave it untyped
            Draft202012Validator, {"oneOf": one_of, "x-max-bytes": _max_bytes}
        )
        return extended(self.schema)

    def errors(self, instance: Any) -> list[Any]:
        """The jsonschema errors of an instance, in the order of the schema, the first 200 of them."""
        return list(itertools.islice(self._explaining.iter_errors(pruned(instance)), MOST_ERRORS))
