"""Requests for every constraint of a request schema: broken alone, and at each allowed edge; and what a request shows.

A constraint that a request exercises is read from the request itself, whoever made it: of an invalid body the one
constraint that it breaks, of a valid one every edge that it shows.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from conformance import specs
from conformance.generators import breaking
from conformance.generators import edges as edge
from conformance.generators.places import Place, places, replaced
from conformance.specs import Constraint
from conformance.specs.schemas import shared_request
from conformance.values import Protocol

_ALWAYS_WHOLE = ("oneOf", "required", "x-max-bytes")  # each way to break these says something else
TOP = 2  # reference tokens in the pointer of a top-level field: those are broken in every way


class Side(StrEnum):
    """On which side of a constraint a request is."""

    BROKEN = "broken"
    EDGE = "edge"


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to exercise: a constraint to break, or one of its edges to meet."""

    constraint: str  # as ``specs.Constraint.pointer``
    keyword: str
    side: Side
    edge: str = ""  # its name; empty for a broken constraint


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A request and what it is for."""

    mark: Mark  # of a valid request the first of the edges that no case before it shows
    words: str  # how it differs from the valid request that it was made from
    body: Any
    sure: bool = True  # a valid one: the documents leave no doubt that it must be accepted


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """A request that makes sense and that others are made from."""

    body: dict[str, Any]
    sure: bool = True  # as ``Case.sure``


class UnreachableError(LookupError):
    """The bases hold no place where a constraint applies; the message names those constraints."""


@functools.cache
def demanded(protocol: Protocol, model: str) -> tuple[Mark, ...]:
    """Everything that a surface and model has to exercise, in the order of the constraints.

    Of the enum of ``model`` only the model's own id is an edge: the others are other cells.
    """
    found = []
    for constraint in specs.constraints(protocol, model):
        found.append(_mark(constraint, Side.BROKEN))
        names = edge.named(*_node(protocol, model, constraint), constraint.keyword)
        found += [_mark(constraint, Side.EDGE, name) for name in _own(constraint, names, model)]
    return tuple(found)


def broken(protocol: Protocol, model: str, bases: Sequence[Base], others: Sequence[Any] = ()) -> tuple[Case, ...]:
    """For each constraint at least one request that breaks it alone, as ``specs.breaches`` proves.

    Constraints of top-level fields are broken in every way, most of those below in the plainest. ``others`` are invalid
    bodies for what no valid one can hold: fields that the model does not support. Raises ``UnreachableError``.
    """
    where = standing(protocol, model, [base.body for base in bases] + list(others))
    cases: list[Case] = []
    missing = []
    for constraint in specs.constraints(protocol, model):
        found = list(_breaking(protocol, model, constraint, where))
        cases += found
        if not found:
            missing.append(constraint.pointer)
    if missing:
        raise UnreachableError(f"no request breaks only {', '.join(missing)} on {protocol}, {model}")
    return _distinct(cases)


def edges(protocol: Protocol, model: str, bases: Sequence[Base]) -> tuple[Case, ...]:
    """Valid requests that together show every allowed edge: the bases that show a new one, then changed ones.

    Raises ``UnreachableError`` where an edge cannot be shown.
    """
    left = {mark: None for mark in demanded(protocol, model) if mark.side is Side.EDGE}
    cases: list[Case] = []
    for words, body, sure in itertools.chain(
        (("as it is", base.body, base.sure) for base in bases), _changed(protocol, model, bases, left)
    ):
        new = [mark for mark in marks(protocol, model, body) if mark in left]
        if new:
            cases.append(Case(mark=new[0], words=words, body=body, sure=sure))
        for mark in new:
            del left[mark]
    if left:
        names = ", ".join(f"{mark.constraint} at {mark.edge}" for mark in left)
        raise UnreachableError(f"no request shows {names} on {protocol}, {model}")
    return tuple(cases)


def marks(protocol: Protocol, model: str, body: object) -> tuple[Mark, ...]:
    """What a parsed body exercises: the constraint that it breaks where it breaks one only, else every edge shown."""
    known = _by_pointer(protocol, model)
    found = {breach.constraint: breach for breach in specs.breaches(protocol, model, body)}
    if found:
        one = known.get(next(iter(found))) if len(found) == 1 else None
        return () if one is None else (_mark(one, Side.BROKEN),)
    definitions = shared_request(protocol, model).get("$defs", {})
    shown: dict[Mark, None] = {}
    for place in places(protocol, model, body):
        for keyword in place.schema:
            constraint = known.get(f"{place.pointer}/{keyword}")
            if constraint is not None:
                for name in _own(constraint, tuple(edge.shown(definitions, place, keyword)), model):
                    shown[_mark(constraint, Side.EDGE, name)] = None
    return tuple(shown)


def _changed(
    protocol: Protocol, model: str, bases: Sequence[Base], left: Mapping[Mark, None]
) -> Iterator[tuple[str, Any, bool]]:
    """The bases with one value changed so that it shows an edge which is still left; no document may state it."""
    found_in = [(base.sure, standing(protocol, model, [base.body])) for base in bases]
    for mark in list(left):
        stated = not _by_pointer(protocol, model)[mark.constraint].inferred
        for sure, found in found_in:
            for body, place in found.get(mark.constraint.rpartition("/")[0], ()):
                for value in edge.values(place, mark.keyword, mark.edge) if mark in left else ():
                    yield f"{_path(place)} = {mark.edge}", replaced(body, place.path, value), sure and stated


def _mark(constraint: Constraint, side: Side, name: str = "") -> Mark:
    return Mark(constraint=constraint.pointer, keyword=constraint.keyword, side=side, edge=name)


@functools.cache
def _by_pointer(protocol: Protocol, model: str) -> Mapping[str, Constraint]:
    return {constraint.pointer: constraint for constraint in specs.constraints(protocol, model)}


def _own(constraint: Constraint, names: tuple[str, ...], model: str) -> tuple[str, ...]:
    if constraint.pointer == "/properties/model/enum":
        return tuple(name for name in names if name == model)
    return names


def _node(protocol: Protocol, model: str, constraint: Constraint) -> tuple[dict[str, Any], dict[str, Any]]:
    """The definitions of a schema, and the part of it that holds a constraint."""
    schema = shared_request(protocol, model)
    node: Any = schema
    for part in constraint.pointer.split("/")[1:-1]:
        name = part.replace("~1", "/").replace("~0", "~")
        node = node[int(name)] if isinstance(node, list) else node[name]
    return schema.get("$defs", {}), node


Standing = dict[str, list[tuple[Any, Place]]]


def standing(protocol: Protocol, model: str, bodies: Sequence[Any]) -> Standing:
    """Where each part of the schema applies: the bodies in their order, and in each the places in theirs."""
    found: Standing = {}
    for body in bodies:
        for place in places(protocol, model, body):
            found.setdefault(place.pointer, []).append((body, place))
    return found


def _breaking(protocol: Protocol, model: str, constraint: Constraint, where: Standing) -> Iterator[Case]:
    """The proven cases of one constraint, all from the first place that has any."""
    thorough = constraint.pointer.count("/") <= TOP + 1
    mark = _mark(constraint, Side.BROKEN)
    for body, place in where.get(constraint.pointer.rpartition("/")[0], ()):
        found = []
        for words, path, value in breaking.variants(place, constraint.keyword, thorough=thorough):
            if value is breaking.REMOVED and not (isinstance(place.value, dict) and path[-1] in place.value):
                continue
            changed = breaking.applied(body, path, value)
            if marks(protocol, model, changed) == (mark,):
                found.append(Case(mark=mark, words=f"{_path(place) or 'the body'}: {words}", body=changed))
                if not thorough and constraint.keyword not in _ALWAYS_WHOLE:
                    break
        if found:
            yield from found
            return


def _path(place: Place) -> str:
    return "".join(f"/{part}" for part in place.path)


def _distinct(cases: Sequence[Case]) -> tuple[Case, ...]:
    found = {json.dumps(case.body, sort_keys=True): case for case in reversed(cases)}
    kept = {id(case) for case in found.values()}
    return tuple(case for case in cases if id(case) in kept)
