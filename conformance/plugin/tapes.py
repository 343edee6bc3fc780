"""Recording and replay as the plugin does them: the folder's target and seed, gaps, and what is written at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from conformance.client import Target
from conformance.evidence import Unreadable
from conformance.recording.cassette import Provenance
from conformance.recording.library import Library, Mixed
from conformance.recording.outcomes import outcomes, save_outcomes
from conformance.recording.recorder import record
from conformance.recording.replayer import target_of
from conformance.values import Exchange, Outcome, Protocol, Run, Verdict


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A probe that could not be played from its cassette, or only in part."""

    probe: str
    protocol: Protocol
    model: str
    rules: tuple[str, ...]  # those that it declares
    reason: str

    @property
    def line(self) -> str:
        """The gap in one line."""
        return f"{self.probe}/{self.protocol.value}/{self.model}: {self.reason}"


class Taped(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of cassettes decides for a run; nothing where the run neither records nor replays."""

    folder: str | None = None
    target: Target | None = None  # the one to replay
    seed: int | None = None
    profile: str | None = None
    night: str | None = None  # of the run to replay

    def seed_for(self, asked: str | None) -> str | None:
        """The seed of the folder, or the one asked for. Raises ``pytest.UsageError`` where they differ."""
        if self.seed is None:
            return asked
        if asked is not None and asked != str(self.seed):
            raise pytest.UsageError(
                f"--kimi-seed: the cassettes in {self.folder} were recorded with seed {self.seed}, not {asked[:40]}"
            )
        return str(self.seed)

    def profile_for(self, asked: str | None) -> str:
        """The profile asked for, that of the run to replay, or full. Raises ``pytest.UsageError`` where they differ.

        The profiles ask for answers of different lengths, so one cannot be played from the cassettes of another.
        """
        wanted = asked or (self.profile if self.target is not None else None) or "full"
        if self.profile is not None and wanted != self.profile:
            made = f"the cassettes in {self.folder} were recorded with profile {self.profile}"
            raise pytest.UsageError(f"--kimi-profile: {made}, not {wanted[:40]}")
        return wanted

    def night_for(self, asked: str | None) -> str | None:
        """The night of the run to replay, or the one asked for. Raises ``pytest.UsageError`` where they differ.

        Each night plays other constraints, so one cannot be played from the cassettes of another.
        """
        if self.night is not None and asked is not None and self.profile == "nightly" and asked != self.night:
            made = f"the cassettes in {self.folder} were recorded for the night of {self.night}"
            raise pytest.UsageError(f"--kimi-date: {made}, not {asked[:40]}")
        return self.night or asked


def taped(record_to: str | None, replay_from: str | None, target: str) -> Taped:
    """Look into the folder that is recorded to or replayed. Raises ``pytest.UsageError``."""
    if record_to is not None and replay_from is not None:
        raise pytest.UsageError("--kimi-record and --kimi-replay exclude each other: a replay has nothing to record")
    folder = record_to or replay_from
    if folder is None:
        return Taped()
    try:
        row = Library(folder).provenance()
    except (Unreadable, Mixed, OSError) as error:
        raise pytest.UsageError(f"the cassettes in {folder} cannot be used: {error}") from None
    if replay_from is None:
        if row is not None and row.target != target:
            raise pytest.UsageError(f"{folder} holds cassettes of {row.target}; record {target} into another folder")
        return Taped(folder=folder, seed=row.seed, profile=row.profile) if row else Taped(folder=folder)
    if row is None:
        raise pytest.UsageError(f"--kimi-replay: there is no cassette in {folder}; run --record makes some")
    return Taped(folder=folder, target=target_of(row), seed=row.seed, profile=row.profile, night=row.night)


def offline() -> AbstractContextManager[None]:
    """Blocks the network of this process while it is entered."""
    from pytest_recording.network import blocking_context  # noqa: PLC0415 (only a replay pays for it)

    return blocking_context()


def explained(verdicts: Iterable[Verdict], gaps: Sequence[Gap]) -> tuple[Verdict, ...]:
    """The verdicts, with the reason for those that were not exercised because of a gap."""
    reasons = {(rule, gap.protocol, gap.model): gap.line for gap in reversed(gaps) for rule in gap.rules}
    return tuple(
        replace(verdict, reason=reasons[key])
        if verdict.outcome is Outcome.NOT_EXERCISED
        and (key := (verdict.rule, verdict.protocol, verdict.model)) in reasons
        else verdict
        for verdict in verdicts
    )


def told(gaps: Sequence[Gap]) -> str | None:
    """Why a replay with gaps is not whole, in one line; None without gaps."""
    if not gaps:
        return None
    missing = Counter(gap.reason for gap in gaps)
    first = next((gap for gap in gaps if missing[gap.reason] == 1), gaps[0])
    return f"{len(gaps)} probe{'s' * (len(gaps) > 1)} could not be replayed, among them {first.line}"


def keep(
    folder: str, exchanges: Iterable[Exchange], verdicts: Iterable[Verdict], *, target: Target, run: Run, night: str
) -> tuple[Path, ...]:
    """Write a run's exchanges, redacted, as cassettes, and what it decided where they are all that the folder holds.

    Raises ``pytest.UsageError`` where they cannot be written.
    """
    shared = Provenance(
        probe="",
        protocol=Protocol.CHAT,
        model="",
        target=target.name,
        reference=target.embedded,
        base_urls=target.base_urls,
        limited=target.limited,
        recorded=run.started,
        suite=run.version,
        profile=run.profile,
        night=night,
        seed=run.seed,
        specs=run.specs,
    )
    try:
        paths = tuple(record(folder, exchanges, shared))
        decided = outcomes(verdicts) if set(paths) == set(Library(folder).paths()) else None
        save_outcomes(folder, decided)
    except OSError as error:
        raise pytest.UsageError(f"--kimi-record: {folder} cannot be written: {error.strerror or error}") from None
    return paths
