"""The gate decides; every report and the command read it."""

from __future__ import annotations

import pytest

from conformance.gate import Exit, gate
from conformance.values import Basis, Finding, Level, Outcome, Protocol, Verdict


def verdict(outcome: Outcome, *levels: Level, basis: Basis = Basis.DOCUMENTED, known: str | None = None) -> Verdict:
    findings = tuple(
        Finding(message="m", rule="usage.total-is-sum", level=level, basis=basis, protocol=Protocol.CHAT)
        for level in levels
    )
    return Verdict(
        rule="usage.total-is-sum",
        protocol=Protocol.CHAT,
        model="kimi-k3",
        outcome=outcome,
        level=Level.MUST,
        findings=findings,
        exercised=1,
        reason="why" if outcome is Outcome.ERROR else None,
        known=known,
    )


PASS = verdict(Outcome.PASS)


@pytest.mark.parametrize(
    ("verdicts", "options", "code", "headline"),
    [
        ([PASS], {}, Exit.CONFORMING, "conforming"),
        ([PASS, verdict(Outcome.FAIL, Level.MUST)], {}, Exit.FAILED, "not conforming"),
        ([PASS, verdict(Outcome.FAIL, Level.SHOULD)], {}, Exit.CONFORMING, "conforming"),
        ([PASS, verdict(Outcome.FAIL, Level.SHOULD)], {"strict": True}, Exit.FAILED, "not conforming"),
        ([PASS, verdict(Outcome.PASS, Level.INFO)], {"strict": True}, Exit.CONFORMING, "conforming"),
        ([verdict(Outcome.FAIL, Level.SHOULD)], {}, Exit.CONFORMING, "conforming"),
        ([PASS, verdict(Outcome.INCONCLUSIVE)], {}, Exit.CONFORMING, "conforming"),
        ([], {}, Exit.NOT_VERIFIED, "not verified"),
        ([verdict(Outcome.NOT_EXERCISED), verdict(Outcome.NOT_APPLICABLE)], {}, Exit.NOT_VERIFIED, "not verified"),
        ([verdict(Outcome.INCONCLUSIVE)], {}, Exit.NOT_VERIFIED, "not verified"),
        ([PASS], {"partial": "interrupted"}, Exit.NOT_VERIFIED, "not verified"),
        ([verdict(Outcome.FAIL, Level.MUST)], {"partial": "interrupted"}, Exit.FAILED, "not conforming"),
        ([PASS], {"unverified": "the target refuses connections"}, Exit.NOT_VERIFIED, "not verified"),
        ([PASS, verdict(Outcome.ERROR)], {}, Exit.INTERNAL, "internal error"),
        (
            [PASS, verdict(Outcome.FAIL, Level.MUST, basis=Basis.PROTOCOL)],
            {"basis": Basis.DOCUMENTED},
            Exit.CONFORMING,
            "conforming",
        ),
        ([PASS, verdict(Outcome.FAIL, Level.MUST, known="usage.**")], {}, Exit.CONFORMING, "conforming"),
    ],
)
def test_verdicts_add_up_to_one_outcome(verdicts, options, code, headline):
    decided = gate(verdicts, **options)
    assert (decided.code, decided.headline) == (code, headline)


def test_counts_name_every_outcome_and_level():
    decided = gate([PASS, verdict(Outcome.FAIL, Level.MUST, Level.SHOULD)])
    assert decided.counts == {
        "error": 0,
        "fail": 1,
        "inconclusive": 0,
        "pass": 1,
        "not exercised": 0,
        "not applicable": 0,
        "info": 0,
        "should": 1,
        "must": 1,
    }
    assert decided.rules_exercised == 1
