from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
from counting import takes_linear_time
from hypothesis import given
from hypothesis import strategies as st

from conformance.protocols import MISSING
from conformance.protocols import json_text as subject
from conformance.protocols.json_text import JsonText, escape, read_bytes, read_text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.booleans())
def test_every_json_value_is_read(value: object, ascii_only: bool) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8")
    assert read_bytes(written) == JsonText(value=value)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"{", "expecting property name enclosed in double quotes at byte 1"),
        (b'{"a": }', "no JSON value at byte 6"),
        ('{"世": }'.encode(), "no JSON value at byte 8"),
        (b'{"a": 1} {"b": 2}', "text after the JSON value at byte 9"),
        (b'{"a": 1}\n\ndata: [DONE]', "text after the JSON value at byte 10"),
        (b'["a', "unterminated string starting at byte 1"),
        (b'["a\nb"]', "invalid control character at byte 3"),
        (b'{"x": "NaN", "a": NaN}', "NaN is no JSON value, at byte 18"),
        (b"[-Infinity]", "-Infinity is no JSON value, at byte 1"),
        (b'["\xff"]', "not UTF-8 at byte 2"),
        (b'["\xed\xa0\xbd"]', "not UTF-8 at byte 2"),
        (b"\xef\xbb\xbf[nope]", "no JSON value at byte 4"),
        (b"'a'", "no JSON value at byte 0"),
        (b"[1,]", "no JSON value at byte 3"),
        (b"\x00", "no JSON value at byte 0"),
        (b"<html>", "no JSON value at byte 0"),
    ],
)
def test_what_is_no_json_says_what_and_where(data: bytes, error: str) -> None:
    read = read_bytes(data)
    assert read.value is MISSING
    # Python words one of them differently from release to release.
    assert read.error is not None
    assert read.error.replace("illegal trailing comma before end of array at byte 2", error) == error


def test_a_byte_order_mark_is_told_and_the_value_read() -> None:
    read = read_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read.value == {"a": 1}
    assert read.error == "a byte order mark stands before the JSON value, at byte 0"


def test_lone_surrogates_and_large_integers_are_kept() -> None:
    assert read_bytes(rb'["\ud800", "\ud83d\ude80"]').value == ["\ud800", "🚀"]
    assert read_bytes(str(10**100).encode()).value == 10**100


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('{"a": 1, "a": 2}', ("/a",)),
        ('{"a": 1, "b": 3, "a": 2, "a": 2}', ("/a",)),
        ('{"x": [{}, {"a/b~": 1, "a/b~": 2}], "y": {"": 1, "": 1}}', ("/x/1/a~1b~0", "/y/")),
        ('{"a": {"b": 1, "b": 1}, "a": {"c": 1}}', ("/a",)),
        ('{"a": {"b": 1}, "c": {"b": 1}}', ()),
        (r'{"\u0061": 1, "a": 2}', ("/a",)),
        (r'{"\ud800": 1, "\ud800": 2}', ("/\\ud800",)),
    ],
)
def test_repeated_keys_are_told_by_pointer(text: str, pointers: tuple[str, ...]) -> None:
    read = read_text(text)
    assert read.duplicates == pointers
    assert read.error is None


def test_of_a_repeated_key_the_last_value_counts() -> None:
    assert read_text('{"a": 1, "a": 2}').value == {"a": 2}


def test_a_pointer_escapes() -> None:
    assert escape("a/b~c") == "a~1b~0c"


@pytest.mark.parametrize("depth", [subject.MAX_DEPTH + 1, 10_000, 1_000_000])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_told_and_no_crash(depth: int, left: str, right: str) -> None:
    read = read_text(left * depth + "1" + right * depth)
    assert read.value is MISSING
    assert read.error == f"nested deeper than 512 levels at byte {len(left) * 512}"


def test_nesting_up_to_the_bound_is_read_and_brackets_in_strings_do_not_count() -> None:
    depth = subject.MAX_DEPTH
    assert read_text("[" * depth + "]" * depth).error is None
    assert read_text(json.dumps(["[{" * 1000, '"[' * 1000, "\\" * 1000])).error is None


def test_a_number_of_too_many_digits_is_told() -> None:
    read = read_text('["' + "1" * 5000 + '", ' + "1" * 5000 + "]")
    assert read.error == "a number of more than 4300 digits at byte 5005"


def test_a_number_beyond_a_double_is_infinite() -> None:
    assert read_text("1e999").value == math.inf


def test_the_size_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_BODY", 10)
    assert read_bytes(b"[1234567]").error is None
    assert read_bytes(b"[12345678901]").error == "larger than 10 bytes"


@given(st.binary() | st.text(alphabet='{}[]",:\\u0159 truefalsenull').map(str.encode))
def test_any_bytes_are_read_without_raising(data: bytes) -> None:
    read = read_bytes(data)
    assert (read.value is MISSING) <= (read.error is not None)


HOSTILE: dict[str, Callable[[int], str]] = {
    "quotes": lambda n: '"' * (2 * n + 1),
    "backslashes": lambda n: '["' + "\\" * (2 * n + 1),
    "strings, deep": lambda n: "[" * 600 + '"a' * n,
    "a name, deep": lambda n: "{" * 600 + "a" * 2 * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    def refused(text: str) -> None:
        assert read_text(text).value is MISSING

    takes_linear_time(HOSTILE[name], refused, 500_000)


@pytest.mark.parametrize("depth", [15, 16, 17, 511, 512])
@pytest.mark.parametrize("width", [1, 600])
def test_nesting_up_to_the_bound_is_read_however_wide(depth, width):
    inner = "[" * (depth - 1) + '"]}[{\\""' + "]" * (depth - 1)
    assert read_text(f"[{','.join([inner] * width)}]").error is None
    assert "nested deeper" in str(read_text(f"[{','.join([inner] * width)},{'[' * 512}{']' * 512}]").error)
