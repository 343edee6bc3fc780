"""What a run was asked for: options, checked, in a form that travels to xdist's workers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from difflib import get_close_matches
from pathlib import Path

import msgspec
import pytest

from conformance.client import BadTarget, Limits, Target, resolve
from conformance.client.budget import NAME as BUDGET
from conformance.client.budget import Allowance, Budget
from conformance.client.sender import LARGEST_BODY, LARGEST_RUN
from conformance.models import ALL, canonical
from conformance.plugin.spending import allowance, prices
from conformance.plugin.tapes import taped
from conformance.prices import Price
from conformance.probes.cell import AMPLE, THRIFTY
from conformance.redact import Secrets
from conformance.rules import RULES, Rule
from conformance.rules.patterns import NoMatch, select
from conformance.values import Basis, Protocol

PROFILES = ("smoke", "full", "nightly")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """A run's settings; ``target`` has its addresses once the run has begun."""

    target: Target
    models: tuple[str, ...] = ALL
    protocols: tuple[Protocol, ...] = tuple(Protocol)
    patterns: tuple[str, ...] = ()
    profile: str = "full"
    seed: int = 0
    out: str = ""
    numbered: bool = False  # nobody named a folder: where ``out`` is there, the first of out-2, out-3 that is not
    strict: bool = False
    basis: Basis | None = None
    timeout: float = 300.0
    rpm: float | None = None
    redact: tuple[str, ...] = ()
    record: str | None = None  # the folder that cassettes are written to
    replay: str | None = None  # the folder of cassettes that the answers come from
    unverified: str | None = None
    night: str = ""  # ISO 8601: the date of a nightly run
    strands: dict[str, tuple[int, ...]] | None = None  # what a nightly run plays, by probe and cell
    allowance: Allowance | None = None
    prices: dict[str, Price] = {}

    @property
    def ample(self) -> int:
        """The output limit, in tokens, where a probe needs a whole short answer."""
        return AMPLE if self.profile == "full" else THRIFTY

    def budget(self) -> Budget | None:
        """The count that all processes of the run share; None without a limit."""
        if self.allowance is None:
            return None
        return Budget(path=Path(self.out) / BUDGET, allowance=self.allowance, prices=self.prices)

    def secrets(self) -> Secrets:
        """What is hidden in everything that the run writes: the key, and what the patterns match."""
        return Secrets((self.target.key,), map(re.compile, self.redact))

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are judged."""
        names = select(self.patterns, RULES) if self.patterns else tuple(RULES)
        return tuple(RULES[name] for name in names)

    def limits(self, workers: int = 1) -> Limits:
        """The limits of one of several workers; the rate is shared between them."""
        return Limits(
            timeout=min(120.0, self.timeout),
            total_timeout=self.timeout,
            rpm=self.rpm / workers if self.rpm else None,
            largest_run=max(LARGEST_RUN // workers, LARGEST_BODY),
            budget=self.budget(),
        )


def from_options(config: pytest.Config) -> Settings:
    """The settings of a command line. Raises ``pytest.UsageError``, naming the nearest valid value."""
    option = config.getoption
    recorded = taped(option("--kimi-record"), option("--kimi-replay"), option("--kimi-target"))
    try:
        target = recorded.target or resolve(option("--kimi-target"), key_env=option("--kimi-key-env"))
        select(option("--kimi-rule"), RULES)
    except BadTarget as error:
        raise pytest.UsageError(str(error)) from None
    except NoMatch as error:
        hint = f"; nearest: {', '.join(error.nearest)}" if error.nearest else ""
        raise pytest.UsageError(f"--kimi-rule: no rule matches {error.pattern!r}{hint}") from None
    models = [canonical(name) or _one_of("--kimi-model", name, ALL) for name in option("--kimi-model")]
    protocols = [_one_of("--kimi-protocol", name, [p.value for p in Protocol]) for name in option("--kimi-protocol")]
    basis = option("--kimi-basis")
    seed = recorded.seed_for(option("--kimi-seed"))
    rpm = option("--kimi-rpm")
    chosen = tuple(model for model in ALL if not models or model in models)
    return Settings(
        target=target,
        models=chosen,
        protocols=tuple(p for p in Protocol if not protocols or p.value in protocols),
        patterns=tuple(option("--kimi-rule")),
        profile=_one_of("--kimi-profile", recorded.profile_for(option("--kimi-profile")), PROFILES),
        seed=random.SystemRandom().randrange(2**32) if seed is None else int(_number("--kimi-seed", seed, whole=True)),
        record=option("--kimi-record"),
        replay=option("--kimi-replay"),
        out=option("--kimi-out") or str(_default_out(target)),
        numbered=not option("--kimi-out"),
        strict=option("--kimi-strict"),
        basis=None if basis is None else Basis(_one_of("--kimi-basis", basis, [b.value for b in Basis])),
        timeout=_number("--kimi-timeout", option("--kimi-timeout")),
        rpm=None if rpm is None else _number("--kimi-rpm", rpm),
        night=_date(recorded.night_for(option("--kimi-date"))),
        allowance=allowance(option("--kimi-budget"), table := prices(option("--kimi-price")), chosen),
        prices=table,
        redact=tuple(_pattern(text) for text in option("--kimi-redact")),
    )


def _one_of(option: str, value: str, values: Iterable[str]) -> str:
    values = tuple(values)
    if value in values:
        return value
    close = get_close_matches(value.lower(), values, n=1)
    hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(values)}"
    raise pytest.UsageError(f"{option}: {value[:80]!r} is not known; {hint}")


def _number(option: str, value: str, *, whole: bool = False) -> float:
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        raise pytest.UsageError(f"{option}: {value[:80]!r} is not a number") from None
    if not whole and not 0 < number < 1e7:
        raise pytest.UsageError(f"{option}: expected a number above 0, not {value[:80]}")
    return number


def _date(text: str | None) -> str:
    try:
        return (date.fromisoformat(text) if text else datetime.now(UTC).date()).isoformat()
    except ValueError:
        raise pytest.UsageError(f"--kimi-date: {text or ''!r:.80} is no date such as 2026-01-31") from None


def _pattern(text: str) -> str:
    try:
        if re.compile(text).search("") is None:
            return text
    except (re.error, OverflowError, RecursionError) as error:
        raise pytest.UsageError(f"--kimi-redact: {text[:80]!r} is no regular expression: {error}") from None
    raise pytest.UsageError(f"--kimi-redact: {text[:80]!r} matches the empty text, so it would match everywhere")


def _default_out(target: Target) -> Path:
    """reports/<date>-<target>."""
    name = target.name.partition("://")[2] or target.name
    slug = "".join(char if char.isalnum() or char in "-." else "-" for char in name).strip("-.")[:60]
    return Path("reports") / f"{datetime.now(UTC):%Y-%m-%d}-{slug or 'target'}"
