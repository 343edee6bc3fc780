"""A request as a curl command line that a person can paste: the key is always ``$KIMI_API_KEY``."""

from __future__ import annotations

import base64
import shlex

from conformance.values import Exchange, Intent

LONGEST_BODY = 20_000  # bytes; a longer body is named by its journal entry instead
_ADDED_BY_CURL = frozenset({"host", "content-length", "user-agent", "accept-encoding", "connection", "accept"})


def curl(exchange: Exchange) -> str:
    """One shell command that sends the request again; bodies that are no plain text go through base64."""
    request = exchange.request
    words = ["curl", "-sS", "-i"]
    if request.method != "POST":
        words += ["-X", shlex.quote(request.method)]
    words.append(shlex.quote(request.url))
    for name, value in request.headers:
        words += _header(name, value, invalid=Intent.INVALID_KEY in exchange.intents)
    if not request.body:
        return " ".join([*words, "--data ''"] if request.method == "POST" else words)
    if len(request.body) > LONGEST_BODY:
        return " ".join([*words, f"--data-binary @body.json  # {len(request.body)} bytes: exchange {exchange.id}"])
    text = _plain(request.body)
    if text is None:
        encoded = base64.b64encode(request.body).decode()
        return f"echo {encoded} | base64 -d | " + " ".join([*words, "--data-binary @-"])
    return " ".join([*words, "--data-raw", shlex.quote(text)])


def _header(name: str, value: str, *, invalid: bool) -> list[str]:
    lower = name.lower()
    if lower in _ADDED_BY_CURL or lower.startswith(":"):
        return []
    if lower == "authorization":
        scheme, _, rest = value.partition(" ")
        prefix = shlex.quote(f"Authorization: {scheme} " if rest else "Authorization: ")
        return ["-H", prefix + ("invalid-key" if invalid else '"$KIMI_API_KEY"')]
    return ["-H", shlex.quote(f"{name}: {value}")]


def _plain(body: bytes) -> str | None:
    """The body as text that survives a shell and a terminal; None where it does not."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return text if all(char.isprintable() or char in "\n\t" for char in text) else None
