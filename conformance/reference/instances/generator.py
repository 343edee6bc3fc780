"""The search for an instance: candidates for each part of a schema, the first that is valid is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import jsonschema
import msgspec
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable

from conformance.reference.instances import scalars
from conformance.reference.instances.judging import judging
from conformance.reference.instances.merging import Schema, both, merged
from conformance.reference.instances.shapes import (
    grows,
    item_schemas,
    property_schema,
    takes_text,
    types_to_try,
    weight,
    without,
)
from conformance.specs.schema_costs import TooCostly, affordable

_DEEPEST = 40  # nested parts; below _OPTIONAL_DEPTH only what is required is made
_OPTIONAL_DEPTH = 4
_MOST_STEPS = 5_000
_MOST_ITEMS = 1_000
_HEAVIEST = 20_000  # values in one array
_MOST_CANDIDATES = 64
_UNUSABLE = (  # what following a schema that means nothing runs into
    Unresolvable,
    re.error,
    RecursionError,
    OverflowError,
    TypeError,
    ValueError,
    AttributeError,
    jsonschema.exceptions.UnknownType,
    TooCostly,
)


class Unsatisfiable(ValueError):
    """No instance was found."""


class Hints(msgspec.Struct, frozen=True, kw_only=True):
    """What the user's words suggest: values by property name, and what the request is about."""

    values: dict[str, str] = {}
    subject: str | None = None


def instance(schema: Schema | bool, hints: Hints = Hints()) -> Any:  # noqa: B008 (frozen)
    """A valid instance of a schema, the same each time. Raises Unsatisfiable; resolves local references only."""
    try:
        return _Search(judging(schema), hints).value(schema)
    except Unsatisfiable:
        raise
    except _UNUSABLE as error:
        raise Unsatisfiable("the schema cannot be followed") from error


