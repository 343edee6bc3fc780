"""Texts that hypothesis draws: characters of every plane, prompts that make sense, stop sequences at their limit."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

OK = "Reply with OK."
MOST_BYTES = 32  # of a stop sequence
LONG = 1100  # words: more tokens than the least that a cache keeps
_PLANES = ((0x20, 0x7E), (0xA0, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x1FFFF), (0x20000, 0x10FFFF))
_NAME = "abcdefghijklmnopqrstuvwxyz_-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_AWKWARD = (
    "\U0001f469\u200d\U0001f4bb",  # one picture of three code points
    "e\u0301",  # a letter and its accent
    "\u202eabc\u202c",  # right to left
    "\ufeff",
    "a\r\nb\tc",
    "\u2028",
    "data: [DONE]\n\n",
    '"}]}',
    "<|im_end|>",
    "\\u0041",
    "止まれ",
)


@functools.cache
def characters() -> st.SearchStrategy[str]:
    """One character, of any plane; neither a lone surrogate nor U+0000."""
    return st.one_of(*(st.characters(min_codepoint=first, max_codepoint=last) for first, last in _PLANES))


@functools.cache
def texts(most: int = 24) -> st.SearchStrategy[str]:
    """A text of one to ``most`` characters, or an awkward one."""
    return st.text(characters(), min_size=1, max_size=most) | st.sampled_from(_AWKWARD)


@functools.cache
def _words() -> st.SearchStrategy[str]:
    """A text that is more than blanks: an answer that gives it back is not empty."""
    return texts().filter(str.strip)


@functools.cache
def names() -> st.SearchStrategy[str]:
    """A name as functions and schemas bear it."""
    return st.sampled_from(("add", "book", "get_weather", "a-b_C9", "_", "N" * 64)) | st.text(
        _NAME, min_size=1, max_size=12
    )


@functools.cache
def prompts() -> st.SearchStrategy[str]:
    """Words of a user: for a reply, an echo, a count, many words, a free text; seldom longer than a cache needs."""
    return st.one_of(
        st.just(OK),
        _words().map(lambda text: f"Reply with exactly: {text}"),
        _words().map(lambda text: f"Repeat this exactly, with nothing before or after: {text}"),
        st.integers(1, 60).map(lambda last: f"Count from 1 to {last}."),
        st.integers(1, 60).map(lambda count: f"Write {count} words about rivers."),
        texts(60).map(lambda text: f"Hello {text}"),
        st.integers(LONG, LONG + 400).map(lambda count: "river " * count + OK),
    )


@functools.cache
def stop_sequences() -> st.SearchStrategy[str]:
    """A stop sequence within its limit: a word, any short text, or exactly 32 bytes that end in a longer character."""
    return st.one_of(
        st.sampled_from(("STOP", "3", "OK", " four", "\n", "river")).filter(str.strip),
        texts(8).filter(_fits),
        st.sampled_from(("x", "é", "止", "\U0001f600")).map(_exact),
    )


def _fits(text: str) -> bool:
    return len(text.encode()) <= MOST_BYTES and bool(text.strip())


def _exact(last: str) -> str:
    return "x" * (MOST_BYTES - len(last.encode())) + last
