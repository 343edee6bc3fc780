"""Answers from cassettes, where a run would send: the player's sender, without a network."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from conformance.client import Limits, Target
from conformance.evidence import Unreadable
from conformance.recording.cassette import Provenance
from conformance.recording.differences import difference
from conformance.recording.library import Library
from conformance.redact import Secrets, address
from conformance.values import Exchange, Intent

KEY = "sk-replayed-no-key-is-needed"  # stands for the key that was recorded, and is redacted as it was


class Deviation(Exception):
    """A probe cannot be played again from its cassette; the message says why, in one line.

    ``further`` tells that it was played whole, and only asked again more often than when it was recorded.
    """

    def __init__(self, reason: str, *, further: bool = False) -> None:
        super().__init__(reason)
        self.further = further


class Replayer:
    """Answers from the cassettes of a library for one base URL; nothing is shared but the library.

    Raises ``Deviation`` for a probe without a cassette, a step that was not recorded, and another request than then.
    """

    def __init__(self, library: Library, base_url: str, places: tuple[str, ...], secrets: Secrets) -> None:
        self.base_url = base_url
        self.requests = 0
        self._library = library
        self._places = places
        self._secrets = secrets

    def send(
        self,
        draft: Exchange,
        *,
        retry: bool = True,  # noqa: ARG002 (the recorded attempts are what there is)
        retry_server_error: bool = False,  # noqa: ARG002 (likewise)
        ceiling: int | None = None,  # noqa: ARG002 (likewise)
    ) -> tuple[Exchange, ...]:
        """Every recorded attempt of the draft's step, the last one last."""
        number = draft.id.rpartition("/")[2]
        try:
            cassette = self._library.find(draft.probe or "", draft.protocol, draft.model)
        except Unreadable as error:
            raise Deviation(str(error)) from None
        if cassette is None:
            raise Deviation("there is no cassette of it")
        attempts = cassette.step(int(number))
        if not attempts:
            raise Deviation(f"{cassette.path} holds no step {number}", further=draft.trial > 1)
        sent = self._secrets.exchange(draft).request
        told = difference(attempts[0], sent, self._places, places_of(cassette.provenance))
        if told is not None:
            raise Deviation(f"{cassette.path} holds another request at step {number}: {told}")
        found: list[Exchange] = []
        for one in attempts:
            self.requests += 1
            again = one.attempt > 1
            found.append(
                replace(
                    draft,
                    id=f"{draft.id}.{one.attempt}" if again else draft.id,
                    intents=tuple(i for i in draft.intents if not (again and i is Intent.FRESH)),
                    attempt=one.attempt,
                    response=one.response,
                    failure=one.failure,
                    started=one.started,
                    live=one.live,
                )
            )
        return tuple(found)

    def close(self) -> None:
        """Nothing is open."""


def places_of(row: Provenance) -> tuple[str, ...]:
    """The base URLs of a recorded run, in the order in which places are told apart."""
    return (*row.base_urls, *([row.limited] if row.limited else ()))


def target_of(row: Provenance) -> Target:
    """The recorded target, named as replayed; its addresses stand for those that were, and are never opened."""
    return Target(
        name=f"replay of {address(row.target)}",
        base_urls=row.base_urls,
        limited=row.limited,
        key_env=None,
        fixed_key=KEY,
    )


def replaying(library: Library, target: Target, secrets: Secrets) -> Callable[[str, str | None, Limits], Replayer]:
    """What a player connects with instead of a client."""
    places = (*target.base_urls, *([target.limited] if target.limited else ()))

    def connect(base_url: str, _key: str | None, _limits: Limits) -> Replayer:
        return Replayer(library, base_url, places, secrets)

    return connect
