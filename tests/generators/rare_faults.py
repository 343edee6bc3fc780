"""Faults of the reference server that fire on rare inputs only, and benches in front of it without a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from conformance.client import Limits, Player, Target
from conformance.fuzzing import Bench
from conformance.probes.cell import Cell
from conformance.reference import DEFAULT_KEY, Hooks, Settings
from conformance.reference.application import Server
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.selftest.local import BASE_URLS, connecting
from conformance.values import Exchange, Protocol

KEY = DEFAULT_KEY
K31, K3 = "kimi-k3.1-pro", "kimi-k3"


def benches(
    hooks: Hooks | None = None,
    cells: Sequence[tuple[Protocol, str]] = tuple((protocol, K31) for protocol in Protocol),
    most_calls: int | None = None,
) -> list[Bench]:
    """A bench for each cell, all in front of one server in this process."""
    server = Server(Settings(), hooks or Hooks())
    taken: list[Exchange] = []
    player = Player(
        target=Target(name="rare", base_urls=BASE_URLS[:1], key_env=None, fixed_key=KEY),
        record=taken.append,
        limits=Limits(),
        connect=connecting({BASE_URLS[0]: server}),
    )
    return [
        Bench(player=player, taken=taken, cell=Cell(protocol=protocol, model=model, seed=0), most_calls=most_calls)
        for protocol, model in cells
    ]


def refuse(found: list[Problem], path: str) -> list[Problem]:
    return [*found, Problem(kind="type", path=(path,), message="is not understood")]


def stop_of_32_bytes(context: Context, found: list[Problem]) -> list[Problem]:
    """Refuses a stop sequence of exactly 32 bytes that ends in a multi-byte character."""
    stops = (context.body or {}).get("stop_sequences") or []
    rare = any(isinstance(one, str) and len(one.encode()) == 32 and not one[-1].isascii() for one in stops)
    return refuse(found, "stop_sequences") if rare else found


def tool_with_reference(context: Context, found: list[Problem]) -> list[Problem]:
    """Refuses a tool whose schema has a $ref."""
    rare = '"$ref"' in json.dumps((context.body or {}).get("tools") or [])
    return refuse(found, "tools") if rare else found


def wholly_cached_usage(_context: Context, result: Any) -> Any:
    """One output token too many in the sum where all of the prompt came from the cache."""
    usage = result.usage
    if usage.cached and usage.cached >= usage.input - 128:
        return replace(result, usage=replace(usage, cached=usage.input + 1))
    return result


def limit_of_one(context: Context, body: dict[str, Any]) -> dict[str, Any]:
    """No finish_reason where the limit is a single token."""
    asked = context.body or {}
    if asked.get("max_completion_tokens", asked.get("max_tokens")) == 1:
        choice = {**body["choices"][0], "finish_reason": None}
        return {**body, "choices": [choice]}
    return body


def lenient_ttl(context: Context, found: list[Problem]) -> list[Problem]:
    """Takes any TTL where the cache's mode is not given."""
    return [problem for problem in found if problem.path != ("prompt_cache_options", "ttl")]


def astral_system(context: Context, prompt: Any) -> Any:
    """Fails on a system prompt with a character beyond the basic plane."""
    system = json.dumps((context.body or {}).get("system", ""), ensure_ascii=False)
    if any(ord(char) > 0xFFFF for char in system):
        raise RuntimeError("no such character")
    return prompt


def second_result(context: Context, body: dict[str, Any]) -> dict[str, Any]:
    """Names another model once two tool results are in the history."""
    results = [turn for turn in (context.body or {}).get("messages", ()) if turn.get("role") == "tool"]
    return {**body, "model": "kimi-k2"} if len(results) >= 2 else body
