"""What a page says outside its OpenAPI part: sentences, the lines about each field, commands and example answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from conformance.specs import documents
from conformance.specs.places import Place, Tree
from conformance.specs.schemas import escaped
from conformance.specs.sentences import Span, normalised, sentences, trimmed

_COMMAND = re.compile(r"curl --request [^{]*?--data '\s*(?=\{)")
_DATA = re.compile(r"--data '\s*$")
_SPACE = re.compile(r"\s*")
_WHOLE = re.compile(  # what is one piece although it has no full stop, spans lines or shares its line with another
    r"Available options:\s+(?:[^\s,]+,\s+)*[^\s,]+"
    r"|Example:\s+\S+"
    r"|[^\n]*\(\n(?:[^\n]*\n)*?\)(?=\n)"  # a program, to its closing bracket
    r"|[0-9]+ <= x <= [0-9]+"
    r"|[0-9]+(?=Show child|- Option)"
    r"|(?:[a-z0-9_.-]+, )+[a-z0-9_.-]+(?= [A-Z\"])"
)
_SECTIONS = frozenset({"Authorizations", "Body", "Response"})
_MENU = "Image Series"  # where the site's menu begins; the page ends there
_FIELD = re.compile(r"[A-Za-z_]+")
_NOT_FIELDS = frozenset({"string", "integer", "number", "boolean", "object", "header", "required"})


def page_places(name: str) -> Iterator[Place]:
    """Everything that a document says outside its OpenAPI part, in its order."""
    text = documents.text(name)
    block = documents.openapi_block(name)
    page = _Page(name)
    if block is None:
        yield from page.region((0, len(text)))
        return
    start = text.index(block.text)
    yield from page.region((0, start))
    page.section = "Footer"
    yield from page.region((start + len(block.text), len(text)))


class _Page:
    """One reading of a page, which remembers the section and the field that it has come to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = documents.text(name)
        self.section = "Introduction"
        self.field = ""
        self.examples = 0

    def region(self, span: Span) -> Iterator[Place]:
        start, end = span
        for command in _COMMAND.finditer(self.text, start, end):
            yield from self._prose((start, command.start()))
            self.examples += 1
            start = command.end()
            for place in self._example(command.span(), f"Example {self.examples}"):
                yield place
                start = place.end
            start = self._after_answers(start)
        yield from self._prose((start, end))

    def _prose(self, span: Span) -> Iterator[Place]:
        start, end = span
        while start < end:
            start = _skipped(self.text, start)
            found = _WHOLE.match(self.text, start, end)
            if found is not None:
                yield self._piece(found.span())
                start = found.end()
                continue
            line_end = self.text.find("\n", start, end)
            line_end = end if line_end < 0 else line_end
            for sentence in sentences(self.text, (start, line_end)):
                yield self._piece(sentence)
            start = line_end + 1

    def _piece(self, span: Span) -> Place:
        text = normalised(self.text[slice(*span)])
        self._enter(text)
        place = f"{self.section}/{self.field}" if self.field else self.section
        return Place(place=place, text=text, start=span[0], end=span[1])

    def _enter(self, text: str) -> None:
        """Follow the page into a section or to a field."""
        if self.section == "Menu":
            return
        if text in _SECTIONS or text == _MENU:
            self.section, self.field = ("Menu" if text == _MENU else text), ""
        elif self.section in _SECTIONS and _FIELD.fullmatch(text) and text not in _NOT_FIELDS:
            self.field = text

    def _example(self, command: Span, title: str) -> Iterator[Place]:
        """A curl command, line by line, its body, and the answers that follow: the success first, then the errors."""
        start, body = command
        data = _DATA.search(self.text, start, body)
        options = data.start() if data else body
        for line in re.finditer(r"[^\n]+", self.text[start:options]):
            kept = trimmed(self.text, (start + line.start(), start + line.end()))
            if kept is not None:
                words = normalised(self.text[slice(*kept)].removesuffix("\\"))
                yield Place(place=f"{title}/request", text=words, start=kept[0], end=kept[1])
        value, end = self._json(body)
        quote = self.text.index("'", end) + 1
        shown = f"--data {json.dumps(value, ensure_ascii=False)}"
        yield Place(place=f"{title}/request", text=shown, start=options, end=quote)
        for number, (first, last) in enumerate(self._answers(quote)):
            label = f"error {number}" if number else "answer"
            tree = Tree(self.name, first, last)
            yield from _members(tree, tree.root, f"{title}/{label}")

    def _json(self, start: int) -> tuple[Any, int]:
        value, end = json.JSONDecoder().raw_decode(self.text, start)
        return value, end

    def _answers(self, start: int) -> Iterator[Span]:
        """The JSON values that stand one after another from an offset on."""
        while True:
            start = _skipped(self.text, start)
            if not self.text.startswith("{", start):
                return
            _, end = self._json(start)
            yield start, end
            start = end

    def _after_answers(self, start: int) -> int:
        """The offset behind the brackets that close the last answer."""
        found = re.compile(r"[\s}\]]*").match(self.text, start)
        return found.end() if found else start


def _skipped(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _members(tree: Tree, node: Any, place: str) -> Iterator[Place]:
    """Each field of an example answer: a scalar with its value, an object or array by its name."""
    if node.id == "sequence":
        for number, entry in enumerate(node.value):
            yield from _members(tree, entry, f"{place}/{number}")
        return
    for key, value in node.value if node.id == "mapping" else ():
        here = f"{place}/{escaped(key.value)}"
        start, end = tree.span(key)
        if value.id == "scalar":
            yield Place(place=here, text=f"{key.value}: {value.value}", start=start, end=tree.span(value)[1])
            continue
        kind = "object" if value.id == "mapping" else "array"
        yield Place(place=here, text=f"{key.value}: {kind}", start=start, end=end)
        yield from _members(tree, value, here)
