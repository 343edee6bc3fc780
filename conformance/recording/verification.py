"""What is wrong with a folder of cassettes: unreadable, unused, outdated, mixed, or holding a secret."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conformance import specs
from conformance.evidence import Unreadable, beside
from conformance.evidence.replayable import Interaction
from conformance.recording.cassette import Cassette, Provenance, load, name_of, provenance_of
from conformance.recording.library import Library, Mixed
from conformance.recording.shapes import shapes_in
from conformance.redact import HIDDEN_HEADERS, PLACEHOLDER, Secrets, address
from conformance.values import Protocol

Use = tuple[str, Protocol, str]
"""A probe with its surface and model."""

MOST_STEPS = 100_000  # that are looked for
_FOLDERS = ", ".join(protocol.value for protocol in Protocol)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong with one file, or with the folder."""

    path: Path
    reason: str


def problems(library: Library, used: Container[Use], keys: Iterable[str] = ()) -> Iterator[Problem]:
    """Everything that is wrong; secrets are looked for by shape and by the values of ``keys``, and never shown."""
    try:
        if library.provenance() is None:
            hint = f"; cassettes lie in its folders {_FOLDERS}" if any(library.folder.glob("*.yaml")) else ""
            yield Problem(path=library.folder, reason=f"there is no cassette here{hint}")
    except Mixed as error:
        yield Problem(path=library.folder, reason=f"not of one run: {error}")
    except Unreadable:
        pass  # told below, with its file
    secrets = Secrets(keys)
    for path in library.paths():
        with suppress(Unreadable):  # told below
            yield from (Problem(path=path, reason=reason) for reason in _origin(provenance_of(path), path, used))
        try:
            cassette = load(path)
            inside = list(_secrets(cassette, secrets))
            outside = _outside(cassette, path, secrets) if not inside else ()
            for reason in (*_lacking(cassette), *inside, *outside):
                yield Problem(path=path, reason=reason)
        except Unreadable as error:
            yield Problem(path=Path(error.path), reason=error.reason)
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


def _origin(row: Provenance, path: Path, used: Container[Use]) -> Iterator[str]:
    if not str(path).replace("\\", "/").endswith(name_of(row.probe, row.protocol, row.model)):
        yield f"its name does not fit what it says that it is of: {row.probe}/{row.protocol}/{row.model}"
    elif (row.probe, row.protocol, row.model) not in used:
        yield "no probe of the suite plays it any more"
    now = {document.name: document.sha256 for document in specs.sources() if document.protocol is row.protocol}
    changed = sorted(name for name in now if row.specs.get(name) != now[name])
    if changed:
        yield f"recorded for another edition of the documents {', '.join(changed)}; record it again"


def _lacking(cassette: Cassette) -> Iterator[str]:
    """What was recorded and is there no more, so that a replay decides otherwise."""
    steps = {one.step for one in cassette.interactions}
    missing = [str(step) for step in range(1, min(max(steps), MOST_STEPS)) if step not in steps]
    if missing:
        yield f"without step{'s' * (len(missing) > 1)} {', '.join(missing[:10])}; record it again"
    for one in cassette.interactions:
        if not one.live:
            yield f"step {one.step}: its parts and when they came are not kept; record it again"


def _secrets(cassette: Cassette, secrets: Secrets) -> Iterator[str]:
    found: dict[str, None] = {}
    for one in cassette.interactions:
        for name, value in (*one.request.headers, *(one.response.headers if one.response else ())):
            hidden = name.lower() in HIDDEN_HEADERS or name.lower() == "authorization"
            if hidden and value.rpartition(" ")[2] != PLACEHOLDER:
                found[f"step {one.step} holds a secret: the value of {name}"] = None
        for kind in (*_held(_everything(one), secrets), *_addressed((one.request.url,))):
            found[f"step {one.step} holds a secret: {kind}"] = None
    yield from found


def _outside(cassette: Cassette, path: Path, secrets: Secrets) -> Iterator[str]:
    """Secrets in what is said of a cassette, and in what no reader of it sees: comments, other fields."""
    row = cassette.provenance
    near = beside.path_of(path)
    try:
        data = path.read_bytes() + (near.read_bytes() if near.is_file() else b"")
    except OSError as error:
        raise Unreadable(str(path), error.strerror or str(error)) from None
    for kind in (*_held(data, secrets), *_addressed((row.target, *row.base_urls, row.limited or ""))):
        yield f"holds a secret outside its exchanges: {kind}"


def _held(data: bytes, secrets: Secrets) -> Iterator[str]:
    yield from shapes_in(data)
    text = data.decode("utf-8", "replace")
    if secrets.text(text) != text:
        yield "the key that is in use now"


def _addressed(urls: Iterable[str]) -> Iterator[str]:
    if any(address(url) != url for url in urls):
        yield "credentials in an address"


def _everything(one: Interaction) -> bytes:
    headers = (*one.request.headers, *(one.response.headers if one.response else ()))
    body = one.shown if isinstance(one.shown, bytes) else one.shown.encode("utf-8", "surrogatepass")
    parts = [one.request.url.encode("utf-8", "surrogatepass"), body]
    parts += [f"{name}: {value}".encode("utf-8", "surrogatepass") for name, value in headers]
    parts += [b"".join(chunk.data for chunk in one.response.chunks)] if one.response else []
    parts += [one.failure.message.encode("utf-8", "surrogatepass")] if one.failure else []
    return b"\n".join(parts)
