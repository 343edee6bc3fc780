"""What can be tested: the embedded reference server, the two documented base URLs, or any URL."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import httpx
import msgspec

from conformance.client.deadlines import is_loopback
from conformance.redact import address

EMBEDDED = "embedded"
DIRECT = "https://direct.evolink.ai"
API = "https://api.evolink.ai"
NAMED: Mapping[str, tuple[str, ...]] = {EMBEDDED: (), "direct": (DIRECT, API), "api": (API, DIRECT)}
DEFAULT_KEY_ENV = "KIMI_API_KEY"
LOCAL_KEY = "sk-local-no-key-was-set"  # sent to a server on this machine where no key is given


class BadTarget(ValueError):
    """The target or its key is not usable as configured; the message says what to do."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Where requests go. The key itself is read from the environment by whoever sends, and stands nowhere else."""

    name: str
    base_urls: tuple[str, ...] = ()  # one or two; empty for the embedded server until it is served
    limited: str | None = None  # a base URL that takes one request a minute
    key_env: str | None = DEFAULT_KEY_ENV  # None: ``fixed_key``
    fixed_key: str = LOCAL_KEY

    @property
    def embedded(self) -> bool:
        """Whether it is the reference server of this package."""
        return self.name == EMBEDDED

    @property
    def key(self) -> str:
        """The key to send."""
        return self.fixed_key if self.key_env is None else os.environ[self.key_env].strip()


def resolve(name: str, *, key_env: str | None = None, environment: Mapping[str, str] | None = None) -> Target:
    """The target of a name or URL, its key known to be there. Raises ``BadTarget``.

    A server on this machine needs no key: without one it gets a placeholder, unless ``key_env`` was asked for.
    """
    found = os.environ if environment is None else environment
    if name == EMBEDDED:
        from conformance.reference.settings import DEFAULT_KEY  # noqa: PLC0415 (only where it is served)

        return Target(name=name, key_env=None, fixed_key=DEFAULT_KEY)
    urls = NAMED.get(name) or (_base_url(name),)
    variable = key_env or DEFAULT_KEY_ENV
    key = found.get(variable, "").strip()
    if key:
        if not key.isascii() or not key.isprintable():
            raise BadTarget(f"the environment variable {variable} holds characters that no key has")
        return Target(name=name, base_urls=urls, key_env=variable)
    if key_env is None and is_loopback(httpx.URL(urls[0]).host):
        return Target(name=name, base_urls=urls, key_env=None)
    raise BadTarget(f"the environment variable {variable} is not set: it must hold the API key for {name}")


def _base_url(name: str) -> str:
    if "://" not in name:
        close = difflib.get_close_matches(name, NAMED, n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BadTarget(f"unknown target {name!r}: expected {', '.join(NAMED)} or a URL such as https://host{hint}")
    shown = address(name)
    try:
        url = httpx.URL(name)
        host, port = url.host, url.port
    except (httpx.InvalidURL, ValueError) as error:
        raise BadTarget(f"the target {shown!r} is not a URL: {error}") from None
    if url.scheme not in ("http", "https"):
        raise BadTarget(f"the target {shown!r} has the scheme {url.scheme!r}; expected http or https")
    if not host or (port is not None and not 0 < port < 65536):
        raise BadTarget(f"the target {shown!r} names no host and port that can be reached")
    if url.userinfo or url.query or url.fragment:
        raise BadTarget(f"the target {shown!r} must be a base URL: without user, query or fragment")
    return str(url).rstrip("/").removesuffix("/v1")


@contextmanager
def serving(target: Target) -> Iterator[Target]:
    """The target with addresses that answer: starts the embedded server where it is the target."""
    if not target.embedded:
        yield target
        return
    from conformance import reference  # noqa: PLC0415 (the server is loaded only where it is served)

    with ExitStack() as stack:
        main = stack.enter_context(reference.running(addresses=2))
        limited = stack.enter_context(reference.running(reference.Settings(rpm=1), addresses=1))
        yield msgspec.structs.replace(target, base_urls=tuple(main.base_urls), limited=limited.base_urls[0])
