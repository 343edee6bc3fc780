from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.evidence.literals import document

TRICKY = (
    "\n",
    " \n",
    "\n\n a",
    " a\n\n\n",
    "a\n \n",
    "\t\n",
    "true",
    "No",
    "1.5",
    "~",
    "2026-11-29",
    "a: b",
    "- x",
    "#",
    "é\x85x",
)
TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\n\r\t :#-|>'\"\\%@`{}[]")) | st.sampled_from(TRICKY)
KEYS = TEXTS.filter(lambda text: len(text) < 100)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    max_leaves=6,
)


@settings(max_examples=50)
@given(st.dictionaries(KEYS, VALUES))
def test_any_safe_loader_reads_back_what_was_written(value):
    text = document(value)
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        assert (yaml.load(text, Loader=loader) or {}) == value  # noqa: S506 (both are safe)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("data: {}\n\ndata: [DONE]\n\n", "key: |+\n  data: {}\n\n  data: [DONE]\n\n"),
        ('{\n  "emoji": "🎉"\n}', 'key: |-\n  {\n    "emoji": "🎉"\n  }\n'),
        ('{"a": 1}', 'key: |-\n  {"a": 1}\n'),
        ("one line\n", "key: |\n  one line\n"),
        (["text/html"], "key: [text/html]\n"),
        (b"\xff\x00", "key: !!binary |\n  /wA=\n"),
    ],
)
def test_text_of_several_lines_and_json_stand_as_they_are(value, text):
    assert document({"key": value}) == text
