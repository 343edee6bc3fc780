"""How much later the first byte of a stream comes through the proxy: both ways measured in turn, in one run.

``python benchmarks/proxy_first_byte.py`` starts the commands ``serve`` and ``proxy`` as processes of their own, asks
for streams directly and by way of the proxy in alternation, and prints one line of JSON, times in milliseconds. Exit
code 1 where the medians are more than 5 ms apart; on a busy machine the minima say more.
"""

# ruff: noqa: INP001 (a script)

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from conformance.reference import DEFAULT_KEY

ROUNDS = 300
WARM = 20
MOST = 5.0  # milliseconds
HEADERS = {"Authorization": f"Bearer {DEFAULT_KEY}"}
BODY = {"model": "kimi-k3", "messages": [{"role": "user", "content": "Count from 1 to 20."}], "stream": True}


def first_byte(client: httpx.Client, base_url: str) -> float:
    """Milliseconds from the request to the first byte of the body; the rest is read too."""
    begun = time.perf_counter()
    with client.stream("POST", f"{base_url}/v1/chat/completions", json=BODY, headers=HEADERS) as response:
        response.raise_for_status()
        parts = response.iter_raw()
        next(parts)
        took = (time.perf_counter() - begun) * 1000
        for _ in parts:
            pass
    return took


def shown(times: list[float]) -> dict[str, float]:
    """Minimum, median and 95th percentile."""
    found = {"min": min(times), "p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}
    return {name: round(value, 2) for name, value in found.items()}


@contextmanager
def command(*arguments: str) -> Iterator[str]:
    """The base URL at which a command of ours listens while the context is open."""
    process = subprocess.Popen(  # noqa: S603 (ours)
        [sys.executable, "-u", "-m", "conformance.cli", *arguments], stdout=subprocess.PIPE, text=True
    )
    if process.stdout is None:
        raise RuntimeError("no pipe")
    try:
        line = process.stdout.readline()
        yield next(word.rstrip(",") for word in line.split() if word.startswith("http://"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=180)
    finally:
        process.kill()


def main() -> int:
    """Measure and print; the exit code."""
    ways: dict[str, list[float]] = {"direct": [], "proxy": []}
    with tempfile.TemporaryDirectory() as out, command("serve", "--port", "0") as direct:
        proxy = ("proxy", "--upstream", direct, "--listen", "127.0.0.1:0", "--out", out)
        with command(*proxy) as proxied, httpx.Client() as client:
            for number in range(WARM + ROUNDS):
                for way, url in (("direct", direct), ("proxy", proxied)):
                    took = first_byte(client, url)
                    if number >= WARM:
                        ways[way].append(took)
    figures = {way: shown(times) for way, times in ways.items()}
    added = {name: round(value - figures["direct"][name], 2) for name, value in figures["proxy"].items()}
    sys.stdout.write(json.dumps({"rounds": ROUNDS, **figures, "added": added}) + "\n")
    return int(added["p50"] > MOST)


if __name__ == "__main__":
    sys.exit(main())
