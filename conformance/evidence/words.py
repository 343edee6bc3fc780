"""Words replaced by others of the same shape, the same word always by the same one, so that what was equal stays equal.

A replacement has the same length in characters and in UTF-8 bytes, and the same case and digits at the same places;
numbers stay numbers and hexadecimal stays hexadecimal. Which word stands for which depends on a secret that is made for
each use and kept nowhere. Scripts without spaces are replaced character by character.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from string import ascii_lowercase

_MOST_WORDS = 500_000  # that are kept from meeting in one replacement
_TURNS = 60  # tries to find a word that holds no stop
KEPT = frozenset({"true", "false", "null", "True", "False", "None", "NaN"})
_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]+", re.DOTALL)
_DIGITS = re.compile(r"\d+|\D+")
_SCRIPTS = (  # first and last character of scripts in which a character stands alone
    ("\u4e00", "\u9fa5"),
    ("\u3041", "\u3096"),
    ("\u30a1", "\u30fa"),
    ("\uac00", "\ud7a3"),
)
_ALONE = "".join(f"{first}-{last}" for first, last in _SCRIPTS)
_TOKEN = (
    r"\\(?:u[0-9a-fA-F]{4}|.)"  # an escape, as JSON within text has it
    r"|</?[A-Za-z|!][\w|.:-]{0,60}/?>|\[/?[A-Z][A-Z_]{1,40}\]|◁/?\w{1,40}▷"  # markup
    r"|(?<=[:\[,])[ ]?-?\d[\d.eE+-]*+(?=\s*[,}\]])"  # a number of JSON within text
    r'|"[^"\\\n]{1,80}"(?=\s*:)'  # a key of JSON within text
    rf"|(?P<alone>[{_ALONE}])"
    rf"|(?P<number>\d+[eE][+-]?\d+)|(?P<word>[^\W_{_ALONE}]+)"
)


class Words:
    """One way of replacing words; two of them never agree."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._avoided: tuple[str, ...] = ()
        self._pattern = re.compile(_TOKEN, re.DOTALL)
        self._turns: dict[str, int] = {}  # words in lower case, and which try each of them took
        self._used: set[str] = set()

    def keep(self, literals: Iterable[str], stops: Iterable[str]) -> None:
        """From now on leave these as they are: literals where a word begins and ends, stops in any case and place.

        No replacement holds a stop by chance.
        """
        stops = [stop for stop in stops if stop]
        avoided = tuple(stop.lower() for stop in stops if stop.isalnum())
        if avoided != self._avoided:
            self._avoided = avoided
            self._turns.clear()
            self._used.clear()
        anywhere = [f"(?i:{re.escape(stop)})" for stop in sorted(stops, key=len, reverse=True)]
        words = [_bounded(literal) for literal in sorted(filter(None, literals), key=len, reverse=True)]
        self._pattern = re.compile("|".join([*anywhere, *words, _TOKEN]), re.DOTALL)

    def replaced(self, text: str) -> str:
        """The text with its words replaced."""
        return self._pattern.sub(self._one, text)

    def _one(self, match: re.Match[str]) -> str:
        text = match.group()
        if match.lastgroup == "number":
            return "".join(self._new(part) if part.isdecimal() else part for part in _DIGITS.findall(text))
        return self._new(text) if match.lastgroup in ("alone", "word") and text not in KEPT else text

    def _new(self, word: str) -> str:
        """The word's replacement, which is that of no other word and holds no stop, where that can be."""
        lower = word.lower()
        known = self._turns.get(lower)
        if known is not None:
            return self._shaped(word, known)
        if len(self._turns) >= _MOST_WORDS:
            return self._shaped(word, 0)
        tries = ((turn, self._shaped(lower, turn)) for turn in range(_TURNS))
        turn, new = next(((turn, new) for turn, new in tries if self._free(new)), (0, ""))
        self._turns[lower] = turn
        self._used.add(new)
        return self._shaped(word, turn)

    def _free(self, new: str) -> bool:
        return new not in self._used and not any(stop in new for stop in self._avoided)

    def _shaped(self, word: str, turn: int) -> str:
        if len(word) == 1:
            return _like(word, self._random(word.lower(), 4, turn), hexadecimal=False, first=True)
        hexadecimal = _HEX.fullmatch(word) is not None
        random = self._random(word.lower(), 4 * len(word), turn)
        parts: list[str] = []
        marked = hexadecimal
        for place, char in enumerate(word):
            new = _like(char, random[4 * place : 4 * place + 4], hexadecimal=hexadecimal, first=place == 0)
            if not marked and char.isascii() and char.isalpha() and char.lower() not in "abcdef":
                new = _cased(ascii_lowercase[6 + random[4 * place] % 20], char)  # stays beyond hexadecimal
                marked = True
            parts.append(new)
        return "".join(parts)

    def _random(self, word: str, size: int, turn: int) -> bytes:
        return hashlib.shake_256(self._key + bytes([turn]) + word.encode("utf-8", "surrogatepass")).digest(size)


def _bounded(literal: str) -> str:
    if len(literal) == 1:  # a letter is a word of its own in prose: it is meant where it is a value of JSON
        return rf'(?:\A|(?<=")){re.escape(literal)}(?=\Z|")'
    return rf"{_edge(literal[0], before=True)}{re.escape(literal)}{_edge(literal[-1], before=False)}"


def _edge(char: str, *, before: bool) -> str:
    """A literal that begins or ends with a letter is one only where the word does."""
    if not char.isalnum():
        return ""
    return r"(?<![^\W_])" if before else r"(?![^\W_])"


def _like(char: str, random: bytes, *, hexadecimal: bool, first: bool) -> str:
    number = int.from_bytes(random, "big")
    if char.isascii():
        if char.isdecimal():
            return char if first and char == "0" else str(1 + number % 9 if first else number % 10)
        return _cased("abcdef"[number % 6] if hexadecimal else ascii_lowercase[number % 26], char)
    for begin, end in _SCRIPTS:
        if begin <= char <= end:
            return chr(ord(begin) + number % (ord(end) - ord(begin) + 1))
    if not char.isalpha():
        return char
    size = len(char.encode("utf-8", "surrogatepass"))
    if size == 2:
        return chr((0xC0 if char.isupper() else 0xE0) + number % 23)
    return chr(0x0E01 + number % 40) if size == 3 else chr(0x20000 + number % 40_000)


def _cased(letter: str, like: str) -> str:
    return letter.upper() if like.isupper() else letter
