from __future__ import annotations

import json
from pathlib import Path

import pytest
from cassettes_of import ALL, SHARED, cassette_of, exchange, journal_of, response
from click.testing import CliRunner

from conformance.cli import main
from conformance.recording import record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record(tmp_path, [*ALL, exchange(probe="gone", id="gone/chat/kimi-k3/1")], SHARED)
    return tmp_path


def cassettes_command(*arguments: object):
    return CliRunner().invoke(main, ["cassettes", *map(str, arguments)])


def test_list_names_each_cassette_with_its_origin(folder: Path):
    ended = cassettes_command("list", folder)
    assert ended.exit_code == 0, ended.output
    assert "chat/short-answer.kimi-k3.yaml  embedded (reference server)  7" in ended.output
    assert "2 cassettes, " in ended.output
    rows = json.loads(cassettes_command("list", folder, "--format", "json").output)
    assert [row["path"] for row in rows] == ["chat/gone.kimi-k3.yaml", "chat/short-answer.kimi-k3.yaml"]
    size = cassette_of(folder).stat().st_size + journal_of(folder).stat().st_size
    assert (rows[1]["bytes"], rows[1]["seed"], rows[1]["specs"]["chat-all"]) == (size, 7, SHARED.specs["chat-all"])


def test_verify_fails_with_a_line_for_each_problem(folder: Path):
    ended = cassettes_command("verify", folder)
    assert ended.exit_code == 1
    assert ended.output.splitlines() == [
        f"{folder}/chat/gone.kimi-k3.yaml: no probe of the suite plays it any more",
        "2 cassettes, 1 problem",
    ]
    (told,) = json.loads(cassettes_command("verify", folder, "--format", "json").output)
    assert told["reason"] == "no probe of the suite plays it any more"


def test_verify_looks_for_the_key_in_use_and_does_not_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KIMI_API_KEY", "canary-0123456789")
    record(tmp_path, [exchange(response=response(b"it is canary-0123456789"))], SHARED)
    ended = cassettes_command("verify", tmp_path)
    assert ended.exit_code == 1
    assert "step 1 holds a secret: the key that is in use now" in ended.output
    assert "canary" not in ended.output


def test_prune_deletes_only_when_told_so_and_only_what_is_unused(folder: Path):
    named = cassettes_command("prune", folder)
    assert named.output.splitlines() == [f"{folder}/chat/gone.kimi-k3.yaml", "1 unused; --yes deletes them"]
    assert (folder / "chat" / "gone.kimi-k3.yaml").exists()
    assert cassettes_command("prune", folder, "--yes").output.splitlines()[-1] == "1 deleted"
    assert sorted(path.name for path in (folder / "chat").iterdir()) == [
        journal_of(folder).name,
        cassette_of(folder).name,
    ]
    assert cassettes_command("prune", folder).output == "0 unused\n"
    assert cassettes_command("verify", folder).exit_code == 0


@pytest.mark.parametrize("verb", ["list", "verify", "prune"])
def test_a_folder_that_is_not_there_is_a_usage_error(verb: str, tmp_path: Path):
    ended = cassettes_command(verb, tmp_path / "nowhere")
    assert ended.exit_code == 2
    assert "is no folder" in ended.output


@pytest.mark.parametrize("verb", ["list", "prune"])
def test_a_foreign_cassette_is_named_and_never_deleted(verb: str, folder: Path):
    foreign = folder / "chat" / "foreign.yaml"
    foreign.write_text("interactions:\n- request: {}\n  response: {}\nversion: 1\n")
    ended = cassettes_command(verb, folder)
    assert ended.exit_code == 2
    assert "foreign.yaml: a cassette that kimi-conformance did not record" in ended.output
    assert foreign.exists()
