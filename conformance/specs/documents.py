"""The five vendored documents: what each covers, its text, and the OpenAPI part of two of them."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path

import msgspec

from conformance.values import Protocol

_FENCED = re.compile(r"^````yaml[^\n]*\n(.*?)^````[ \t]*$", re.DOTALL | re.MULTILINE)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One vendored document, as received."""

    name: str  # the key that sources cite: messages-all, responses, chat-k31, messages-k31 or chat-all
    file: str  # below the openapi directory, with forward slashes
    sha256: str
    title: str
    protocol: Protocol
    models: tuple[str, ...]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """The OpenAPI part of a document."""

    line: int  # of the document, 1-based, on which the text begins
    text: str


@functools.cache
def root() -> Path:
    """The directory of the OpenAPI documents: inside the installed package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_data" / "openapi"
    return installed if installed.is_dir() else package.parent / "openapi"


@functools.cache
def sources() -> tuple[Document, ...]:
    """The vendored documents, in the order of sources.toml."""
    table = tomllib.loads((root() / "sources" / "sources.toml").read_text(encoding="utf-8"))
    return tuple(
        msgspec.convert({**row, "name": name, "file": f"sources/{row['file']}"}, Document, strict=True)
        for name, row in table.items()
    )


def spec_hashes() -> dict[str, str]:
    """Document name to the sha256 of its bytes."""
    return {document.name: document.sha256 for document in sources()}


def document(name: str) -> Document:
    """The document of that name; LookupError naming the known ones."""
    for row in sources():
        if row.name == name:
            return row
    known = ", ".join(row.name for row in sources())
    raise LookupError(f"no vendored document is called {name!r}; there are {known}")


@functools.cache
def text(name: str) -> str:
    """The text of a document, exactly as received (no line end is translated)."""
    return (root() / document(name).file).read_bytes().decode("utf-8")


@functools.cache
def openapi_block(name: str) -> Block | None:
    """The fenced OpenAPI part of a document, byte for byte; None where a document has none."""
    whole = text(name)
    found = _FENCED.search(whole)
    if found is None:
        return None
    return Block(line=whole.count("\n", 0, found.start(1)) + 1, text=found[1])
