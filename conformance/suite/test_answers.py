"""Plain answers, in both modes."""

from __future__ import annotations

from conformance.models import K31
from conformance.plugin.marks import Probe, cells, exercises, smoke
from conformance.probes import answers
from conformance.suite.families import ANSWER, STREAM
from conformance.values import Protocol


@exercises(*ANSWER, *STREAM)
@smoke()
def test_short_answer(probe: Probe) -> None:
    probe(answers.short)


@exercises("body.id-unique", "http.no-repeated-server-error", "usage.input-exclusive", "usage.prompt-stable")
def test_same_request_again(probe: Probe) -> None:
    probe(answers.again)


@exercises("finish.default-limit")
@cells(protocols=(Protocol.CHAT, Protocol.RESPONSES))
def test_default_limit(probe: Probe) -> None:
    probe(answers.default_limit)


@exercises("body.text-not-empty", "http.no-repeated-server-error", "request.valid-accepted", "stream.utf8-intact")
def test_text_of_many_scripts(probe: Probe) -> None:
    probe(answers.echo)


@exercises(
    "stream.complete",
    "stream.not-buffered",
    "stream.same-ending-as-json",
    "usage.output-plausible",
    "usage.stream-equals-json",
)
def test_long_answer(probe: Probe) -> None:
    probe(answers.long)


@exercises("request.extra-properties-tolerated", "stream.chat.chunk-shape", "stream.chat.usage")
@cells(protocols=(Protocol.CHAT,))
def test_usage_asked_for_in_a_stream(probe: Probe) -> None:
    probe(answers.reported_usage)


@exercises("usage.same-across-protocols")
def test_one_question_on_all_surfaces(probe: Probe) -> None:
    probe(answers.surfaces)


@exercises("model.highspeed.faster")
@cells(models=K31)
def test_speed(probe: Probe) -> None:
    probe(answers.faster)


@exercises("error.stream-event", "finish.failed-has-error")
def test_failing_answer(probe: Probe) -> None:
    probe(answers.failing)
