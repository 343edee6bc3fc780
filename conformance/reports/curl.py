"""A request as a curl command line that a person can paste: the key is always ``$KIMI_API_KEY``."""

from __future__ import annotations

import base64
import re
import shlex

from conformance.reports.safe import safe
from conformance.values import Exchange, Intent

LONGEST_BODY = 20_000  # bytes; a longer body is named by its journal entry instead
MOST_HEADERS = 50
LONGEST_WORD = 4_000  # characters of a URL, which is cut, or of a header, which is left out
_ADDED_BY_CURL = frozenset({"host", "content-length", "user-agent", "accept-encoding", "connection", "accept"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def curl(exchange: Exchange, *, longest_body: int = LONGEST_BODY) -> str:
    """One shell command that sends the request again; bodies that are no plain text go through base64.

    Nothing in it can steer a terminal, end a comment or be read by curl as an option or the name of a file.
    """
    request = exchange.request
    words = ["curl", "-sS", "-i"]
    if request.method != "POST":
        words += ["-X", _word(request.method)]
    if set("[]{}") & set(request.url):
        words.append("-g")
    words += ["--url"] * request.url.startswith("-")
    words.append(_word(request.url[:LONGEST_WORD]))
    for name, value in request.headers[:MOST_HEADERS]:
        words += _header(name, value, invalid=Intent.INVALID_KEY in exchange.intents)
    if not request.body:
        return " ".join([*words, "--data ''"] if request.method == "POST" else words)
    if len(request.body) > longest_body:
        said = f"# {len(request.body)} bytes: exchange {safe(exchange.id)}"
        return " ".join([*words, f"--data-binary @body.json  {said}"])
    text = _plain(request.body)
    if text is None:
        encoded = base64.b64encode(request.body).decode()
        return f"echo {encoded} | base64 -d | " + " ".join([*words, "--data-binary @-"])
    return " ".join([*words, "--data-raw", shlex.quote(text)])


def _header(name: str, value: str, *, invalid: bool) -> list[str]:
    lower = name.lower()
    if lower in _ADDED_BY_CURL or not _TOKEN.fullmatch(name) or len(value) > LONGEST_WORD:
        return []
    if lower == "authorization":
        scheme, _, rest = value.partition(" ")
        prefix = _word(f"Authorization: {scheme} " if rest else "Authorization: ")
        return ["-H", prefix + ("invalid-key" if invalid else '"$KIMI_API_KEY"')]
    return ["-H", _word(f"{name}: {value}")]


def _word(text: str) -> str:
    """The text as one word of a shell; in the form that bash, zsh and ksh know where some of it cannot be printed."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(char if char.isprintable() else _bytes(char) for char in escaped) + "'"


def _bytes(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))


def _plain(body: bytes) -> str | None:
    """The body as text that survives a shell and a terminal; None where it does not."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return text if all(char.isprintable() or char in "\n\t" for char in text) else None
