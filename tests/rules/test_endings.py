"""Where a text breaks off, and where it merely has no full stop."""

from __future__ import annotations

import pytest

from conformance.rules.endings import breaks_off

STORY = "The water is bright and restless near the coast."


@pytest.mark.parametrize(
    "text",
    [
        *("Blue", "42", "C++", "Louis XIV", "Guten Tag", "/usr/lib/", "St. Gallen", "x =", "SELECT 1"),
        *(
            f"{STORY}",
            f"{STORY}\n",
            '{"a":1}',
            f"“{STORY}”",
            "And then…",
            "Done 👍",
            "埃菲尔铁塔",
            "埃菲尔铁塔于1889年竣工。",
        ),
        *("- eggs\n- milk\n- bread", "1. Red\n2. Green\n3. Blue", "| a | b |\n|---|---|\n| 1 | 2 |", "a,b\n1,2"),
        *("def f(x):\n    return x", f"Dear Paul,\n{STORY}\nYours,\nAnne", "", "  \n"),
    ],
)
def test_whole_answers_without_a_full_stop(text: str):
    assert not breaks_off(text, "Answer me, please.")


@pytest.mark.parametrize(
    "text",
    [
        *("The sea covers more than", "Hello,", "It is", f"{STORY} Further", f"{STORY}\nFurther out it grows"),
        *("Further out from the coast it soon grows dark", "Further out from the coast it grows well-"),
        *("埃菲尔铁塔是一座位于法国巴黎战神广场的铁制镂空塔建于", "塔很高。它建于", "In 1889 (", "one two three and"),
        *("1000, 1001, 10", "98\n99\n1"),
    ],
)
def test_texts_that_break_off(text: str):
    assert breaks_off(text, "Answer me, please.")


def test_counting_is_whole_at_its_aim():
    assert breaks_off("1\n2\n3\n4", "Count from 1 to 60, one number a line.")
    assert not breaks_off("57, 58, 59, 60", "Count from 1 to 60, one number a line.")
    assert not breaks_off("7, 8, 9", "Count a little.")
    assert not breaks_off("7, 8, 1", "Count a little.")
