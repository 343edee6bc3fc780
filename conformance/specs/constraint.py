"""The constraints of a request schema, each named by its JSON pointer: what coverage of the schemas is counted in."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from conformance.specs.schemas import escaped, owner, shared_request
from conformance.specs.validation import referred, tags
from conformance.values import Protocol

KEYWORDS = frozenset(
    {
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "required",
        "oneOf",
        "anyOf",
        "not",
        "x-max-bytes",
    }
)


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """One keyword of a request schema that a request can break."""

    pointer: str  # as ``Breach.constraint``
    keyword: str
    rule: str | None = None  # the rule that owns it, where one owns it whatever the value
    inferred: bool = False  # no document states it: nothing may be demanded


class _Walk:
    """Collects the constraints of one standalone schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.definitions: dict[str, Any] = schema.get("$defs", {})
        self.found: dict[str, Constraint] = {}
        self._visit(schema, "", inferred=False, silent=frozenset())

    def _visit(self, node: dict[str, Any], pointer: str, *, inferred: bool, silent: frozenset[str]) -> None:
        """``silent`` keywords of the node, or of its ``type`` property, choose between forms and are never broken."""
        inferred = inferred or node.get("x-inferred") is True
        if "$ref" in node:
            name = node["$ref"].removeprefix("#/$defs/")
            pointer, node = f"/$defs/{escaped(name)}", self.definitions[name]
            inferred = inferred or node.get("x-inferred") is True
        keywords = set(KEYWORDS & (node.keys() - silent))
        owned = {keyword for keyword in keywords if (owner(node, keyword) or "").startswith("model.")}
        if owned:  # what a model's rule refuses has no other constraint that could be told from it
            keywords = owned if "not" in owned else owned | (keywords & {"type"})
            node = {**node, "properties": {}, "items": {}}
        for keyword in keywords:
            here = f"{pointer}/{keyword}"
            self.found[here] = Constraint(pointer=here, keyword=keyword, rule=owner(node, keyword), inferred=inferred)
        for name, child in node.get("properties", {}).items():
            inner = frozenset(
                entry.removeprefix("type.") for entry in silent if name == "type" and entry.startswith("type.")
            )
            self._visit(child, f"{pointer}/properties/{escaped(name)}", inferred=inferred, silent=inner)
        if "items" in node:
            self._visit(node["items"], f"{pointer}/items", inferred=inferred, silent=frozenset())
        for keyword in ("oneOf", "anyOf"):
            self._options(node.get(keyword, []), f"{pointer}/{keyword}", inferred=inferred)

    def _options(self, options: list[dict[str, Any]], pointer: str, *, inferred: bool) -> None:
        known = [referred(self.definitions, option) for option in options]
        for number, option in enumerate(options):
            silent = {"type"}
            alone = sum(entry.get("type") == known[number].get("type") for entry in known) == 1
            if not alone:
                silent.add("type.not")
                if tags(known[number]) is not None:
                    silent |= {"type.type", "type.enum", "type.const"}
                    if known[number].get("required") == ["type"]:
                        silent.add("required")
            self._visit(option, f"{pointer}/{number}", inferred=inferred, silent=frozenset(silent))


@functools.cache
def constraints(protocol: Protocol, model: str) -> tuple[Constraint, ...]:
    """Every keyword of the request schema that a request can break, in the order of their pointers.

    Left out is what only tells the forms of a ``oneOf`` apart: there the ``oneOf`` itself is what breaks.
    """
    found = _Walk(shared_request(protocol, model)).found
    return tuple(found[pointer] for pointer in sorted(found))
