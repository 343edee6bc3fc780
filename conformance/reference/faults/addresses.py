"""Faults between the two base URLs: one refuses what the other accepts."""

from __future__ import annotations

from collections.abc import Callable

from conformance.reference.faults.registry import CHAT, MESSAGES, fault
from conformance.reference.faults.terms import LIMITS, forgiven, found, limit, sent, unacceptable
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.refusals import Refusal

Problems = list[Problem]
_AGREE = ("http.base-urls.agree",)


def _is_second() -> Callable[[Context], bool]:
    """Whether a request comes to another address than the first request did."""
    known: list[str] = []

    def second(context: Context) -> bool:
        known.append(context.headers.get("host", ""))
        del known[1:]
        return context.headers.get("host", "") != known[0]

    return second


@fault("second-url-refuses", "problems", caught_by=_AGREE, stateful=True)
def second_refuses() -> Callable[[Context, Problems], Problems]:
    """The second base URL refuses what the first accepts."""
    second = _is_second()

    def hook(context: Context, problems: Problems) -> Problems:
        return found(problems, "not served here", when=second(context))

    return hook


@fault("second-url-is-lenient", "problems", caught_by=_AGREE, stateful=True)
def second_is_lenient() -> Callable[[Context, Problems], Problems]:
    """The second base URL accepts an output limit of 0, the first does not."""
    second = _is_second()

    def hook(context: Context, problems: Problems) -> Problems:
        return forgiven(problems, LIMITS[context.protocol]) if second(context) and limit(context) == 0 else problems

    return hook


@fault("second-url-without-efforts", "problems", on=(CHAT, MESSAGES), caught_by=_AGREE, stateful=True)
def second_without_efforts() -> Callable[[Context, Problems], Problems]:
    """The second base URL is of an older version that does not know efforts."""
    second = _is_second()

    def hook(context: Context, problems: Problems) -> Problems:
        given = sent(context, "reasoning_effort") or sent(context, "output_config")
        old = second(context) and given is not None
        return found(problems, "efforts are unknown", when=old)

    return hook


@fault("second-url-refuses-at-once", "admission", caught_by=_AGREE, stateful=True, needs_socket=True)
def second_refuses_over_a_connection() -> Callable[[Context, Refusal | None], Refusal | None]:
    """The second base URL turns every request away before it looks at the key."""
    second = _is_second()

    def hook(context: Context, refusal: Refusal | None) -> Refusal | None:
        if second(context):
            raise unacceptable("This address is not in use.")
        return refusal

    return hook
