"""The validator that judges candidates: patterns run on an engine that gives up where Python's would search on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry

from conformance.reference.instances.merging import Schema


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text; False where the search takes too long. Raises ValueError for no pattern."""
    return bool(_engine(pattern).is_valid(text))


@lru_cache(maxsize=256)
def _engine(pattern: str) -> Any:
    return jsonschema_rs.Draft202012Validator({"pattern": pattern})


def judging(schema: Schema | bool) -> Validator:
    """A validator for a schema and its parts; nothing is fetched."""
    draft = validator_for(schema, default=jsonschema.Draft202012Validator)
    validator: Validator = _bounded(draft)(schema, registry=Registry())
    return validator


@lru_cache(maxsize=8)
def _bounded(draft: Any) -> Any:
    """A draft's validator whose keywords match patterns with ``matches``."""
    return extend(  # type: ignore[no-untyped-call]
        draft,
        {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "unevaluatedProperties": _unevaluated_properties(draft),
        },
    )


def _pattern(_validator: Any, pattern: str, text: object, _schema: Schema) -> Iterator[Any]:
    if isinstance(text, str) and not matches(pattern, text):
        yield jsonschema.ValidationError("the pattern is not found")


def _pattern_properties(validator: Any, patterns: Schema, value: object, _schema: Schema) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for pattern, part in patterns.items():
        for name, inner in value.items():
            if matches(pattern, name):
                yield from validator.descend(inner, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, part: Any, value: object, schema: Schema) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, inner in value.items():
        if name not in declared and not any(matches(pattern, name) for pattern in patterns):
            yield from validator.descend(inner, part, path=name)


def _unevaluated_properties(draft: Any) -> Any:
    """The draft's own keyword, which matches patterns itself: not beside any."""
    own = draft.VALIDATORS.get("unevaluatedProperties")

    def unevaluated(validator: Any, part: Any, value: object, schema: Schema) -> Iterator[Any]:
        if own is not None:
            if '"patternProperties"' in json.dumps(schema):
                raise ValueError("unevaluated properties beside patterns are not judged")
            yield from own(validator, part, value, schema) or ()

    return unevaluated
