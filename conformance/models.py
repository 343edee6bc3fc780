"""The three models: one row each, with what the documents say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from conformance.values import Protocol

CONTEXT_WINDOW = 1_048_576  # tokens, input and output together, all models
DEFAULT_LIMIT = 131_072  # output tokens where the request sets no limit (chat, responses)
EFFORT_ALIASES = {"medium": "high", "xhigh": "max", "minimal": "low", "none": "low"}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model's documented features, efforts and fixed sampling values."""

    id: str
    series: str  # k31 or k3
    efforts: tuple[str, ...]
    aliases: tuple[str, ...]  # effort names mapped to another
    default_effort: str
    temperature: float
    top_p: float
    rejects_other_sampling: bool  # False: other sampling values are ignored
    stop_sequences: bool  # on messages
    structured_output: frozenset[Protocol]
    cache_ttl: bool  # cache_control on messages, prompt_cache_options on chat


def _k31(name: str) -> Model:
    return Model(
        id=name,
        series="k31",
        efforts=("low", "high", "max"),
        aliases=tuple(EFFORT_ALIASES),
        default_effort="max",
        temperature=1,
        top_p=0.95,
        rejects_other_sampling=False,
        stop_sequences=True,
        structured_output=frozenset({Protocol.CHAT, Protocol.MESSAGES}),
        cache_ttl=True,
    )


MODELS: dict[str, Model] = {
    "kimi-k3.1-pro": _k31("kimi-k3.1-pro"),
    "kimi-k3.1-pro-highspeed": _k31("kimi-k3.1-pro-highspeed"),
    "kimi-k3": Model(
        id="kimi-k3",
        series="k3",
        efforts=("max",),
        aliases=(),
        default_effort="max",
        temperature=1,
        top_p=0.95,
        rejects_other_sampling=True,
        stop_sequences=False,
        structured_output=frozenset({Protocol.CHAT}),
        cache_ttl=False,
    ),
}
ALL = tuple(MODELS)
K31 = tuple(name for name, row in MODELS.items() if row.series == "k31")
K3 = tuple(name for name, row in MODELS.items() if row.series == "k3")
DEFAULT = "kimi-k3.1-pro"


class _Names(msgspec.Struct, frozen=True, kw_only=True):
    aliases: Mapping[str, str] = {}
    assumed: str | None = None


_NO_NAMES = _Names()
_NAMES: ContextVar[_Names] = ContextVar("names", default=_NO_NAMES)


@contextmanager
def renamed(aliases: Mapping[str, str], assumed: str | None = None) -> Iterator[None]:
    """While it is entered, gateways' names stand for documented ids, and any other name for the assumed one."""
    token = _NAMES.set(_Names(aliases=aliases, assumed=assumed))
    try:
        yield
    finally:
        _NAMES.reset(token)


def canonical(name: object) -> str | None:
    """The documented id that a name stands for, also behind a gateway's prefix; None for any other name."""
    if not isinstance(name, str):
        return None
    names = _NAMES.get()
    bare = name.rsplit("/", 1)[-1]
    found = names.aliases.get(name) or names.aliases.get(bare)
    return found or (bare if bare in MODELS else names.assumed)
