"""The same version and seed give the same requests, byte for byte, in any order and under xdist."""

from __future__ import annotations

import functools
import random
import re
from pathlib import Path

from commands import command

from conformance.models import DEFAULT
from conformance.planning import rehearse
from conformance.probes.cell import Cell
from conformance.selftest.probes import Probe, probes
from conformance.values import Protocol

DEAR = {"oversized-prompt", "each-constraint-broken", "each-allowed-edge", "hostile-request"}  # in time; see below
OURS = {"cold-and-warm", "cold-and-warm-streams", "cache-in-both-modes", "marker-in-a-block"}  # need fresh prompts
_SAID = re.compile(rb"[0-9a-f]{24,}|[A-Za-z0-9+/_-]{40,}={0,2}")  # ids and signatures, which the server draws


def cells(seed: int) -> list[tuple[Probe, Cell]]:
    return [
        (probe, Cell(protocol=protocol, model=DEFAULT, seed=seed))
        for probe in probes()
        for protocol in Protocol
        if probe.covers(protocol, DEFAULT) and probe.name not in DEAR
    ]


@functools.cache
def in_order(seed: int) -> dict[str, bytes]:
    return bodies(cells(seed))


def bodies(chosen: list[tuple[Probe, Cell]]) -> dict[str, bytes]:
    return {each.exchange.id: _SAID.sub(b"#", each.step.body) for each in rehearse(chosen)}


def test_two_runs_in_different_orders_send_the_same() -> None:
    shuffled = random.Random(3).sample(cells(1), len(cells(1)))  # noqa: S311 (an order)
    assert bodies(shuffled) == in_order(1)


def test_only_prompts_that_no_cache_may_hold_depend_on_the_seed() -> None:
    first, second = in_order(1), in_order(2)
    assert first.keys() == second.keys()
    assert {name.partition("/")[0] for name, body in first.items() if second[name] != body} == OURS


def test_requests_that_are_dear_to_make_are_the_same_each_time_and_whatever_the_seed() -> None:
    dear = [(probe, cell) for probe in probes() if probe.name in DEAR for cell in _one(probe)]
    first = [each.step.body for each in rehearse(dear)]
    other = [(probe, Cell(protocol=cell.protocol, model=cell.model, seed=99)) for probe, cell in dear]
    assert first == [each.step.body for each in rehearse(other)]


def _one(probe: Probe) -> list[Cell]:
    return [Cell(protocol=probe.protocols[0], model=probe.models[0], seed=5)]


def test_workers_send_what_one_process_sends(tmp_path: Path) -> None:
    sent = []
    for name, workers in (("alone", ()), ("together", ("-n", "2"))):
        (tmp_path / name).mkdir()
        rules = ("--rule", "cache.chat-*", "--rule", "tool.round-trip", "--model", DEFAULT)
        ran = command("run", *rules, "--seed", "11", "--out", "out", *workers, cwd=tmp_path / name)
        assert ran.code == 0, ran.stdout + ran.stderr
        sent.append([(exchange.id, _SAID.sub(b"#", exchange.request.body)) for exchange in ran.exchanges])
    assert sent[0] == sent[1]
    assert len(sent[0]) > 50


def test_a_seed_that_was_drawn_is_printed_and_in_the_report(tmp_path: Path) -> None:
    ran = command("run", "--profile", "smoke", "--protocol", "chat", "--model", "kimi-k3", "--out", "out", cwd=tmp_path)
    assert f"seed {ran.report['run']['seed']}" in ran.stdout
