"""Our rules as checks of schemathesis, with the configuration that the documentation shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import specs
from conformance.reference import Settings, running
from conformance.reference.faults import FAULTS
from conformance.reference.hooks import Hooks
from conformance.reference.settings import DEFAULT_KEY
from conformance.values import Protocol

hooks = pytest.importorskip("conformance.schemathesis_hooks", reason="the extra schemathesis is not installed")
DOCS = Path(__file__).parents[1] / "docs"
CONFIGURATION = DOCS / "schemathesis.toml"


@contextmanager
def served(fault: str | None = None):
    armed = Hooks() if fault is None else FAULTS[fault].hooks()
    with running(Settings(), hooks=armed, addresses=1) as server:
        yield server.base_url


def schemathesis(folder: Path, url: str, protocol: Protocol, *options: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFIGURATION, folder / "schemathesis.toml")
    document = specs.effective(protocol, "kimi-k3.1-pro")
    (folder / "openapi.yaml").write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), "utf-8")
    return subprocess.run(  # noqa: S603 (the tool under test)
        [sys.executable, "-m", "schemathesis.cli", "run", "openapi.yaml", "--seed", "1", *options],
        cwd=folder,
        env={**os.environ, "KIMI_BASE_URL": url, "KIMI_API_KEY": DEFAULT_KEY, "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("protocol", list(Protocol))
def test_the_clean_server_passes_every_phase(protocol: Protocol, tmp_path: Path) -> None:
    with served() as url:
        ended = schemathesis(tmp_path, url, protocol, "--max-examples", "3", "--phases", "examples,coverage,fuzzing")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Filtered" not in ended.stdout


@pytest.mark.parametrize(
    ("protocol", "fault"), [(Protocol.CHAT, "usage-total-off-by-one"), (Protocol.RESPONSES, "usage-total-off-by-one")]
)
def test_a_fault_fails_with_the_id_of_our_rule_as_its_code(protocol: Protocol, fault: str, tmp_path: Path) -> None:
    with served(fault) as url:
        report = ("--report", "ndjson", "--report-ndjson-path", "report.ndjson")
        ended = schemathesis(tmp_path, url, protocol, "--phases", "examples", *report)
    rule = FAULTS[fault].caught_by[0]
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert f"- {rule}" in ended.stdout
    assert f'"code":"{rule}"' in (tmp_path / "report.ndjson").read_text("utf-8")


def test_a_rule_can_be_switched_off_like_any_check(tmp_path: Path) -> None:
    fault = "usage-total-off-by-one"
    with served(fault) as url:
        ended = schemathesis(
            tmp_path, url, Protocol.CHAT, "--phases", "examples", "--exclude-checks", FAULTS[fault].caught_by[0]
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"max_completion_tokens": 64}),
        ({"max_completion_tokens": 8192}, {"max_completion_tokens": 64}),
        ({"max_tokens": 8192}, {"max_tokens": 64}),
        ({"max_tokens": 8, "max_completion_tokens": 64.0}, {"max_tokens": 8, "max_completion_tokens": 64.0}),
        ({"max_completion_tokens": "many"}, {"max_completion_tokens": "many"}),
    ],
)
def test_the_output_limit_is_lowered_and_never_raised(body: dict[str, Any], expected: dict[str, Any]) -> None:
    assert hooks.clamped(Protocol.CHAT, {"model": "kimi-k3", **body}, 64) == {"model": "kimi-k3", **expected}


def test_the_documentation_shows_the_configuration_that_is_tested() -> None:
    shown = (DOCS / "schemathesis.md").read_text("utf-8").split("```toml\n")[1].split("```")[0]
    assert tomllib.loads(shown) == tomllib.loads(CONFIGURATION.read_text("utf-8"))
