"""A short string that a regular expression finds a match in.

Covers what patterns in JSON Schemas use: literals, classes, groups, alternation, quantifiers, anchors. Lookaround and
back-references are not followed: the pattern is then unsupported.
"""

from __future__ import annotations

from typing import NamedTuple

_MOST_REPEATS = 1000
_MOST_CHARACTERS = 10_000
_CLASSES = {"d": "0", "D": "a", "w": "a", "W": "-", "s": " ", "S": "a", "n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_EXAMPLES = "aA0_- .b1Z,:/@#+zxé中~"


class Unsupported(ValueError):
    """The pattern uses what this generator does not follow."""


class _Node(NamedTuple):
    """A part read: the string that it makes, and the place after it."""

    text: str
    end: int


def matching(pattern: str, choice: int = 0) -> str:
    """A string for the pattern; ``choice`` varies members, alternatives and open repetitions. Raises Unsupported."""
    try:
        node = _alternation(pattern, 0, choice)
    except (IndexError, RecursionError, ValueError) as error:
        raise Unsupported(pattern[:100]) from error
    if node.end != len(pattern):
        raise Unsupported(pattern[:100])
    return node.text


def _alternation(pattern: str, at: int, choice: int) -> _Node:
    options: list[str] = []
    while True:
        node = _sequence(pattern, at, choice)
        options.append(node.text)
        at = node.end
        if at >= len(pattern) or pattern[at] != "|":
            return _Node(options[choice % len(options)], at)
        at += 1


def _sequence(pattern: str, at: int, choice: int) -> _Node:
    made: list[str] = []
    while at < len(pattern) and pattern[at] not in "|)":
        node = _atom(pattern, at, choice)
        least, most, at = _quantifier(pattern, node.end)
        repeats = least if choice == 0 else min(most, least + choice)
        if repeats > _MOST_REPEATS or repeats * len(node.text) > _MOST_CHARACTERS:
            raise Unsupported(pattern[:100])
        made.append(node.text * repeats)
    return _Node("".join(made), at)


def _atom(pattern: str, at: int, choice: int) -> _Node:
    char = pattern[at]
    if char in "^$":
        return _Node("", at + 1)
    if char == ".":
        return _Node("a", at + 1)
    if char == "[":
        return _class(pattern, at + 1, choice)
    if char == "\\":
        return _escape(pattern, at + 1, choice)
    if char == "(":
        return _group(pattern, at + 1, choice)
    if char in "*+?":
        raise Unsupported(pattern[:100])
    return _Node(char, at + 1)


def _group(pattern: str, at: int, choice: int) -> _Node:
    if pattern.startswith("?:", at):
        at += 2
    elif pattern.startswith(("?<=", "?<!"), at):
        raise Unsupported(pattern[:100])
    elif pattern.startswith(("?P<", "?<"), at):
        at = pattern.index(">", at) + 1
    elif pattern[at] == "?":
        raise Unsupported(pattern[:100])
    node = _alternation(pattern, at, choice)
    if pattern[node.end] != ")":
        raise Unsupported(pattern[:100])
    return _Node(node.text, node.end + 1)


def _escape(pattern: str, at: int, choice: int = 0) -> _Node:
    char = pattern[at]
    if char in "dw" and choice:
        return _Node(chr(ord(_CLASSES[char]) + choice % (10 if char == "d" else 26)), at + 1)
    if char in "bB":
        return _Node("", at + 1)
    if char == "u":
        return _Node(chr(int(pattern[at + 1 : at + 5], 16)), at + 5)
    if char == "x":
        return _Node(chr(int(pattern[at + 1 : at + 3], 16)), at + 3)
    if char.isdigit() or char in "pPkAZ":
        raise Unsupported(pattern[:100])
    return _Node(_CLASSES.get(char, char), at + 1)


def _class(pattern: str, at: int, choice: int) -> _Node:
    """One member of a bracket class; of a negated one, the first example that is not a member."""
    negated = pattern[at] == "^"
    at += negated
    members: list[tuple[int, int]] = []
    first = True
    while pattern[at] != "]" or first:
        first = False
        if pattern[at] == "\\" and pattern[at + 1] in "dDwWsS":
            members += _shorthand(pattern[at + 1])
            at += 2
            continue
        low = _escape(pattern, at + 1) if pattern[at] == "\\" else _Node(pattern[at], at + 1)
        at, high = low.end, low
        if pattern[at] == "-" and pattern[at + 1] != "]":
            high = _escape(pattern, at + 2) if pattern[at + 1] == "\\" else _Node(pattern[at + 1], at + 2)
            at = high.end
        members.append((ord(low.text), ord(high.text)))
    if not negated:
        low_end, high_end = members[choice % len(members)] if members[0][0] == members[0][1] else members[0]
        return _Node(chr(low_end + choice % (high_end - low_end + 1)), at + 1)
    free = (char for char in _EXAMPLES if not any(low <= ord(char) <= high for low, high in members))
    text = next(free, None)
    if text is None:
        raise Unsupported(pattern[:100])
    return _Node(text, at + 1)


def _shorthand(char: str) -> list[tuple[int, int]]:
    ranges = {
        "d": [(48, 57)],
        "w": [(97, 122), (65, 90), (48, 57), (95, 95)],
        "s": [(32, 32), (9, 13)],
        "D": [(97, 122), (58, 0x10FFFF), (0, 47)],
        "W": [(45, 45), (32, 47), (58, 64), (91, 94), (123, 126)],
        "S": [(97, 122), (33, 0x10FFFF)],
    }
    return ranges[char]


def _quantifier(pattern: str, at: int) -> tuple[int, int, int]:
    """Least and most repeats of what was just read, and the place after the quantifier."""
    if at >= len(pattern):
        return 1, 1, at
    simple = {"*": (0, _MOST_REPEATS), "+": (1, _MOST_REPEATS), "?": (0, 1)}
    if pattern[at] in simple:
        least, most = simple[pattern[at]]
        at += 1
    elif pattern[at] == "{" and pattern[at + 1].isdigit():
        end = pattern.index("}", at)
        low, comma, high = pattern[at + 1 : end].partition(",")
        least = int(low)
        most = int(high) if high else (_MOST_REPEATS if comma else least)
        at = end + 1
    else:
        return 1, 1, at
    return least, most, at + 1 if at < len(pattern) and pattern[at] in "?+" else at
