"""Citations: where in the vendored documents a source stands, and the words there."""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

from conformance.specs import documents
from conformance.values import Source

_LONGEST = 300  # characters of a quotation


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a vendored document and what it says there."""

    document: str
    file: str  # from the top of a checkout: openapi/sources/…
    line: int  # 1-based
    text: str  # the quoted lines, at most 300 characters


def _quoted(lines: list[str]) -> str:
    """The lines without what they are all indented by and without blank ones, cut to the longest quotation."""
    kept = [line.rstrip() for line in lines if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in kept), default=0)
    text = "\n".join(line[margin:] for line in kept)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


@functools.cache
def _tree(name: str) -> Any:
    import yaml  # noqa: PLC0415 (importing the rules must not pay for it)

    block = documents.openapi_block(name)
    return None if block is None else yaml.compose(block.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _step(node: Any, token: str) -> tuple[Any, Any] | None:
    """Where the text of a member or entry begins, and the node that it holds; None where there is no such one."""
    if node.id == "mapping":
        return next(((key, value) for key, value in node.value if key.value == token), None)
    if node.id == "sequence" and re.fullmatch(r"0|[1-9][0-9]{0,5}", token) and int(token) < len(node.value):
        entry = node.value[int(token)]
        return entry, entry
    return None


def _by_pointer(source: Source) -> tuple[int, int]:
    """The lines of the document that hold the node: the first, and the one after the last; 0-based."""
    block = documents.openapi_block(source.document)
    if block is None:
        raise LookupError(
            f"{source.document} has no OpenAPI part that {source.anchor!r} could point into: quote its words"
        )
    node = begin = _tree(source.document)
    walked = "#"
    for token in source.anchor.removeprefix("#").split("/")[1:]:
        found = _step(node, token.replace("~1", "/").replace("~0", "~"))
        if found is None:
            raise LookupError(f"{source.document} has no {source.anchor!r}: {walked} has no member {token!r}")
        begin, node = found
        walked += f"/{token}"
    # the end of a block collection or block scalar is where the next token starts, that of any other scalar is its own
    follows = node.id != "scalar" or node.style in ("|", ">")
    after = node.end_mark.line if follows else node.end_mark.line + 1
    return block.line - 1 + begin.start_mark.line, block.line - 1 + after


def _by_words(source: Source, text: str) -> tuple[int, int, re.Match[str]]:
    words = source.anchor.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    if found is None:
        raise LookupError(f"{source.document} does not hold the words {source.anchor!r}")
    return text.count("\n", 0, found.start()), text.count("\n", 0, found.end()) + 1, found


@functools.cache
def citation(source: Source) -> Citation:
    """The place of a source and the lines there.

    LookupError, naming document and anchor, for one that does not resolve.
    """
    document = documents.document(source.document)
    text = documents.text(source.document)
    lines = text.split("\n")
    if source.anchor.startswith("#/"):
        first, after = _by_pointer(source)
        quoted = _quoted(lines[first:after])
    else:
        first, after, found = _by_words(source, text)
        quoted = _quoted(lines[first:after])
        if len("\n".join(lines[first:after])) > _LONGEST:
            quoted = _quoted([" ".join(found[0].split())])
    return Citation(document=document.name, file=f"openapi/{document.file}", line=first + 1, text=quoted)
