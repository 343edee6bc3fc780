"""OpenAPI Overlay 1.0: apply the actions of an overlay document to an OpenAPI document.

Targets are JSONPath (RFC 9535) of names, indexes and wildcards: ``$.a['b/c'][0].*``. More is refused, not guessed at.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

_SEGMENT = re.compile(
    r"""\.(?P<name>[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*)
      | \.(?P<any>\*)
      | \[\s*(?:'(?P<single>(?:[^'\\]|\\['\\])*)'|"(?P<double>(?:[^"\\]|\\["\\])*)"
               |(?P<index>-?(?:0|[1-9][0-9]*))|(?P<every>\*))\s*\]""",
    re.VERBOSE,
)

Segment = str | int | None  # a member name, an index, or None for every child
Place = tuple[Any, str | int]  # a container and the key under which the node stands in it


class OverlayError(ValueError):
    """An overlay that cannot be applied: says which action, and why."""


def segments(path: str) -> tuple[Segment, ...]:
    """The parsed JSONPath; OverlayError for what this subset does not know."""
    if not path.startswith("$"):
        raise OverlayError(f"a JSONPath starts with $, not {path!r}")
    found: list[Segment] = []
    position = 1
    while position < len(path):
        match = _SEGMENT.match(path, position)
        if match is None:
            raise OverlayError(f"only names, indexes and * are understood in a target: {path!r} at {position}")
        position = match.end()
        groups = match.groupdict()
        if groups["index"] is not None:
            found.append(int(groups["index"]))
        elif groups["any"] or groups["every"]:
            found.append(None)
        else:
            quoted = groups["single"] if groups["single"] is not None else groups["double"]
            found.append(groups["name"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
    return tuple(found)


def _children(node: Any, segment: Segment) -> Iterator[str | int]:
    if isinstance(node, dict):
        if segment is None:
            yield from list(node)
        elif isinstance(segment, str) and segment in node:
            yield segment
    elif isinstance(node, list):
        if segment is None:
            yield from range(len(node))
        elif isinstance(segment, int) and -len(node) <= segment < len(node):
            yield segment % len(node)


def places(document: Any, path: str) -> list[Place]:
    """Where the nodes that a target selects stand; the document itself must be wrapped to be selected by ``$``."""
    holder = {"$": document}
    found: list[Place] = [(holder, "$")]
    for segment in segments(path):
        found = [(container[key], child) for container, key in found for child in _children(container[key], segment)]
    return found


def _merge(target: dict[str, Any], update: dict[str, Any], where: str) -> None:
    for key, value in update.items():
        present = target.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value, f"{where}.{key}")
        elif isinstance(present, (dict, list)):
            raise OverlayError(
                f"{where}.{key} is there already ({type(present).__name__}): remove it first, or append to an array"
            )
        else:
            target[key] = copy.deepcopy(value)


def _act(document: dict[str, Any], action: Any, number: int) -> None:
    if not isinstance(action, dict) or not isinstance(action.get("target"), str):
        raise OverlayError(f"action {number} has no target")
    target = action["target"]
    if not action.get("description"):
        raise OverlayError(f"action {number} ({target}) gives no reason in its description")
    found = places(document, target)
    if not found:
        raise OverlayError(f"action {number}: the target {target} selects nothing")
    if action.get("remove") is True:
        for container, key in reversed(found):
            del container[key]
        return
    if "update" not in action:
        raise OverlayError(f"action {number} ({target}) has neither update nor remove")
    update = action["update"]
    for container, key in found:
        node = container[key]
        if isinstance(node, list):
            node.append(copy.deepcopy(update))
        elif isinstance(node, dict) and isinstance(update, dict):
            _merge(node, update, target)
        else:
            raise OverlayError(
                f"action {number}: {type(update).__name__} cannot update the {type(node).__name__} at {target}"
            )


def apply(document: dict[str, Any], overlay: Any) -> dict[str, Any]:
    """A new document with the overlay's actions carried out in order; the one passed in stays as it is.

    An action whose target selects nothing is an error, and so is an update that would replace an object or array that
    is there: implementations of the specification differ in what they do then.
    """
    if not isinstance(overlay, dict) or not str(overlay.get("overlay", "")).startswith("1."):
        raise OverlayError("not an Overlay 1.x document: it has no field overlay: 1.0.0")
    actions = overlay.get("actions")
    if not isinstance(actions, list) or not actions:
        raise OverlayError("an overlay has at least one action")
    changed = copy.deepcopy(document)
    for number, action in enumerate(actions, 1):
        _act(changed, action, number)
    return changed
