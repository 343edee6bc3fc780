"""What the coverage phase of schemathesis makes of a request schema, in requests that make sense.

Its bodies satisfy or break the schema and mean nothing, so that a refusal could be right for another reason than the
broken constraint. Only the broken value is taken from them, and put in its place in a valid request.
The only module that imports schemathesis, when it is first asked for anything.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from conformance import specs
from conformance.generators.breaking import KINDS, of_type
from conformance.generators.constraints import Base, Case, Side, marks, standing
from conformance.generators.places import replaced
from conformance.specs.composition import recipe
from conformance.values import Protocol


class MissingSchemathesisError(ImportError):
    """The optional dependency is not installed; the message says how to get it."""


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """One body of the coverage phase."""

    valid: bool  # as schemathesis means it
    words: str
    body: Any


def generated(protocol: Protocol, model: str) -> Iterator[Generated]:
    """The bodies of the coverage phase for one surface and model, the invalid ones first; the same on every call.

    Requests that differ in anything but their JSON body are left out. Raises ``MissingSchemathesisError``.
    """
    try:
        import schemathesis  # noqa: PLC0415 (a second, for the few that ask for it)
        from schemathesis.core.parameters import ParameterLocation  # noqa: PLC0415 (likewise)
        from schemathesis.generation.modes import GenerationMode  # noqa: PLC0415 (likewise)
    except ImportError as error:
        raise MissingSchemathesisError(
            "schemathesis is not installed: pip install 'kimi-conformance[schemathesis]'"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = schemathesis.openapi.from_dict(specs.effective(protocol, model))
        operation = document[recipe(protocol)["path"]]["POST"]
        config = document.config.generation_for(operation=operation)
        for mode in (GenerationMode.NEGATIVE, GenerationMode.POSITIVE):
            for case in document.iter_coverage_cases(operation, generation_modes=[mode], generation_config=config):
                data = case.meta.phase.data if case.meta else None
                of_body = getattr(data, "parameter_location", None) in (None, ParameterLocation.BODY)
                if of_body and (case.method, case.media_type) == ("POST", "application/json") and _is_json(case.body):
                    words = str(getattr(data, "description", "") or "")
                    yield Generated(valid=mode is GenerationMode.POSITIVE, words=words, body=case.body)


def further(protocol: Protocol, model: str, bases: Sequence[Base], known: Sequence[Case]) -> tuple[Case, ...]:
    """Breaches of schemathesis by a value of another JSON type than those of the known cases.

    Each stands in the first base that has a place for it. Raises ``MissingSchemathesisError``.
    """
    where = standing(protocol, model, [base.body for base in bases])
    seen = {(case.mark, _kind(_broken(protocol, model, case.body))) for case in known}
    cases = []
    for one in generated(protocol, model):
        mark = next(iter(marks(protocol, model, one.body)), None)
        if mark is None or mark.side is not Side.BROKEN or mark.keyword == "required":
            continue
        wrong = _broken(protocol, model, one.body)
        for body, place in where.get(mark.constraint.rpartition("/")[0], ())[:1]:
            changed = replaced(body, place.path, wrong)
            if (mark, _kind(wrong)) not in seen and marks(protocol, model, changed) == (mark,):
                seen.add((mark, _kind(wrong)))
                cases.append(Case(mark=mark, words=one.words, body=changed))
    return tuple(cases)


def _broken(protocol: Protocol, model: str, body: Any) -> Any:
    """The value at the place of the only breach of a body."""
    for part in specs.breaches(protocol, model, body)[0].path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        body = body[int(name)] if isinstance(body, list) else body[name]
    return body


def _kind(value: Any) -> str:
    return next(name for name in KINDS if of_type(value, name))


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