class _Search:
    """One search, with a bound on its steps; the validator's schema is the root."""

    def __init__(self, validator: Validator, hints: Hints) -> None:
        self._validator = validator
        self._hints = hints
        self._refers = re.search(r'"\$(?:ref|dynamicRef|recursiveRef)":', json.dumps(validator.schema)) is not None
        self._steps = 0
        self._named_after: str | None = None  # the property that the subject is for

    def value(self, schema: Any, depth: int = 0, name: str | None = None) -> Any:
        """The first valid candidate; ``name`` is that of the property it is for."""
        return self._several(schema, 1, depth, name)[0]

    def _several(
        self, schema: Any, number: int, depth: int, name: str | None = None, but: Sequence[Any] = ()
    ) -> list[Any]:
        """As many different values as asked for, none of them among those of ``but``."""
        found: list[Any] = []
        for candidate in self._valid(schema, _MOST_CANDIDATES + 2 * number, depth, name):
            if candidate not in found and candidate not in but:
                found.append(candidate)
            if len(found) >= number:
                return found
        raise Unsatisfiable("no value fits the schema")

    def _valid(self, schema: Any, most: int, depth: int, name: str | None) -> Iterator[Any]:
        """The valid ones among the first candidates."""
        if schema is True:
            schema = {"type": "string"}
        if not isinstance(schema, dict) or depth > _DEEPEST:
            raise Unsatisfiable("no value is allowed here" if schema is False else "the schema is too deep")
        judge = self._validator.evolve(schema=schema)
        for candidate in islice(self._candidates(schema, depth, name), most):
            if self._refers:
                affordable(schema, candidate, weight(candidate), root=self._validator.schema)
            if judge.is_valid(candidate):
                yield candidate

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Unsatisfiable("the schema is too involved")

    def _wish(self, name: str | None) -> str | None:
        if name is None:
            return None
        return self._hints.values.get(name.lower()) or (self._hints.subject if name == self._named_after else None)

    def _candidates(self, schema: Schema, depth: int, name: str | None) -> Iterator[Any]:
        self._step()
        if "const" in schema:
            yield schema["const"]
            return
        if isinstance(schema.get("enum"), list):
            wish = self._wish(name)
            yield from sorted(schema["enum"], key=lambda member: member != wish)
            return
        yield from self._combined(schema, depth, name)

    def _combined(self, schema: Schema, depth: int, name: str | None) -> Iterator[Any]:
        """Follow the first combining keyword; without one, make a value of each type."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield from self._through(schema, "$ref", [self._target(reference)], depth, name)
        elif isinstance(schema.get("allOf"), list):
            rest = without(schema, "allOf")
            for part in schema["allOf"]:
                self._step()
                rest = merged(rest, self._followed(part))
            yield from self._candidates(rest, depth + 1, name)
        elif key := next((key for key in ("oneOf", "anyOf") if isinstance(schema.get(key), list)), None):
            yield from self._through(schema, key, schema[key], depth, name)
        elif "if" in schema:
            branches = [both(schema["if"], schema.get("then", True)), schema.get("else", True)]
            yield from self._through(without(schema, "then", "else"), "if", branches, depth, name)
        else:
            kinds = types_to_try(schema)
            for kind in kinds:
                found = self._of_type(kind, schema, depth, name)
                yield from found if len(kinds) == 1 else islice(found, _MOST_CANDIDATES // len(kinds))
            yield from schema["examples"] if isinstance(schema.get("examples"), list) else ()
            if "default" in schema:
                yield schema["default"]

    def _target(self, reference: str) -> Any:
        resolver = self._validator._resolver  # type: ignore[attr-defined] # noqa: SLF001 (nothing public resolves)
        return resolver.lookup(reference).contents

    def _followed(self, schema: Any) -> Schema:
        """The schema with what it refers to, so that it can be merged with others that refer elsewhere."""
        result = schema if isinstance(schema, dict) else {}
        for _ in range(_DEEPEST):
            reference = result.get("$ref")
            if not isinstance(reference, str):
                break
            target = self._target(reference)
            result = merged(without(result, "$ref"), target if isinstance(target, dict) else {})
        return result

    def _through(self, schema: Schema, key: str, options: list[Any], depth: int, name: str | None) -> Iterator[Any]:
        rest = without(schema, key)
        if depth > _DEEPEST:
            return
        if depth > _OPTIONAL_DEPTH:
            options = sorted(options, key=grows)  # an end to recursion first
        for option in options:
            if option is not False:
                yield from self._candidates(merged(rest, option if isinstance(option, dict) else {}), depth + 1, name)

    def _of_type(self, kind: str, schema: Schema, depth: int, name: str | None) -> Iterator[Any]:
        if kind == "object":
            yield from self._objects(schema, depth)
        elif kind == "array":
            yield from self._arrays(schema, depth)
        elif kind == "string":
            yield from scalars.strings(schema, self._wish(name))
        elif kind in ("integer", "number"):
            yield from scalars.numbers(schema, whole=kind == "integer")
        else:
            yield from {"boolean": (True, False), "null": (None,)}.get(kind, ())

    def _objects(self, schema: Schema, depth: int) -> Iterator[dict[str, Any]]:
        declared = schema["properties"] if isinstance(schema.get("properties"), dict) else {}
        required = [name for name in schema.get("required", ()) if isinstance(name, str)]
        optional = [name for name in declared if name not in required] if depth <= _OPTIONAL_DEPTH else []
        if self._named_after is None:
            names = (name for name in [*required, *optional] if takes_text(declared.get(name)))
            self._named_after = next(names, "")
        made: dict[str, Any] = {}
        for name in required:
            try:
                made[name] = self.value(property_schema(schema, declared, name), depth + 1, name)
            except Unsatisfiable:
                return
        full = dict(made)
        for name in optional:
            try:
                full[name] = self.value(declared[name], depth + 1, name)
            except Unsatisfiable:
                continue
        ordered = {name: full[name] for name in declared if name in full}
        yield ordered | full
        yield made
        for size in range(len(made) + 1, len(full)):
            yield dict(islice((made | full).items(), size))
        yield from self._enlarged(schema, declared, full, depth)
        for name in full:
            for value in islice(
                self._valid(property_schema(schema, declared, name), _MOST_ITEMS, depth + 1, name), 1, None
            ):
                yield ordered | full | {name: value}

    def _enlarged(self, schema: Schema, declared: Schema, made: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
        """The object with undeclared properties, as many as minProperties asks for or dependents need."""
        dependents = schema.get("dependentRequired")
        extra = [each for names in dependents.values() for each in names] if isinstance(dependents, dict) else []
        least = schema.get("minProperties", 0)
        wanted = min(int(least), _MOST_ITEMS) - len(made) if isinstance(least, int | float) else 0
        if wanted > 0:
            patterns = schema.get("patternProperties")
            names = schema.get("propertyNames", True)
            if isinstance(patterns, dict) and patterns:
                names = merged(names if isinstance(names, dict) else {}, {"pattern": next(iter(patterns))})
            extra += list(self._names(names, wanted, depth))
        result = dict(made)
        for name in extra:
            try:
                result.setdefault(name, self.value(property_schema(schema, declared, name), depth + 1, name))
            except Unsatisfiable:
                return
        if extra:
            yield result

    def _names(self, schema: Any, wanted: int, depth: int) -> Iterator[str]:
        if schema is True or not schema:
            yield from (f"property_{number}" for number in range(1, wanted + 1))
            return
        try:
            yield from map(str, self._several(merged({"type": "string"}, schema), wanted, depth + 1))
        except Unsatisfiable:
            return

    def _arrays(self, schema: Schema, depth: int) -> Iterator[list[Any]]:
        first, rest = item_schemas(schema)
        least = int(schema.get("minItems", 0))
        if least > _MOST_ITEMS:
            return
        contains = schema.get("contains")
        wanted = schema.get("minContains", 1) if contains is not None else 0
        made: list[Any] = []
        usual = 1 if depth <= _OPTIONAL_DEPTH and rest is not True and rest is not False else 0
        try:
            self._extend(made, both(rest, contains), min(int(wanted), _MOST_ITEMS), schema, depth)
            for item in first[len(made) :]:
                self._extend(made, item, 1, schema, depth)
            self._extend(made, rest, max(least, usual) - len(made), schema, depth)
        except Unsatisfiable:
            if len(made) < least:
                return
        yield made
        yield made[:least]

    def _extend(self, made: list[Any], schema: Any, number: int, whole: Schema, depth: int) -> None:
        """Add that many items; different ones where the array's items must be unique."""
        if number > 0 and whole.get("uniqueItems") is True:
            made += self._several(schema, number, depth + 1, but=made)
        elif number > 0:
            value = self.value(schema, depth + 1)
            if weight(value) * number > _HEAVIEST:
                raise Unsatisfiable("the value would be too large")
            made += [value] * number
