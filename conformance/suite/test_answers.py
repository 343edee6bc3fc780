"""Plain answers, in both modes."""

from __future__ import annotations

from conformance.models import K31
from conformance.plugin import Probe, cells
from conformance.probes import answers
from conformance.values import Protocol


def test_short_answer(probe: Probe) -> None:
    probe(answers.short)


def test_same_request_again(probe: Probe) -> None:
    probe(answers.again)


@cells(protocols=(Protocol.CHAT, Protocol.RESPONSES))
def test_default_limit(probe: Probe) -> None:
    probe(answers.default_limit)


def test_text_of_many_scripts(probe: Probe) -> None:
    probe(answers.echo)


def test_long_answer(probe: Probe) -> None:
    probe(answers.long)


@cells(protocols=(Protocol.CHAT,))
def test_usage_asked_for_in_a_stream(probe: Probe) -> None:
    probe(answers.reported_usage)


def test_one_question_on_all_surfaces(probe: Probe) -> None:
    probe(answers.surfaces)


@cells(models=K31)
def test_speed(probe: Probe) -> None:
    probe(answers.faster)
