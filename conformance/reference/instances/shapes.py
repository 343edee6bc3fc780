"""What a schema says of its parts, and what a value weighs."""

from __future__ import annotations

from typing import Any

from conformance.reference.instances.judging import matches
from conformance.reference.instances.merging import Schema

_MARKS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
_TYPES = ("string", "object", "array", "integer", "number", "boolean", "null")


def weight(value: Any) -> int:
    """How many values a value holds, itself included."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(weight, parts))


def without(schema: Schema, *keys: str) -> Schema:
    """The schema less some of its keywords."""
    return {key: value for key, value in schema.items() if key not in keys}


def item_schemas(schema: Schema) -> tuple[list[Any], Any]:
    """The schemas of the first items, and that of all others; drafts before 2020-12 name them otherwise."""
    items = schema.get("items", True)
    if isinstance(items, list):
        return items, schema.get("additionalItems", True)
    first = schema.get("prefixItems")
    return (first if isinstance(first, list) else []), items


def grows(option: Any) -> bool:
    """Whether an option may hold further parts, so that recursion goes on."""
    return isinstance(option, dict) and ("$ref" in option or option.get("type") in ("object", "array"))


def takes_text(schema: Any) -> bool:
    """Whether a free string fits."""
    return (
        isinstance(schema, dict)
        and not {"$ref", "enum", "const"} & set(schema)
        and types_to_try(schema)[:1] == ["string"]
    )


def property_schema(schema: Schema, declared: Schema, name: str) -> Any:
    """The schema of a property: as declared, by the first pattern that fits its name, else of any other."""
    if name in declared:
        return declared[name]
    patterns = schema.get("patternProperties")
    for pattern, value in patterns.items() if isinstance(patterns, dict) else ():
        if matches(pattern, name):
            return value
    return schema.get("additionalProperties", True)


def types_to_try(schema: Schema) -> list[str]:
    """The types to try: those declared, else those that the keywords speak of, else all."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return [declared]
    if isinstance(declared, list):
        return [kind for kind in declared if kind != "null"] + [kind for kind in declared if kind == "null"]
    marked = [kind for kind, keys in _MARKS.items() if any(key in schema for key in keys)]
    return marked + [kind for kind in _TYPES if kind not in marked]
