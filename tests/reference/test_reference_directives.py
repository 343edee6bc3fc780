"""What prompts can ask for in plain words."""

from __future__ import annotations

import pytest

from conformance.reference.directives import text_for
from conformance.reference.wording import equalities, subjects


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Reply with OK.", "OK"),
        ("Reply with the word OK and nothing else.", "OK"),
        ('Please reply with "two words".', "two words"),
        ("Some lines before.\n\nReply with OK.", "OK"),
        ("Reply with OK. Then stop.", "OK"),
        ("Reply with the number only.", None),
        ("Reply with exactly: A. B.\nC", "A. B.\nC"),
        ("Repeat this exactly, with nothing before or after: 漢字 😀 עברית\u2028x", "漢字 😀 עברית\u2028x"),
        ("Repeat this exactly: Reply with NO.", "Reply with NO."),
        ("Count from 1 to 5, separated by spaces.", "1 2 3 4 5"),
        ("Count from 3 to 1, one per line.", "3\n2\n1"),
        ("count from 8 to 10, separated by commas", "8, 9, 10"),
        ("Return a JSON object with result equal to OK.", '{"result": "OK"}'),
        ("What is the time?", None),
    ],
)
def test_text_asked_for(words: str, text: str | None) -> None:
    assert text_for(words, 1000) == text


@pytest.mark.parametrize(("words", "number"), [("Write 12 words about tides.", 12), ("Write a story of 40 words", 40)])
def test_words_are_as_many_as_asked_for(words: str, number: int) -> None:
    assert len(text_for(words, 1000).split()) == number


@pytest.mark.parametrize("words", ["Count from 1 to 999999999", "Write 9999999 words"])
def test_long_texts_stop_soon_after_the_limit(words: str) -> None:
    assert 100 < len(text_for(words, 100).split()) < 110


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call get_weather for Paris and for Rome.", ("Paris", "Rome")),
        ("Check today's weather in Beijing.", ("Beijing",)),
        ("the weather in Paris, Rome and New York", ("Paris", "Rome", "New York")),
        ("the weather in Paris, France", ("Paris, France",)),
        ("查一下天气 for 北京", ("北京",)),
        ("nothing here", ()),
    ],
)
def test_subjects(text: str, found: tuple[str, ...]) -> None:
    assert subjects(text) == found


def test_equalities() -> None:
    assert equalities('with Result equal to OK, and note set to "a b".') == {"result": "OK", "note": "a b"}
