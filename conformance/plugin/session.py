"""One process of a run, as a pytest plugin object: the first process, or a worker of xdist."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.client import Client, Limits, Player, Sender, preflight, serving
from conformance.evidence import Journal
from conformance.models import ALL
from conformance.plugin import is_whole
from conformance.plugin.asking import ask
from conformance.plugin.folder import Folder, Taken
from conformance.plugin.marks import cells_of, declared, in_smoke
from conformance.plugin.result import JOURNAL, Result, Tally, finish, now, summary
from conformance.plugin.settings import Settings
from conformance.plugin.tapes import Gap, offline
from conformance.plugin.workers import end, end_with_parent, journal_of, left_behind
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.recording import Library, replaying
from conformance.values import Protocol

WORKER_INPUT = "kimi_conformance"


class Session:
    """What this process holds of a run."""

    def __init__(self, settings: Settings, worker: str | None, workers: int) -> None:
        self.settings = settings
        self.worker = worker
        self.workers = workers
        self.result: Result | None = None
        self._started = now()
        self._stack = ExitStack()
        self._folders = ExitStack()  # longer than what is served: reports are written last
        self._tallies: list[Tally] = []
        self._trouble: str | None = None  # why the run is not whole
        self._order: tuple[str, ...] = ()
        self._planned = 0
        self._journal: Journal | None = None
        self._player: Player | None = None
        self._gaps: list[Gap] = []
        self._manager: Any = None  # of xdist's workers

    @property
    def player(self) -> Player:
        """The player of the process, made when it is first needed."""
        if self._player is None:
            journal = self._journal = Journal(self._path)
            self._player = Player(
                target=self.settings.target,
                record=journal.append,
                hide=self.settings.secrets().exchange,
                limits=self.settings.limits(self.workers if self.settings.replay is None else 1),
                connect=self._connect(),
                watchful=self.settings.replay is None,
            )
        return self._player

    def _connect(self) -> Callable[[str, str | None, Limits], Sender]:
        """What the player connects with: in a replay, cassettes."""
        if self.settings.replay is None:
            return Client
        return replaying(Library(self.settings.replay), self.settings.target, self.settings.secrets())

    def missed(self, item: pytest.Item, reason: str) -> None:
        """Remember a probe that a replay could not play."""
        cell = _cell(item)
        if cell is not None:
            rules = tuple(sorted(declared(item)))
            gap = Gap(probe=probe_of(item), protocol=cell.protocol, model=cell.model, rules=rules, reason=reason)
            self._gaps.append(gap)

    def ask(self, item: pytest.Item, name: str, cell: Cell, script: Callable[[Cell], Script]) -> int:
        """Play a probe's script, or what a nightly run takes of it; how many steps were sent."""
        strands = None if self.settings.strands is None else self.settings.strands.get(probe_name(item), ())
        return ask(self.player, name, cell, script, rules=self.settings.rules(), strands=strands)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Serve the embedded target, and look whether the target can be verified at all; for a replay, go offline."""
        if self.settings.replay is not None:
            self._stack.enter_context(offline())
        if self.worker is not None:
            end_with_parent()
        if self.worker is not None or session.config.getoption("collectonly"):
            return
        self.settings = msgspec.structs.replace(self.settings, out=str(self._claim()))
        if self.settings.replay is not None:
            if self.settings.profile == "nightly":
                self.settings = msgspec.structs.replace(self.settings, strands=due(self.settings))
            return
        target = self._stack.enter_context(serving(self.settings.target))
        budget = self.settings.budget()
        if budget is not None:
            budget.open()
            self._stack.callback(budget.close)
        reason = preflight(target, self.settings.protocols, self.settings.models[0], budget)
        reason = None if reason is None else self.settings.secrets().text(reason)
        self.settings = msgspec.structs.replace(self.settings, target=target, unverified=reason)
        if self.settings.profile == "nightly" and reason is None:
            self.settings = msgspec.structs.replace(self.settings, strands=due(self.settings))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the settings, which hold no secret key, to a worker of xdist."""
        self._manager = node.nodemanager
        node.workerinput[WORKER_INPUT] = msgspec.json.encode(self.settings).decode()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take over what a worker did."""
        given = getattr(node, "workeroutput", {}).get(WORKER_INPUT)
        if given is not None:
            self._tallies.append(msgspec.json.decode(given, type=Tally))
        elif error is not None:
            self._trouble = f"the worker {node.gateway.id} ended early"

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Remember the suite's own order of the probes, which only workers see."""
        self._order = tuple(map(name_of, ids))

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each surface and model that the probe applies to and the run asks for."""
        if "cell" not in metafunc.fixturenames:
            return
        chosen = [
            Cell(protocol=protocol, model=model, seed=self.settings.seed, ample=self.settings.ample)
            for protocol, model in cells_of(metafunc.definition)
            if protocol in self.settings.protocols and model in self.settings.models
        ]
        metafunc.parametrize("cell", chosen, ids=[f"{cell.protocol}/{cell.model}" for cell in chosen])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave what the profile and the rules ask for; nothing for a target that cannot be verified."""
        wanted = frozenset(rule.id for rule in self.settings.rules()) if self.settings.patterns else None
        kept: list[pytest.Item] = []
        dropped: list[pytest.Item] = []
        for item in items:
            cell = _cell(item)
            fits = cell is None or (
                self.settings.unverified is None
                and (wanted is None or bool(declared(item) & wanted))
                and (self.settings.profile != "smoke" or in_smoke(item, cell.model))
                and (self.settings.strands is None or probe_name(item) in self.settings.strands)
            )
            (kept if fits else dropped).append(item)
        if dropped:
            config.hook.pytest_deselected(items=dropped)
            items[:] = kept
        self._planned = sum(_cell(item) is not None for item in kept)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember the suite's own order of the probes, and whether somebody else selected among them."""
        probes = [item for item in session.items if _cell(item) is not None]
        self._order = tuple(probe_name(item) for item in sorted(probes, key=_place))
        if not all(map(is_whole, session.config.args)):
            self._trouble = "only a part of the suite was selected"
        elif len(probes) < self._planned:
            self._trouble = f"only {len(probes)} of {self._planned} probes were selected"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a probe that raised: its evidence is missing, and the fault is ours."""
        if report.failed:
            words = " ".join(str(getattr(report.longrepr, "reprcrash", report.longrepr)).split())
            self._trouble = f"internal error in the probe {report.nodeid.rpartition('::')[2]}: {words[-300:]}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A worker hands over what it did; the first process judges, reports and decides the exit code."""
        if exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR) and self._manager is not None:
            end(self._manager)  # before the server that they send to is closed
        tally = self._close()
        if self.worker is not None:
            if tally is not None:
                session.config.workeroutput[WORKER_INPUT] = msgspec.json.encode(tally).decode()  # type: ignore[attr-defined]
            gc.freeze()  # as a worker ends, pytest looks through all that is left for garbage, several times
            return
        if exitstatus == pytest.ExitCode.USAGE_ERROR or session.config.getoption("collectonly"):
            return
        if exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
            words = "interrupted" if exitstatus == pytest.ExitCode.INTERRUPTED else "internal error in the test runner"
            self._trouble = self._trouble or words
        tallies = [*([tally] if tally else []), *self._tallies]
        tallies += left_behind(Path(self.settings.out), tallies, self._order)
        self.result = finish(self.settings, tallies, started=self._started, partial=self._trouble)
        session.exitstatus = self.result.gate.code
        session.config.hook.pytest_kimi_finished(result=self.result)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What the run says, below pytest's own words."""
        if self.result is not None:
            terminalreporter.section("kimi-conformance")
            for line in summary(self.result):
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """Stop the embedded server and give the folders back, however the session ended."""
        self._close()
        self._folders.close()

    def _claim(self) -> Path:
        """The folder to write into, held for this run; that of the cassettes is made too.

        Raises ``pytest.UsageError``.
        """
        if self.settings.record is not None:
            self._taken("record", self.settings.record, Folder)
        claim = Folder.claim_new if self.settings.numbered else Folder.claim
        return self._taken("out", self.settings.out, claim).path

    def _taken(self, option: str, path: str, take: Callable[[str], Folder]) -> Folder:
        try:
            folder = take(path)
        except OSError as error:
            raise pytest.UsageError(f"--kimi-{option}: {path} cannot be made: {error.strerror}") from None
        except Taken as error:
            raise pytest.UsageError(f"--kimi-{option}: {error}") from None
        self._folders.callback(folder.release)
        return folder

    @property
    def _path(self) -> Path:
        out = Path(self.settings.out)
        return out / JOURNAL if self.worker is None else journal_of(out, self.worker)

    def _close(self) -> Tally | None:
        """Stop serving and close the journal; what was done here, None where nothing was."""
        self._stack.close()
        if self._player is None or self._journal is None:
            return None
        self._player.close()
        self._journal.close()
        return Tally(
            journal=str(self._path),
            order=self._order,
            requests=self._player.requests,
            output_tokens=self._player.output_tokens,
            stopped=self._player.stopped,
            gaps=tuple(self._gaps),
            losses=self._player.losses,
        )


