"""The search for a value that fails, and its shrinking: the same for the same seed, whatever else is imported.

Hypothesis does both. It draws from a source of our own: its default one mixes in constants from the modules that happen
to be loaded, so that the same seed would give other requests under another command.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
BACKEND = "kimi-conformance"


class SeedAlone(HypothesisProvider):
    """Hypothesis' own source of values, without constants: those of loaded modules would get in with them."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[BACKEND] = SeedAlone


class FoundError(Exception):
    """Raised within a machine where what it sent shows a failure; ``rule`` says of which kind."""

    def __init__(self, rule: str, evidence: Any) -> None:
        super().__init__(rule)
        self.rule = rule
        self.evidence = evidence


class EnoughError(BaseException):
    """Raised by whoever judges to end a shrinking early: what failed last has to do; ``found`` in a machine.

    No ``Exception``: hypothesis would take one for a failure and shrink it.
    """

    def __init__(self, found: FoundError | None = None) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True, kw_only=True)
class Failing(Generic[T]):
    """A value that fails, as small as shrinking made it."""

    value: T
    rule: str
    examples: int  # values that were drawn until the first one failed, that one included
    tries: int  # values that shrinking tried


@dataclass
class Aim:
    """What a search is after: the first rule that fails, and from then on that rule alone."""

    rule: str | None = None
    examples: int = 0
    tries: int = 0

    def meets(self, rules: Collection[str]) -> bool:
        """Count one value by the rules that it fails; whether the search is after it."""
        if self.rule is None:
            self.examples += 1
            self.rule = next(iter(rules), None)
        else:
            self.tries += 1
        return self.rule is not None and self.rule in rules


def settings(examples: int, *, steps: int = 8) -> hypothesis.settings:
    """How every search runs: no database, no deadline, nothing printed; ``steps`` at most in a machine."""
    return hypothesis.settings(
        max_examples=max(1, examples),
        stateful_step_count=steps,
        backend=BACKEND,
        database=None,
        deadline=None,
        derandomize=False,
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def search(
    strategy: SearchStrategy[T], failing: Callable[[T], Collection[str]], *, examples: int, seed: int
) -> tuple[Failing[T] | None, int]:
    """Draw up to so many values until one fails, and shrink it; also how many were drawn.

    ``failing`` names the rules that a value fails, and must say the same of an equal value. Shrinking follows the first
    rule of the first failing value, until nothing smaller fails or ``failing`` raises ``EnoughError``.
    """
    aim = Aim()
    last: list[T] = []

    def condition(value: T) -> bool:
        met = aim.meets(failing(value))
        if met:
            last[:] = [value]
        return met

    source = random.Random(seed)  # noqa: S311 (what is drawn is no secret)
    try:
        found = hypothesis.find(strategy, condition, settings=settings(examples), random=source)
    except NoSuchExample:
        return None, aim.examples
    except (Flaky, EnoughError):  # Flaky: the target answers differently every time
        if not last:
            raise
        found = last[0]
    return Failing(value=found, rule=aim.rule or "", examples=aim.examples, tries=aim.tries), aim.examples


def run_machine(machine: type[RuleBasedStateMachine], *, examples: int, seed: int, steps: int = 8) -> FoundError | None:
    """Run a machine up to so many times; the failure of its shortest run that shows one."""
    try:
        run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=settings(examples, steps=steps))
    except FoundError as error:
        return error
    except EnoughError as error:
        if error.found is None:
            raise
        return error.found
    except Flaky as error:  # as in ``search``
        causes: tuple[Exception, ...] = getattr(error, "exceptions", ())
        found = next((cause for cause in causes if isinstance(cause, FoundError)), None)
        if found is None:
            raise
        return found
    return None
