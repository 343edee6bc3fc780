"""``constraints``: exercised and total a cell, each one's result, and the gate's exit code."""

from __future__ import annotations

import json
import socket

import pytest
from click.testing import CliRunner

from conformance import specs
from conformance.cli import main
from conformance.values import Protocol


def run(*arguments: str):
    return CliRunner().invoke(main, ["constraints", *arguments])


def test_every_constraint_of_a_cell_is_exercised_and_decided_rightly():
    result = run("--protocol", "responses", "--model", "kimi-k3", "--format", "json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    total = len(specs.constraints(Protocol.RESPONSES, "kimi-k3"))
    assert document["totals"] == {"exercised": total, "total": total, "wrong": 0}
    assert [(cell["surface"], cell["model"]) for cell in document["cells"]] == [("responses", "kimi-k3")]
    assert {entry["right"] for entry in document["constraints"]} == {True}
    assert {entry["kind"] for entry in document["constraints"]} == {"broken", "edge"}
    assert f"{total} of {total} constraints exercised" in result.stderr


def test_text_has_a_line_for_each_constraint():
    result = run("--protocol", "responses", "--model", "kimi-k3", "--further")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    shown = {line[3] for line in lines if line[:3] == ["refused,", "right", "responses"]}
    assert shown == {constraint.pointer for constraint in specs.constraints(Protocol.RESPONSES, "kimi-k3")}


def test_a_target_that_cannot_be_reached_is_not_verified():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        result = run("--target", f"http://127.0.0.1:{taken.getsockname()[1]}", "--format", "json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["totals"]["exercised"] == 0
    assert "not verified" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "embeded"], "did you mean 'embedded'"),
        (["--model", "kimi-k4"], "Did you mean"),
        (["--protocol", "chats"], "Did you mean chat?"),
    ],
)
def test_a_mistake_names_the_nearest_value(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
