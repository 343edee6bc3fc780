"""Failures as files and as text: exact to replay, safe to print, without the key; and the commands around them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rare_faults import K31, KEY, benches

from conformance.cli import main
from conformance.fuzzing import replay
from conformance.gate import Exit
from conformance.generators.differences import edits
from conformance.generators.failure import BrokenFailureFile, Failure, Nearest, read_failure, sent, write_failure
from conformance.reference import Hooks, running
from conformance.reports.failure import httpx_snippet, lines
from conformance.rules import RULES
from conformance.values import Basis, Intent, Level, Protocol

BODY = {"model": K31, "messages": [{"role": "user", "content": "Reply with OK."}], "max_tokens": 1}


def failure(**changes: Any) -> Failure:
    rule = changes.get("rule", "finish.not-null")
    facts: dict[str, Any] = {
        "tool": "0.1.0",
        "rule": rule,
        "level": Level.MUST,
        "basis": Basis.PROTOCOL,
        "statement": "It says how it ended.",
        "source": RULES["finish.not-null"].sources[Protocol.CHAT],
        "protocol": Protocol.CHAT,
        "model": K31,
        "message": "a finished answer has no finish_reason",
        "kind": "valid",
        "seed": 7,
        "examples": 18,
        "tries": 52,
        "requests": (sent(json.dumps(BODY).encode(), (Intent.VALID,)),),
        "nearest": Nearest(text=json.dumps(BODY | {"max_tokens": 2}), edits=edits(BODY, BODY | {"max_tokens": 2})),
    }
    return Failure(**{**facts, **changes})


def no_finish(_context: Any, body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "choices": [{**body["choices"][0], "finish_reason": None}]}


@pytest.mark.parametrize("body", [b"{}", '{"a":"止\U0001f600"}'.encode(), b"\xff\xfe", b'"\\ud800"', b""])
def test_bodies_come_back_byte_for_byte(body, tmp_path):
    path = tmp_path / "deep" / "failure.json"
    write_failure(path, failure(requests=(sent(body), sent(body, parent=0))))
    found = read_failure(path)
    assert [request.body for request in found.requests] == [body, body]
    assert found == failure(requests=(sent(body), sent(body, parent=0)))


def test_absence_differs_from_null_in_a_file(tmp_path):
    near = Nearest(text="{}", edits=edits({"a": None, "b": 1}, {"b": None}))
    write_failure(tmp_path / "one.json", failure(nearest=near))
    assert read_failure(tmp_path / "one.json").nearest == near


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no failure file"),
        (b"[]", "no failure file"),
        (b"{}", "no failure file"),
        (b"[" * 100_000, "no failure file"),
        (b"\xff", "no failure file"),
        ({"format": "other"}, "is 'other' 1"),
        ({"version": 9}, "9, expected"),
        ({"model": "gpt-4"}, "'gpt-4'"),
        ({"requests": []}, "0 requests"),
        ({"requests": [{}]}, "either text or base64"),
        ({"requests": [{"base64": "?"}]}, "base64 of request 1"),
        ({"requests": [{"text": "", "parent": 0}]}, "not before"),
        ({"protocol": "smtp"}, "no failure file"),
    ],
)
def test_broken_files_are_named_as_such(content, words, tmp_path):
    path = tmp_path / "failure.json"
    raw = content if isinstance(content, bytes) else None
    path.write_bytes(raw if raw is not None else json.dumps(msgspec.to_builtins(failure()) | content).encode())
    with pytest.raises(BrokenFailureFile, match=words):
        read_failure(path)


def test_a_missing_file_is_broken_too(tmp_path):
    with pytest.raises(BrokenFailureFile, match="No such file"):
        read_failure(tmp_path / "absent")


@pytest.mark.parametrize(
    ("hooks", "changes", "code"),
    [
        (Hooks(body=no_finish), {}, Exit.FAILED),
        (Hooks(), {}, Exit.CONFORMING),
        (Hooks(), {"rule": "gone.rule"}, Exit.NOT_VERIFIED),
        (Hooks(), {"rule": "usage.cached-within-input", "requests": (sent(b"{"),)}, Exit.NOT_VERIFIED),
    ],
)
def test_a_replay_says_whether_it_still_fails(hooks, changes, code):
    (bench,) = benches(hooks, [(Protocol.CHAT, K31)])
    came = replay(failure(**changes), bench)
    assert came.code is code
    assert (came.finding is not None) == (code is Exit.FAILED)


def test_a_replay_sends_exactly_what_the_file_holds():
    raws: list[bytes] = []

    def keep(context: Any, found: list[Any]) -> list[Any]:
        raws.append(context.raw)
        return found

    (bench,) = benches(Hooks(problems=keep), [(Protocol.CHAT, K31)])
    body = json.dumps(BODY, indent=3).encode() + b"\n "
    replay(failure(requests=(sent(body),)), bench)
    assert set(raws) == {body}


def test_the_text_names_all_that_is_needed():
    text = "\n".join(lines(failure(), base_url="http://127.0.0.1:8788", file="out/failure.json"))
    for words in (
        "must  finish.not-null: a finished answer",
        "seed 7",
        "openapi/sources/",
        "1 edit away",
        "/max_tokens: 1 here, 2 there",
        "curl -sS -i http://127.0.0.1:8788/v1/chat/completions",
        '"$KIMI_API_KEY"',
        "httpx.post(",
        "--replay-failure out/failure.json",
    ):
        assert words in text


def test_the_text_cannot_steer_a_terminal():
    hostile = {"model": "\x1b[31m\u202e", "x": "\x07"}
    shown = lines(
        failure(
            message="\x1b[2J",
            expected="\x1b]0;x\x07",
            actual={"\x1b": "\r"},
            requests=(sent(json.dumps(hostile, ensure_ascii=False).encode()), sent(b"\x1b\xff")),
            nearest=Nearest(text="{}", edits=edits(hostile, {})),
        ),
        base_url="http://127.0.0.1:1",
    )
    assert all(char.isprintable() for line in shown for char in line)


def test_the_snippet_sends_the_request_as_it_was():
    raws: list[bytes] = []

    def keep(context: Any, found: list[Any]) -> list[Any]:
        raws.append(context.raw)
        return found

    bodies = [json.dumps(BODY, ensure_ascii=False).encode(), '{"a":"止\'\\"\u2028"}'.encode()]
    with running(hooks=Hooks(problems=keep)) as server:
        for body in bodies:
            done = subprocess.run(  # noqa: S603 (our own interpreter and text)
                [sys.executable, "-c", httpx_snippet(Protocol.CHAT, sent(body), server.base_url)],
                env={**os.environ, "KIMI_API_KEY": KEY, "NO_PROXY": "*"},
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            )
            assert done.stdout[:3] in ("200", "400")
    assert list(dict.fromkeys(raws)) == bodies


def command(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    out, err = capsys.readouterr()
    return int(str(ended.value.code)), out, err


def test_the_command_writes_failures_that_it_replays(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KIMI_API_KEY", KEY)
    with running(hooks=Hooks(body=no_finish)) as server:
        words = ("fuzz", "--target", server.base_url, "--protocol", "chat", "--model", K31, "--examples", "8")
        code, out, _ = command(
            *words, "--seed", "5", "--max-calls", "40", "--out", str(tmp_path), "--format", "json", capsys=capsys
        )
        document = json.loads(out)
        assert code == 1
        assert document["decision"]["code"] == 1
        assert document["counts"]["requests"] <= 40
        entry = document["failures"][0]
        assert "finish.not-null" in (entry["rule"], *entry["also"])
        written = Path(entry["file"]).read_text("utf-8")
        assert KEY not in written
        assert "Authorization" not in written
        code, out, _ = command("fuzz", "--target", server.base_url, "--replay-failure", entry["file"], capsys=capsys)
        assert (code, "it still fails" in out) == (1, True)
    with running() as server:
        code, out, _ = command("fuzz", "--target", server.base_url, "--replay-failure", entry["file"], capsys=capsys)
        assert (code, "the rule holds now" in out) == (0, True)
    code, _, _ = command("fuzz", "--target", server.base_url, "--replay-failure", entry["file"], capsys=capsys)
    assert code == 3


def test_a_clean_server_conforms(capsys):
    words = ("fuzz", "--protocol", "responses", "--model", K31, "--examples", "12", "--seed", "1", "--format", "json")
    code, out, err = command(*words, capsys=capsys)
    document = json.loads(out)
    assert (code, document["failures"], document["partial"]) == (0, [], None)
    assert "conforming" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--replay-failure", "absent.json"), "Cannot read absent.json: No such file"),
        (("--target", "embeded"), "did you mean 'embedded'"),
        (("--model", "kimi-k4"), "kimi-k3"),
        (("--examples", "0"), "--examples"),
    ],
)
def test_usage_errors_exit_2(words, told, capsys):
    code, _, err = command("fuzz", *words, capsys=capsys)
    assert code == 2
    assert told in err
