"""What the OpenAPI part of a document says: each sentence of a description, each keyword, example and status.

``$ref``, ``properties``, ``items`` and the names of schemas and properties only give the rest its place, so they are
no places of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.specs import documents
from conformance.specs.places import Place, Tree
from conformance.specs.schemas import escaped
from conformance.specs.sentences import normalised, sentences

_STATUS = re.compile(r"[1-5][0-9]{2}")
_METHODS = frozenset({"get", "put", "post", "delete", "patch"})


def openapi_places(name: str) -> Iterator[Place]:
    """Everything that the OpenAPI part of a document says, in its order; nothing where it has none."""
    block = documents.openapi_block(name)
    if block is None:
        return
    start = documents.text(name).index(block.text)
    walk = _Walk(name, Tree(name, start, start + len(block.text)))
    yield from walk.mapping(walk.tree.root, "#")


class _Walk:
    """One walk over the nodes of an OpenAPI document."""

    def __init__(self, name: str, tree: Tree) -> None:
        self.source = documents.text(name)
        self.tree = tree

    def mapping(self, node: Any, pointer: str) -> Iterator[Place]:
        for key, value in node.value:
            yield from self._member(key, value, f"{pointer}/{escaped(key.value)}")

    def _member(self, key: Any, value: Any, place: str) -> Iterator[Place]:
        name = key.value
        if name == "$ref":
            return
        if value.id == "scalar":
            yield from self._described(value, place) if name == "description" else self._whole(key, value, place)
        elif name == "examples":
            for label, example in value.value:
                yield self._example(label, example, f"{place}/{escaped(label.value)}")
        elif name == "security" or (value.id == "sequence" and all(entry.id == "scalar" for entry in value.value)):
            yield from self._whole(key, value, place)
        else:
            opening = _opening(name, value)
            if opening is not None:
                start, end = self.tree.span(key)
                yield Place(place=place, text=opening, start=start, end=end)
            yield from self._inside(value, place)

    def _inside(self, value: Any, place: str) -> Iterator[Place]:
        if value.id == "mapping":
            yield from self.mapping(value, place)
            return
        for number, entry in enumerate(value.value):
            if entry.id != "scalar":
                yield from self._inside(entry, f"{place}/{number}")

    def _described(self, value: Any, place: str) -> Iterator[Place]:
        start, end = self.tree.span(value)
        if value.style in ("|", ">"):
            start = self.source.index("\n", start)
        elif value.style in ("'", '"'):
            start, end = start + 1, end - 1
        for first, last in sentences(self.source, (start, end)):
            yield Place(place=place, text=normalised(self.source[first:last]), start=first, end=last)

    def _whole(self, key: Any, value: Any, place: str) -> Iterator[Place]:
        start, _ = self.tree.span(key)
        shown = value.value if value.id == "scalar" else ", ".join(_names(value))
        yield Place(place=place, text=f"{key.value}: {shown}", start=start, end=self._end(value))

    def _example(self, label: Any, example: Any, place: str) -> Place:
        summary = next((value.value for key, value in example.value if key.value == "summary"), "")
        start, _ = self.tree.span(label)
        return Place(place=place, text=f"{label.value}: {summary}", start=start, end=self._end(example))

    def _end(self, node: Any) -> int:
        """The end of a node's own text."""
        start, end = self.tree.span(node)
        return start + len(self.source[start:end].rstrip())


def _names(sequence: Any) -> Iterator[str]:
    for entry in sequence.value:
        yield entry.value if entry.id == "scalar" else ", ".join(key.value for key, _ in entry.value)


def _opening(name: str, value: Any) -> str | None:
    """What the name of a block says by itself: a path, a method, a status, a media type, the forms of a ``oneOf``."""
    if name == "oneOf":
        return f"oneOf: {', '.join(_form(option) for option in value.value)}"
    if _STATUS.fullmatch(name):
        return f"{name}: {_form(value)}".removesuffix(": ")
    if name in _METHODS:
        return name.upper()
    return name if "/" in name else None


def _form(node: Any) -> str:
    """A schema or response by the last part of its reference, else by its type."""
    members = {key.value: value for key, value in node.value}
    if "$ref" in members:
        return str(members["$ref"].value.rsplit("/", 1)[-1])
    return str(members["type"].value) if "type" in members else ""
