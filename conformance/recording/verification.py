"""What is wrong with a folder of cassettes: unreadable, unused, outdated, mixed, or holding a secret."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance import specs
from conformance.evidence import Unreadable
from conformance.evidence.replayable import Interaction
from conformance.recording.cassette import Cassette, load, name_of
from conformance.recording.library import Library, Mixed
from conformance.redact import HIDDEN_HEADERS, PLACEHOLDER, Secrets
from conformance.values import Protocol

Use = tuple[str, Protocol, str]
"""A probe with its surface and model."""

SHAPES = {
    "a key": re.compile(rb"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
    "a bearer token": re.compile(rb"\bBearer\s+(?!REDACTED)[A-Za-z0-9._~+/-]{16,}"),
    "basic credentials": re.compile(rb"\bBasic\s+[A-Za-z0-9+/]{12,}={0,2}"),
    "a JSON web token": re.compile(rb"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    "an access key of AWS": re.compile(rb"\bAKIA[0-9A-Z]{16}\b"),
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong with one file, or with the folder."""

    path: Path
    reason: str


def problems(library: Library, used: Container[Use], keys: Iterable[str] = ()) -> Iterator[Problem]:
    """Everything that is wrong; secrets are looked for by shape and by the values of ``keys``, and never shown."""
    try:
        if library.provenance() is None:
            yield Problem(path=library.folder, reason="there is no cassette here")
    except Mixed as error:
        yield Problem(path=library.folder, reason=f"not of one run: {error}")
    except Unreadable:
        pass  # told below, with its file
    secrets = Secrets(keys)
    for path in library.paths():
        try:
            cassette = load(path)
        except Unreadable as error:
            yield Problem(path=path, reason=error.reason)
            continue
        for reason in (*_origin(cassette, path, used), *_secrets(cassette, secrets)):
            yield Problem(path=path, reason=reason)
    for path in library.strays():
        yield Problem(path=path, reason="the cassette that it belongs to is not there")


def unused(library: Library, used: Container[Use]) -> Iterator[Path]:
    """Cassettes that no probe plays any more, and files beside cassettes that are gone.

    Raises ``Unreadable`` for a cassette that does not say what it is of.
    """
    for path, row in library.provenances.items():
        if (row.probe, row.protocol, row.model) not in used:
            yield path
    yield from library.strays()


def _origin(cassette: Cassette, path: Path, used: Container[Use]) -> Iterator[str]:
    row = cassette.provenance
    if not str(path).replace("\\", "/").endswith(name_of(row.probe, row.protocol, row.model)):
        yield f"its name does not fit what it says that it is of: {row.probe}/{row.protocol}/{row.model}"
    elif (row.probe, row.protocol, row.model) not in used:
        yield "no probe of the suite plays it any more"
    now = {document.name: document.sha256 for document in specs.sources() if document.protocol is row.protocol}
    changed = sorted(name for name in now if row.specs.get(name) != now[name])
    if changed:
        yield f"recorded for another edition of the documents {', '.join(changed)}; record it again"


def _secrets(cassette: Cassette, secrets: Secrets) -> Iterator[str]:
    found: dict[str, None] = {}
    for one in cassette.interactions:
        for name, value in (*one.request.headers, *(one.response.headers if one.response else ())):
            hidden = name.lower() in HIDDEN_HEADERS or name.lower() == "authorization"
            if hidden and value.rpartition(" ")[2] != PLACEHOLDER:
                found[f"step {one.step} holds a secret: the value of {name}"] = None
        data = _everything(one)
        for kind, shape in SHAPES.items():
            if shape.search(data):
                found[f"step {one.step} holds a secret: {kind}"] = None
        text = data.decode("utf-8", "replace")
        if secrets.text(text) != text:
            found[f"step {one.step} holds a secret: the key that is in use now"] = None
    yield from found


def _everything(one: Interaction) -> bytes:
    headers = (*one.request.headers, *(one.response.headers if one.response else ()))
    body = one.shown if isinstance(one.shown, bytes) else one.shown.encode("utf-8", "surrogatepass")
    parts = [one.request.url.encode("utf-8", "surrogatepass"), body]
    parts += [f"{name}: {value}".encode("utf-8", "surrogatepass") for name, value in headers]
    parts += [b"".join(chunk.data for chunk in one.response.chunks)] if one.response else []
    parts += [one.failure.message.encode("utf-8", "surrogatepass")] if one.failure else []
    return b"\n".join(parts)