def due(settings: Settings) -> dict[str, tuple[int, ...]]:
    """What the nightly profile plays, by probe and cell."""
    from conformance.planning import select  # noqa: PLC0415 (only a nightly run plans)

    chosen = select(
        "nightly",
        protocols=settings.protocols,
        models=settings.models,
        rules=[rule.id for rule in settings.rules()] if settings.patterns else (),
        night=date.fromisoformat(settings.night),
        addresses=len(settings.target.base_urls),
        limited=settings.target.limited is not None,
        seed=settings.seed,
    )
    return dict(chosen.strands or {})


def _place(item: pytest.Item) -> tuple[str, int, int, int]:
    """Where a probe stands in the suite, in whatever order it is played."""
    path, line, _ = item.location
    cell = _cell(item)
    if cell is None:
        return path, line or 0, 0, 0
    return path, line or 0, list(Protocol).index(cell.protocol), ALL.index(cell.model)


def _cell(item: pytest.Item) -> Cell | None:
    spec = getattr(item, "callspec", None)
    found = spec.params.get("cell") if spec is not None else None
    return found if isinstance(found, Cell) else None


def probe_name(item: Any) -> str:
    """The name that a probe's exchanges begin with: the test's without ``test_``, surface and model."""
    cell = _cell(item)
    where = f"/{cell.protocol}/{cell.model}" if cell else ""
    return f"{probe_of(item)}{where}"


def name_of(node: str) -> str:
    """The same of a test's node id, as in ``test_answers.py::test_short_answer[chat/kimi-k3]``."""
    test, _, cell = node.rpartition("::")[2].partition("[")
    return f"{_probe(test)}/{cell.removesuffix(']')}" if cell else _probe(test)


def probe_of(item: Any) -> str:
    """The name of a probe."""
    return _probe(item.originalname or item.name)


def _probe(test: str) -> str:
    return test.removeprefix("test_").replace("_", "-")
