from __future__ import annotations

from conformance.protocols.memory import Memory


def test_what_is_kept_is_bounded_by_number_and_weight() -> None:
    made: list[str] = []
    memory: Memory[str] = Memory(size=2, weight=10, weigh=len)

    def recall(text: str) -> str:
        return memory.recall(text, text, lambda: made.append(text) or text)

    assert [recall(text) for text in ("a", "a", "b", "a", "c", "b")] == ["a", "a", "b", "a", "c", "b"]
    assert made == ["a", "b", "c", "b"]  # b was the one used least lately when c came
    recall("x" * 11)  # alone above the weight: kept, and all others dropped
    recall("x" * 11)
    assert made.count("x" * 11) == 1
    recall("b")
    recall("x" * 11)
    assert made[-2:] == ["b", "x" * 11]
