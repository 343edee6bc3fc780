"""The proof itself: every fault is killed, every rule bites, and the clean server is clean."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def result():
    command = [sys.executable, "-m", "conformance.cli", "selftest", "--format", "json"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)  # noqa: S603 (ours)
    return finished.returncode, json.loads(finished.stdout)


def test_every_fault_is_killed_by_an_expected_rule(result):
    code, matrix = result
    assert [f"{t['fault']} {t['protocol']} {t['mode']}" for t in matrix["trials"] if t["fate"] != "killed"] == []
    assert code == 0


def test_every_rule_is_failed_by_a_fault(result):
    assert result[1]["rules_without_fault"] == []


def test_the_clean_server_has_no_finding(result):
    assert result[1]["false_alarms"] == []


def test_no_rule_raises_on_any_fault(result):
    assert [(t["fault"], t["errors"]) for t in result[1]["trials"] if t["errors"]] == []


def test_thirty_faults_or_more_went_over_a_connection(result):
    assert len({t["fault"] for t in result[1]["trials"] if t["socket"]}) >= 30
