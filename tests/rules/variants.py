"""Exchanges for tests: bases of fixtures/ with changes, and what the judge says of them."""

from __future__ import annotations

from conformance.evidence import fixtures
from conformance.evidence.changes import apply
from conformance.evidence.pairs import _base
from conformance.evidence.written import exchange
from conformance.judge import judge
from conformance.values import Level, Outcome

BODY = "/0/response/json"
EVENTS = "/0/response/sse"


def put(at, value):
    return {"at": at, "set": value}


def drop(at):
    return {"at": at, "remove": True}


def add(at, value):
    return {"at": at, "insert": value}


def to_k3(surface, place=0):
    effort = {"chat": "reasoning_effort", "messages": "output_config/effort", "responses": "reasoning/effort"}
    return [
        put(f"/{place}/request/body/model", "kimi-k3"),
        put(f"/{place}/request/body/{effort[surface]}", "max"),
        {"at": f"/{place}/response", "replace": ["kimi-k3.1-pro", "kimi-k3"]},
    ]


def built(bases, *changes):
    names = bases.split()
    forms = [_base(name, fixtures.root(), names[:place].count(name)) for place, name in enumerate(names)]
    for change in changes:
        for op in change if isinstance(change, list) else [change]:
            apply(forms, op)
    return [exchange(form, str(number)) for number, form in enumerate(forms, 1)]


def judged(bases, *changes):
    """The findings above info as (rule, level), after making sure that no rule broke."""
    result = judge(built(bases, *changes))
    assert [f"{v.rule}: {v.reason}" for v in result.verdicts if v.outcome is Outcome.ERROR] == []
    return {(finding.rule, str(finding.level)) for finding in result.findings if finding.level is not Level.INFO}


def outcome(rule, bases, *changes):
    """The outcome of one rule in the cell of the last exchange."""
    exchanges = built(bases, *changes)
    last = exchanges[-1]
    verdicts = judge(exchanges).verdicts
    return next(v.outcome for v in verdicts if (v.rule, v.protocol, v.model) == (rule, last.protocol, last.model))
