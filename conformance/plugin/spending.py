"""What a run may spend, as its options say: a budget, and the prices that a cost is counted with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import pytest

from conformance.client.budget import Allowance
from conformance.models import ALL
from conformance.prices import Price

PARTS = ("requests", "tokens", "cost")
MOST = 10**12


def allowance(texts: Iterable[str], table: Mapping[str, Price], models: Iterable[str]) -> Allowance | None:
    """The budget of ``requests=N,tokens=N,cost=X``, in parts; None without any.

    Raises ``pytest.UsageError``, also for a cost where one of the models has no price.
    """
    found: dict[str, float] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, equals, value = part.partition("=")
        if name not in PARTS or not equals:
            close = get_close_matches(name.lower(), PARTS, n=1)
            hint = f"did you mean {close[0]}=…?" if close else "expected requests=N, tokens=N or cost=X"
            raise pytest.UsageError(f"--kimi-budget: {part[:80]!r} is no limit; {hint}")
        if name in found:
            raise pytest.UsageError(f"--kimi-budget: {name} is given twice")
        found[name] = _number(name, value)
    if not found:
        return None
    unpriced = [model for model in models if model not in table] if "cost" in found else []
    if unpriced:
        raise pytest.UsageError(f"--kimi-budget: a cost needs the price of {unpriced[0]}: set it in [prices]")
    whole = {name: int(found[name]) if name in found else None for name in ("requests", "tokens")}
    return Allowance(requests=whole["requests"], tokens=whole["tokens"], cost=found.get("cost"))


def prices(texts: Iterable[str]) -> dict[str, Price]:
    """The prices of ``MODEL=INPUT/OUTPUT`` or ``MODEL=INPUT/OUTPUT/CACHED``. Raises ``pytest.UsageError``."""
    found: dict[str, Price] = {}
    for text in texts:
        model, _, value = text.partition("=")
        numbers = value.split("/")
        if model not in ALL or len(numbers) not in (2, 3):
            raise pytest.UsageError(
                f"--kimi-price: {text[:80]!r}: expected MODEL=INPUT/OUTPUT or MODEL=INPUT/OUTPUT/CACHED"
            )
        taken, output, *cached = (_number("--kimi-price", number) for number in numbers)
        found[model] = Price(input=taken, output=output, cached=cached[0] if cached else None)
    return found


def _number(name: str, text: str) -> float:
    try:
        number = float(text) if name not in PARTS[:2] else int(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= MOST:
        raise pytest.UsageError(f"{name}: {text[:80]!r} is not a number of 0 or more")
    return number
