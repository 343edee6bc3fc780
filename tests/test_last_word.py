"""Under pytest, whose own count speaks of probes, the decision is the last line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.reference import DEFAULT_KEY, Settings, running
from conformance.reference.faults import FAULTS

SMOKE = ("--pyargs", "conformance.suite", "--kimi-profile", "smoke", "--kimi-protocol", "chat", "--kimi-out", "out")
NARROW = ("--kimi-model", "kimi-k3", "--kimi-rule", "usage.*")


def lines(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KIMI_", "GITHUB_", "PYTEST_"))}
    ended = subprocess.run(  # noqa: S603 (our own suite)
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *SMOKE, *NARROW, *arguments],
        cwd=folder,
        env={**clean, "KIMI_API_KEY": DEFAULT_KEY},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return ended.returncode, ended.stdout.splitlines()


@pytest.mark.parametrize("options", [("-q",), ("-n", "2")], ids=["quiet", "workers"])
def test_a_target_that_does_not_conform_has_the_last_line_though_all_probes_pass(tmp_path: Path, options: tuple):
    hooks = FAULTS["usage-total-off-by-one"].hooks()
    with running(Settings(keys=frozenset({DEFAULT_KEY})), hooks=hooks, addresses=1) as server:
        code, said = lines(tmp_path, "--kimi-target", server.base_url, *options)
    assert code == 1
    assert re.search(r"\b1 passed\b.* in ", said[-2])
    assert said[-1].startswith("kimi-conformance: not conforming: ")
    assert said[-1].endswith(" (exit code 1)")


def test_a_target_that_conforms_has_the_last_line_too(tmp_path: Path):
    code, said = lines(tmp_path)
    assert (code, said[-1]) == (0, "kimi-conformance: conforming: no failure (exit code 0)")
