"""Where the proxy listens and where it forwards to, read from words and checked."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

import httpx

from conformance.redact import address

DEFAULT_LISTEN = "127.0.0.1:8787"
_PORTS = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """An address cannot be used; the message says what was expected."""


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """The one server that everything is forwarded to."""

    scheme: str
    host: str
    port: int
    prefix: str  # of every path; empty or "/…" without a slash at its end

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def base_url(self) -> str:
        """The URL that paths are appended to."""
        return f"{self.scheme}://{self.authority}{self.prefix}"


@dataclass(frozen=True, kw_only=True)
class Listen:
    """Where clients connect; port 0 is any free one."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        return self.host == "localhost" or (_is_address(self.host) and ipaddress.ip_address(self.host).is_loopback)


def upstream(text: str) -> Upstream:
    """Read a base URL, with or without ``/v1`` at its end. Raises ``BadAddress``."""
    shown = address(text).rpartition("@")[2][:80]
    try:
        url = httpx.URL(text.strip())
        port = url.port
    except (httpx.InvalidURL, ValueError) as error:
        raise BadAddress(f"{shown!r} is no URL: {error}") from None
    if url.scheme not in _PORTS or not url.host or "%" in url.host:
        raise BadAddress(f"{shown!r} is no base URL; expected one such as https://direct.evolink.ai")
    if url.userinfo or url.query or url.fragment:
        raise BadAddress("the upstream must be a base URL: without user, query or fragment")
    if port is not None and not 0 < port < 65536:
        raise BadAddress(f"{port} is no port")
    prefix = url.raw_path.decode("ascii").rstrip("/").removesuffix("/v1")
    return Upstream(scheme=url.scheme, host=url.host, port=port or _PORTS[url.scheme], prefix=prefix)


def listen(text: str) -> Listen:
    """Read ``HOST:PORT``, ``[HOST]:PORT``, ``:PORT`` or ``PORT``. Raises ``BadAddress``."""
    host, colon, port = text.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else ""
    if not port.isdecimal() or len(port) > 5 or int(port) > 65535:
        raise BadAddress(f"{text[:80]!r} is no address; expected HOST:PORT such as {DEFAULT_LISTEN}")
    host = host or "127.0.0.1"
    if not host.isascii() or any(char.isspace() or char in "/@?#[]" for char in host):
        raise BadAddress(f"{host[:80]!r} is no host; expected an address such as 127.0.0.1")
    if ":" in host and not _is_address(host):
        raise BadAddress(f"{host[:80]!r} is no address; expected HOST:PORT such as {DEFAULT_LISTEN}")
    return Listen(host=host, port=int(port))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
