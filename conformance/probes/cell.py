"""One surface and one model: where a probe is sent, with the request builders of that surface bound to it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType, ModuleType
from typing import Any

from conformance.models import MODELS, Model
from conformance.probes.script import Credentials, Place, Step
from conformance.protocols import BUILDERS, Answer, New
from conformance.values import Intent, Protocol

AMPLE = 4096  # tokens: enough for the reasoning and a short answer, also at effort max
THRIFTY = 1024  # tokens: enough for them at effort low, and mostly at max
CEILING = 1024  # tokens of a stream whose limit is far larger, after which the client hangs up
_SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A surface and a model, and the seed of the run that all random text comes from."""

    protocol: Protocol
    model: str
    seed: int
    ample: int = AMPLE  # tokens: the output limit where a probe needs a whole short answer

    @property
    def row(self) -> Model:
        """What the documents say of the model."""
        return MODELS[self.model]

    @property
    def k31(self) -> bool:
        """Whether the model is of the K3.1 series."""
        return self.row.series == "k31"

    @property
    def builder(self) -> ModuleType:
        """The surface's module of request builders."""
        return BUILDERS[self.protocol]

    def body(
        self,
        user: object = None,
        *,
        limit: int | EllipsisType | None = ...,
        stream: bool | None = None,
        effort: str | None = "low",
        **rest: Any,
    ) -> dict[str, Any]:
        """A valid request with one user message, or with the ``messages`` given; the effort only on K3.1.

        The limit is the cell's ample one, unless another or none is given.
        """
        if limit is ...:
            limit = self.ample
        if user is not None:
            rest["user"] = user
        body: dict[str, Any] = self.builder.body(
            self.model, limit=limit, stream=stream, effort=effort if self.k31 else None, **rest
        )
        return body

    def ask(
        self,
        body: object,
        *intents: Intent,
        parent: Answer | None = None,
        place: Place = Place.FIRST,
        ceiling: int | None = None,
    ) -> Step:
        """A step that sends a valid request."""
        return Step(
            body=encode(body),
            intents=intents,
            place=place,
            parent=parent.exchange.id if parent else None,
            ceiling=ceiling,
        )

    def challenge(
        self,
        body: object,
        *intents: Intent,
        credentials: Credentials = Credentials.KEY,
        method: str = "POST",
        place: Place = Place.FIRST,
        parent: Answer | None = None,
        patient: bool = True,
        ceiling: int | None = None,
    ) -> Step:
        """A step whose request may, or must, be refused; bytes are sent as they are."""
        return Step(
            body=body if isinstance(body, bytes) else encode(body),
            intents=intents,
            credentials=credentials,
            method=method,
            place=place,
            parent=parent.exchange.id if parent else None,
            patient=patient,
            cures=False,
            ceiling=ceiling,
        )

    def both(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The same request asked for as JSON and as a stream."""
        plain = {key: value for key, value in body.items() if key != "stream"}
        return plain, {**plain, "stream": True}

    def proceed(self, body: Mapping[str, Any], answer: Answer, new: New) -> dict[str, Any]:
        """The request that follows: its history with the answer unchanged, then a user text or tool results.

        Raises ``NoAnswerError`` where the answer holds no turn; ``attempt`` ends a script there.
        """
        after: dict[str, Any] = self.builder.continue_with(dict(body), answer.body or {}, new)
        return after

    def words(self, count: int, salt: str) -> str:
        """Pronounceable random words that this run, cell and salt alone have."""
        return words(count, f"{self.seed}/{self.protocol}/{self.model}/{salt}")


def words(count: int, seed: str) -> str:
    """Pronounceable random words of two to four syllables."""
    source = random.Random(seed)  # noqa: S311 (prompt text, not a secret)
    syllables = _SYLLABLES.split()
    return " ".join("".join(source.choices(syllables, k=source.randint(2, 4))) for _ in range(count))


def encode(body: object) -> bytes:
    """A body as compact JSON in UTF-8; lone surrogates stay escaped."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()


def texts(turns: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Messages of plain text from (role, text)."""
    return [{"role": role, "content": text} for role, text in turns]
