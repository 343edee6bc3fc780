"""The look before a run: whether anything answers there, knows the routes and takes the key.

One small request to each surface, all at once, within ``PREFLIGHT_SECONDS`` together. What is found here is not judged:
a target that answers anything else is run, and its answers are evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from conformance.client.budget import Budget, Spent
from conformance.client.sender import Client, Limits
from conformance.client.targets import DEFAULT_KEY_ENV, LOCAL_KEY, Target
from conformance.probes.cell import Cell, encode
from conformance.protocols import BUILDERS
from conformance.redact import redact
from conformance.values import Exchange, Protocol

PREFLIGHT_SECONDS = 8.0
OURS_SECONDS = 60.0  # for the embedded server, which answers for certain, on a busy machine late


def preflight(target: Target, protocols: Sequence[Protocol], model: str, budget: Budget | None = None) -> str | None:
    """Why the target cannot be verified at all, in one line without the key; None when a run makes sense."""
    seconds = OURS_SECONDS if target.embedded else PREFLIGHT_SECONDS
    limits = Limits(timeout=seconds, total_timeout=seconds, retries=0, largest=0, budget=budget)

    def ask(protocol: Protocol) -> Exchange:
        with Client(target.base_urls[0], target.key, limits) as client:
            body = encode(Cell(protocol=protocol, model=model, seed=0).body("Reply with OK.", limit=16))
            request = client.request(BUILDERS[protocol].path, body)
            exchange = Exchange(id="preflight", protocol=protocol, model=model, request=request)
            return redact(client.send(exchange)[-1], (target.key,))

    try:
        with ThreadPoolExecutor(len(protocols)) as pool:
            found = list(pool.map(ask, protocols))
    except Spent as reason:
        return str(reason)
    return _verdict(target, found)


def _verdict(target: Target, found: Sequence[Exchange]) -> str | None:
    where = target.base_urls[0]
    answered = [exchange.response for exchange in found if exchange.response is not None]
    if not answered:
        failures = [exchange.failure for exchange in found if exchange.failure is not None]
        kinds = {failure.kind for failure in failures}
        if kinds == {"timeout"}:
            return f"{where} did not answer within {PREFLIGHT_SECONDS:.0f} seconds"
        worst = next((failure for failure in failures if failure.kind != "timeout"), failures[0])
        words = {"refused": "cannot be reached", "reset": "closes the connection without an answer"}
        return f"{where} {words.get(worst.kind, 'does not answer in HTTP')}: {worst.message}"
    statuses = {response.status for response in answered}
    if statuses <= {404, 405, 410, 501}:
        told = ", ".join(map(str, sorted(statuses)))
        return f"{where} has no route for the API: it answered {told} on every surface"
    if statuses <= {401, 403}:
        told = f"it answered {', '.join(map(str, sorted(statuses)))} on every surface"
        if target.key_env is None and target.fixed_key == LOCAL_KEY:
            hint = f"set {DEFAULT_KEY_ENV}, or name another variable with --key-env"
            return f"{where} wants a key and none was given: {told}; {hint}"
        source = f"the key in {target.key_env}" if target.key_env else "the key"
        return f"{where} rejects {source}: {told}"
    return None
