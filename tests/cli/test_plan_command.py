"""``plan``: what a run would send, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main

SMALL = ("plan", "--profile", "smoke", "--protocol", "chat", "--model", "kimi-k3", "--date", "2026-03-01")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_holds_totals_and_a_cell_for_each_surface_and_model() -> None:
    ended = CliRunner().invoke(main, [*SMALL, "--format", "json"])
    found = json.loads(ended.stdout)
    assert ended.exit_code == 0
    assert found["date"] == "2026-03-01"
    assert [(cell["protocol"], cell["model"]) for cell in found["cells"]] == [("chat", "kimi-k3")]
    amount = found["cells"][0]["amount"]
    assert found["totals"]["requests"] == amount["requests"] + found["look"]
    assert 0 < found["totals"]["output_tokens_expected"] < found["totals"]["output_tokens_worst_case"]
    assert found["totals"]["cost"] is None
    assert "usage.total-is-sum" in found["cells"][0]["rules"]


def test_the_table_names_what_is_missing(folder: Path) -> None:
    ended = CliRunner().invoke(main, SMALL)
    assert ended.exit_code == 0
    assert "nothing is sent" in ended.stdout
    assert "no price" in ended.stdout
    assert "must rules of the cells above are not exercised" in ended.stdout
    assert list(folder.iterdir()) == []


def test_both_tables_fit_eighty_columns_and_hold_the_numbers_of_the_json(folder: Path) -> None:
    (folder / "kimi-conformance.toml").write_text('[prices."kimi-k3"]\ninput = 1\noutput = 1000\ncached = 0.1\n')
    lines = CliRunner().invoke(main, SMALL).stdout.splitlines()
    found = json.loads(CliRunner().invoke(main, [*SMALL, "--format", "json"]).stdout)
    amount, totals = found["cells"][0]["amount"], found["totals"]
    sent, shown = (line.split() for line in lines if line.startswith("chat/kimi-k3 "))
    names = ("requests", "able_to_cost", "output_tokens_worst_case", "output_tokens_expected")
    assert sent[1:] == [f"{amount[name]:,}" for name in names]
    assert shown[1:3] == [f"{totals['must_rules_exercised']}/{totals['must_rules']}", f"0/{totals['constraints']}"]
    assert shown[3:] == f"{amount['cost_expected']:.4f} to {amount['cost']:.4f}".split()
    assert max(map(len, lines)) <= 80


def test_prices_come_from_the_configuration(folder: Path) -> None:
    (folder / "kimi-conformance.toml").write_text('[prices."kimi-k3"]\ninput = 1\noutput = 1000\ncached = 0.1\n')
    ended = CliRunner().invoke(main, [*SMALL, "--format", "json"])
    totals = json.loads(ended.stdout)["totals"]
    assert totals["output_tokens_worst_case"] / 1000 < totals["cost"] < totals["output_tokens_worst_case"] / 900
    assert 0 < totals["cost_expected"] < totals["cost"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[prices.kimi-k4]\ninput = 1\noutput = 2\n", "Did you mean kimi-k3?"),
        ("[prices.kimi-k3]\ninput = 1\noutputs = 2\n", "Did you mean output?"),
        ("[prices.kimi-k3]\ninput = 1\n", "lacks input or output"),
        ("[prices.kimi-k3]\ninput = -1\noutput = 2\n", "is no price of a million tokens"),
        ("[prices.kimi-k3]\ninput = nan\noutput = 2\n", "is no price of a million tokens"),
        ('[prices.kimi-k3]\ninput = "1"\noutput = 2\n', "is no price of a million tokens"),
        ("prices = 3\n", "has a table for each model"),
        ("price = 3\n", "Did you mean prices?"),
    ],
)
def test_a_price_table_that_makes_no_sense_is_refused(text: str, words: str, folder: Path) -> None:
    (folder / "kimi-conformance.toml").write_text(text)
    ended = CliRunner().invoke(main, SMALL)
    assert ended.exit_code == 2
    assert words in ended.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--profile nigtly", "Did you mean nightly?"),
        ("--date 2026-13-01", "does not match the format"),
        ("--rule usage.total-is-sun", "usage.total-is-sum"),
        ("--target embeded", "Did you mean embedded?"),
    ],
)
def test_a_bad_option_is_refused(options: str, words: str) -> None:
    ended = CliRunner().invoke(main, ["plan", *options.split()])
    assert ended.exit_code == 2
    assert words in ended.output
