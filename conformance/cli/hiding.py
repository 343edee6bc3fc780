"""What ``fuzz`` found, without the key and without what ``--redact`` matches."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.fuzzing import Fuzzed
from conformance.generators.failure import Failure, Sent
from conformance.plugin.hiding import hidden
from conformance.redact import Secrets


def hide(done: Fuzzed, secrets: Secrets) -> None:
    """Hide it in all that is shown and written of a hunt, in place.

    A request that holds what is hidden is no longer the one that was sent.
    """
    done.failures = [_failure(failure, secrets) for failure in done.failures]
    done.verdicts = [hidden(verdict, secrets) for verdict in done.verdicts]
    done.partial = None if done.partial is None else secrets.text(done.partial)


def _failure(failure: Failure, secrets: Secrets) -> Failure:
    """The failure, the rule and where a document says it left as they are."""
    near = failure.nearest
    return replace(
        failure,
        message=secrets.text(failure.message),
        pointer=secrets.text(failure.pointer),
        expected=secrets.value(failure.expected),
        actual=secrets.value(failure.actual),
        requests=tuple(_sent(request, secrets) for request in failure.requests),
        nearest=near and replace(near, text=secrets.text(near.text), edits=secrets.value(near.edits)),
    )


def _sent(request: Sent, secrets: Secrets) -> Sent:
    return request if request.text is None else replace(request, text=secrets.text(request.text))
