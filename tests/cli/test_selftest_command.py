"""``selftest`` as people and programs read it."""

from __future__ import annotations

import json
from importlib import import_module

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.selftest.matrix import Fate, Matrix, Trial, matrix
from conformance.values import Protocol

ALARM = "usage.present/chat/kimi-k3: \x1b[2Jno usage"


def trial(fault: str, fate: Fate, *by: str) -> Trial:
    return Trial(
        fault=fault,
        protocol=Protocol.CHAT,
        mode="json",
        model="kimi-k3",
        fate=fate,
        socket=False,
        requests=3,
        expected=("usage.present",),
        by=by,
    )


def found(*trials: Trial, alarms: tuple[str, ...] = ()) -> Matrix:
    return matrix(trials, rules=["usage.present"], judged=[], false_alarms=alarms, seed=0, seconds=1.0)


def said(monkeypatch: pytest.MonkeyPatch, result: Matrix, *options: str) -> tuple[int, str]:
    monkeypatch.setattr(import_module("conformance.cli.selftest"), "run_selftest", lambda *_, **__: result)
    ended = CliRunner().invoke(main, ["selftest", *options])
    return ended.exit_code, ended.stdout


SOUND = found(trial("usage-null", Fate.KILLED, "usage.present", "body.schema"))
UNSOUND = found(
    trial("usage-null", Fate.KILLED, "usage.present"),
    trial("usage-empty", Fate.CAUGHT, "body.schema"),
    trial("usage-odd", Fate.SURVIVED),
    alarms=(ALARM,),
)


def test_a_sound_matrix_says_so_last(monkeypatch):
    code, text = said(monkeypatch, SOUND)
    assert code == 0
    assert text.splitlines() == [
        "usage-null  1 killed by usage.present",
        "1 fault in 1 combination of surface and mode; 1 rule, 0 without a fault",
        "1 trial, 0 over a connection; 3 requests in 1.0 s",
        "sound: 1 killed, 0 caught by another rule only, 0 survived, 0 false alarms",
    ]


def test_what_is_not_sound_is_named_and_said_last(monkeypatch):
    code, text = said(monkeypatch, UNSOUND)
    lines = text.splitlines()
    assert code == 1
    assert "survived: usage-odd on chat, json, kimi-k3: expected usage.present; nothing" in lines
    assert "caught: usage-empty on chat, json, kimi-k3: expected usage.present; by" in lines
    assert "\\u001b[2Jno" in text
    assert lines[-1] == "not sound: 1 killed, 1 caught by another rule only, 1 survived, 1 false alarm"
    assert "\x1b" not in text
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(("result", "headline"), [(SOUND, "sound"), (UNSOUND, "not sound")])
def test_the_page_says_it_first_and_names_every_trial(monkeypatch, tmp_path, result, headline):
    said(monkeypatch, result, "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f">{headline}</em></h1>" in page
    assert [f"<code>{trial.fault}</code>" in page for trial in result.trials] == [True] * len(result.trials)
    assert page.count('<td class="killed">') + page.count('<td class="caught">') + page.count(
        '<td class="survived">survived'
    ) == len(result.trials)
    assert ("\\u001b[2Jno usage" in page) is bool(result.false_alarms)
    assert "\x1b" not in page


def test_json_holds_every_trial_however_many(monkeypatch):
    many = found(*(trial(f"fault-{number}", Fate.KILLED, "usage.present") for number in range(2_500)))
    _, text = said(monkeypatch, many, "--format", "json")
    document = json.loads(text)
    assert len(document["trials"]) == document["counts"]["trials"] == 2_500
