"""``check`` from outside: files in, findings and an exit code out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from conformance.cli import check_files, main
from conformance.evidence import Journal, Reading, fixtures, folders, recordings
from conformance.evidence.written import exchange
from conformance.models import ALL
from conformance.recording.cassette import provenance_of, save
from conformance.recording.library import committed
from conformance.reports.runfile import FORMAT
from conformance.rules import RULES
from conformance.values import Chunk, Exchange, Outcome, Protocol, Verdict


def base(name: str) -> Exchange:
    return exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), name)


def entry(name: str, *changes: tuple[str, str], url: str = "") -> dict:
    """A base as an entry of a HAR file, with text replaced in the answer's body."""
    one = base(name)
    text = b"".join(chunk.data for chunk in one.response.chunks).decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return {
        "startedDateTime": one.started,
        "time": 20,
        "request": {
            "method": one.request.method,
            "url": url or one.request.url,
            "headers": [{"name": name, "value": value} for name, value in one.request.headers],
            "postData": {"mimeType": "application/json", "text": one.request.body.decode()},
        },
        "response": {
            "status": one.response.status,
            "headers": [{"name": name, "value": value} for name, value in one.response.headers],
            "content": {"mimeType": "application/json", "text": text},
        },
    }


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a HAR file into the working folder, and gives its name."""
    monkeypatch.chdir(tmp_path)

    def har(name: str, *entries: dict) -> str:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), "utf-8")
        return name

    return har


def check(*arguments: str, **extra: object) -> Result:
    return CliRunner().invoke(main, ["check", *arguments], **extra)


def as_json(*arguments: str) -> tuple[dict, Result]:
    result = check("--format", "json", *arguments)
    return json.loads(result.stdout), result


def journal_of(*names: str) -> bytes:
    with Journal("made.jsonl") as journal:
        journal.extend(base(name) for name in names)
    return Path("made.jsonl").read_bytes()


def pieces(name: str) -> tuple[Chunk, ...]:
    """A base's body in two parts, a millisecond apart."""
    data = b"".join(chunk.data for chunk in base(name).response.chunks)
    return (Chunk(ms=1, data=data[:100]), Chunk(ms=2, data=data[100:]))


TOTAL = ('"total_tokens":51', '"total_tokens":52')
SHOULD = ('"index":0', '"index":1')


def test_a_clean_file_conforms_in_three_lines(write):
    result = check(write("a.har", entry("chat.plain")))
    assert result.exit_code == 0
    *counts, decision = result.stdout.splitlines()
    assert counts == ["1 file, 1 exchange judged", "findings: 0 must, 0 should, 0 info"]
    assert re.fullmatch(r"conforming: no failure, \d+ rules exercised", decision)
    assert result.stderr == ""


def test_only_files_with_something_to_say_are_named(write):
    names = [
        write("clean.har", entry("chat.plain")),
        write("wrong.har", entry("chat.plain", TOTAL), entry("messages.plain")),
        write("other.har", entry("chat.plain", url="https://h/login"), entry("chat.plain", url="https://h/a")),
        write("mixed.har", entry("messages.plain"), entry("chat.plain", url="https://h/login")),
        "absent.har",
    ]
    Path("cut.jsonl").write_bytes(journal_of("chat.plain", "messages.plain")[:-40])
    result = check(*names, "cut.jsonl")
    lines = result.stdout.splitlines()
    foreign = "skipped (not a call of one of the three endpoints)"
    assert [line for line in lines if ".har: " in line or ".jsonl: " in line] == [
        "wrong.har: 2 exchanges",
        f"other.har: 0 exchanges, 2 {foreign}",
        f"mixed.har: 1 exchange, 1 {foreign}, no finding",
        "cut.jsonl: 1 exchange, no finding",
    ]
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == [
        "judged in part cut.jsonl",
        "cannot read absent.har",
    ]
    assert lines[-4:-1] == [
        "6 files, 1 of them unreadable, 5 exchanges judged",
        "3 entries skipped: not a call of one of the three endpoints",
        "findings: 1 must, 0 should, 1 info (--info lists these)",
    ]
    assert lines[-1].startswith("not conforming: 1 must finding; the run is partial: ")
    assert result.exit_code == 2


def test_verbose_names_clean_files_too(write):
    names = [write("a.har", entry("chat.plain")), write("b.har", entry("chat.plain"), entry("messages.plain"))]
    lines = check("-v", *names).stdout.splitlines()
    assert lines[:2] == ["a.har: 1 exchange, no finding", "b.har: 2 exchanges, no must or should finding"]
    assert lines[2:] == check(*names).stdout.splitlines()


def test_only_the_exchanges_that_were_asked_for_are_counted(write):
    result = check("--protocol", "chat", write("a.har", entry("chat.plain"), entry("messages.plain")))
    assert "1 file, 1 exchange judged" in result.stdout.splitlines()


def test_a_finding_is_told_with_rule_place_and_values(write):
    result = check(write("a.har", entry("messages.plain"), entry("chat.plain", TOTAL)))
    assert result.exit_code == 1
    assert "  must    usage.total-is-sum: " in result.stdout
    assert "exchange 2, chat kimi-k3.1-pro, /usage/total_tokens: expected 51, actual 52" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("not conforming: 1 must finding, ")


def test_observations_are_counted_and_listed_on_request_only(write):
    name = write("a.har", entry("chat.plain"), entry("messages.plain"))
    result = check(name)
    assert result.exit_code == 0
    assert "usage.same-across-protocols" not in result.stdout
    assert result.stdout.splitlines()[-2] == "findings: 0 must, 0 should, 1 info (--info lists these)"
    listed = check("--info", name)
    assert listed.exit_code == 0
    assert "  info    usage.same-across-protocols: " in listed.stdout
    assert listed.stdout.splitlines()[-2] == "findings: 0 must, 0 should, 1 info"
    assert as_json(name)[0]["findings"] == as_json("--info", name)[0]["findings"] != []


def test_json_holds_findings_verdicts_counts_and_files(write):
    name = write("a.har", entry("chat.plain", TOTAL), entry("chat.plain", url="https://h/other"))
    document, result = as_json(name)
    (finding,) = document["findings"]
    assert result.exit_code == 1
    assert {key: finding[key] for key in ("rule", "level", "basis", "file", "exchange", "pointer")} == {
        "rule": "usage.total-is-sum",
        "level": "must",
        "basis": "documented",
        "file": "a.har",
        "exchange": "1",
        "pointer": "/usage/total_tokens",
    }
    assert (finding["expected"], finding["actual"], finding["protocol"]) == (51, 52, "chat")
    assert (document["counts"]["must"], document["counts"]["should"]) == (1, 0)
    assert document["decision"]["code"] == 1
    skipped = {"not a call of one of the three endpoints": 1}
    (file,) = document["files"]
    assert file == {
        "file": "a.har",
        "format": "har",
        "exchanges": 1,
        "skipped": skipped,
        "cut": None,
        "windows": False,
    }
    outcomes = {verdict["case"]: verdict["outcome"] for verdict in document["verdicts"]}
    assert outcomes["usage.total-is-sum/chat/kimi-k3.1-pro"] == Outcome.FAIL
    assert {Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE} & set(outcomes.values()) == set()
    judged = {verdict["rule"] for verdict in document["verdicts"]}
    assert "usage.total-is-sum" not in document["not_exercised"]
    assert "stream.complete" in document["not_exercised"]
    assert {*judged, *document["not_exercised"]} == set(RULES)


def test_verbose_json_holds_every_verdict(write):
    name = write("a.har", entry("chat.plain", TOTAL))
    (whole, _), (short, _) = as_json("-v", name), as_json(name)
    outcomes = {verdict["case"]: verdict["outcome"] for verdict in whole["verdicts"]}
    assert len(outcomes) == len(RULES) * len(Protocol) * len(ALL)
    assert outcomes["usage.total-is-sum/chat/kimi-k3"] == Outcome.NOT_EXERCISED
    assert outcomes["usage.total-is-sum/messages/kimi-k3"] == Outcome.NOT_APPLICABLE
    silent = (Outcome.NOT_EXERCISED, Outcome.NOT_APPLICABLE)
    assert [verdict for verdict in whole["verdicts"] if verdict["outcome"] not in silent] == short["verdicts"]
    assert {**whole, "verdicts": []} == {**short, "verdicts": []}


def test_rules_that_cannot_apply_are_not_called_idle(write):
    document, _ = as_json("--protocol", "messages", write("a.har", entry("messages.plain")))
    idle = document["not_exercised"]
    assert "stream.messages.order" in idle
    assert [name for name in idle if Protocol.MESSAGES not in RULES[name].protocols] == []


def test_json_of_one_small_file_is_small(write):
    _, result = as_json(write("a.har", entry("chat.plain", TOTAL)))
    assert len(result.stdout) < 40_000


def test_the_most_specific_rule_comes_first_and_the_schema_last(write):
    text = entry("chat.plain", ('"total_tokens":51', '"total_tokens":"52"'), ('"index":0', '"index":1'))
    document, _ = as_json(write("a.har", text))
    order = [(finding["level"], finding["rule"]) for finding in document["findings"]]
    musts = [rule for level, rule in order if level == "must"]
    assert musts[0] != "body.schema" == musts[-1]
    assert order == sorted(order, key=lambda one: one[0] != "must")
    shown = [line.split()[1].rstrip(":") for line in check("a.har").stdout.splitlines() if line.startswith("  must")]
    assert shown == list(dict.fromkeys(musts))


def test_files_are_judged_each_by_itself_unless_together(write):
    ids = [base(name).response.chunks[0].data[:50].split(b'"')[3].decode() for name in ("chat.plain", "chat.follow-up")]
    names = [write("a.har", entry("chat.plain")), write("b.har", entry("chat.follow-up", (ids[1], ids[0])))]
    assert check(*names).exit_code == 0
    document, result = as_json("--together", *names)
    assert result.exit_code == 1
    (finding,) = document["findings"]
    assert (finding["rule"], finding["exchanges"]) == ("body.id-unique", ["1:1", "2:1"])


def test_findings_come_in_the_order_of_files_and_exchanges(write):
    names = [
        write("b.har", entry("chat.plain", TOTAL)),
        write("a.har", entry("chat.plain", SHOULD), entry("chat.plain", TOTAL)),
    ]
    document, _ = as_json(*names)
    order = [(finding["file"], finding["exchange"]) for finding in document["findings"]]
    assert order == sorted(order, key=lambda place: (names.index(place[0]), place[1]))
    assert len({file for file, _ in order}) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "rules"),
    [
        ((), 1, {"usage.total-is-sum", "body.choice-index"}),
        (("--rule", "usage.*"), 1, {"usage.total-is-sum"}),
        (("--rule", "body.*"), 0, {"body.choice-index"}),
        (("--rule", "body.choice-index", "--rule", "usage.**"), 1, {"usage.total-is-sum", "body.choice-index"}),
        (("--rule", "body.*", "--strict"), 1, {"body.choice-index"}),
        (("--basis", "documented"), 1, {"usage.total-is-sum"}),
        (("--basis", "protocol"), 0, {"body.choice-index"}),
        (("--protocol", "chat"), 1, {"usage.total-is-sum", "body.choice-index"}),
        (("--protocol", "messages"), 3, set()),
        (("--model", "moonshotai/kimi-k3"), 3, set()),
        (("--model", "kimi-k3", "--model", "kimi-k3.1-pro"), 1, {"usage.total-is-sum", "body.choice-index"}),
    ],
)
def test_options_narrow_what_is_judged(write, arguments, code, rules):
    document, result = as_json(write("a.har", entry("chat.plain", TOTAL, SHOULD)), *arguments)
    found = {finding["rule"] for finding in document["findings"]}
    assert result.exit_code == code
    assert found & {"usage.total-is-sum", "body.choice-index"} == rules


def test_a_model_that_is_left_out_still_takes_part_in_pairs(write):
    pro, fast = entry("chat.plain"), entry("chat.error")
    for each in (pro, fast):
        text = each["request"]["postData"]["text"].replace('"max_completion_tokens":0', '"max_completion_tokens":1024')
        each["request"]["postData"]["text"] = text
    fast["request"]["postData"]["text"] = fast["request"]["postData"]["text"].replace("k3.1-pro", "k3.1-pro-highspeed")
    arguments = ("--model", "kimi-k3.1-pro-highspeed", "--rule", "model.highspeed.same-decisions")
    document, result = as_json(write("a.har", pro, fast), *arguments)
    assert [finding["rule"] for finding in document["findings"]] == ["model.highspeed.same-decisions"]
    assert result.exit_code == 1


def test_an_unreadable_file_is_named_and_the_others_are_judged(write):
    good = write("good.har", entry("chat.plain", TOTAL))
    Path("cut.har").write_bytes(Path(good).read_bytes()[:300])
    Path("empty.har").touch()
    document, result = as_json("cut.har", good, "empty.har", "absent.har")
    assert result.exit_code == 2
    assert [finding["file"] for finding in document["findings"]] == ["good.har"]
    assert [error["file"] for error in document["unreadable"]] == ["cut.har", "empty.har", "absent.har"]
    assert "cannot read cut.har: a HAR file that is cut off: its JSON ends at byte 300" in result.stderr
    assert "cannot read empty.har: empty" in result.stderr
    assert "cannot read absent.har: no such file" in result.stderr


def test_a_file_in_part_is_never_conforming(write):
    result = check(write("a.har", entry("chat.plain")), "absent.har")
    assert result.exit_code == 2
    decision = result.stdout.splitlines()[-1]
    assert decision.startswith("not verified: partial run: 1 of the files could not be read, ")


def test_traffic_without_a_call_of_the_api_is_not_verified(write):
    result = check(write("a.har", entry("chat.plain", url="https://h/login")))
    assert result.exit_code == 3
    assert "a.har: 0 exchanges, 1 skipped (not a call of one of the three endpoints)" in result.stdout
    assert "not verified: no exchange of the three endpoints" in result.stdout


def test_a_file_that_is_given_twice_is_judged_once(write):
    name = write("a.har", entry("chat.plain"))
    document, result = as_json(name, f"./{name}", name)
    assert result.exit_code == 0
    assert len(document["files"]) == 1
    assert result.stderr.count("given twice and judged once") == 2


def test_a_directory_stands_for_its_recordings(write):
    write("d/b.HAR", entry("chat.plain"))
    write("d/notes.txt", entry("chat.plain", TOTAL))
    Path("d/run.jsonl").write_text(f'{{"format":"{FORMAT}","version":1}}\n', "utf-8")
    with Journal("d/journal.jsonl") as journal:
        journal.append(base("messages.plain"))
    document, result = as_json("d")
    assert result.exit_code == 0
    assert [file["format"] for file in document["files"]] == ["har", "journal"]


def test_subfolders_are_judged_in_order_and_hidden_ones_left_out(write):
    write("d/b/deep/er/c.har", entry("chat.plain", TOTAL))
    write("d/b-side.har", entry("chat.plain"))
    write("d/b/a.har", entry("messages.plain"))
    write("d/.venv/x.har", entry("chat.plain", TOTAL))
    Path("d/b/up").symlink_to(Path("d").resolve())
    document, result = as_json("d")
    assert [file["file"] for file in document["files"]] == ["d/b/a.har", "d/b/deep/er/c.har", "d/b-side.har"]
    assert [finding["file"] for finding in document["findings"]] == ["d/b/deep/er/c.har"]
    assert result.exit_code == 1


def test_a_folder_of_recorded_cassettes_is_judged_without_what_lies_beside_them(write):
    one = replace(base("chat.stream"), response=replace(base("chat.stream").response, chunks=pieces("chat.stream")))
    made = provenance_of(next(committed().glob("chat/*.yaml")))
    save(Path("set/chat/a.kimi-k3.yaml"), made, [(1, one)])
    save(Path("set/messages/b.kimi-k3.yaml"), made, [(1, base("messages.plain"))])
    Path("set/verdicts.json").write_text("{}", "utf-8")
    assert Path("set/chat/a.kimi-k3.jsonl").is_file()
    document, result = as_json("set")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert [(file["file"], file["exchanges"]) for file in document["files"]] == [
        ("set/chat/a.kimi-k3.yaml", 1),
        ("set/messages/b.kimi-k3.yaml", 1),
    ]
    assert "its exchanges are in the .yaml file" in check("set/chat/a.kimi-k3.jsonl").stderr
    Path("set/chat/a.kimi-k3.yaml").unlink()
    assert check("set").exit_code == 2


def test_the_cassettes_of_a_checkout_are_taken_whole():
    paths, refused = recordings(str(committed()))
    assert refused == []
    assert len(paths) > 400
    assert {Path(path).suffix for path in paths} == {".yaml"}


def test_folders_are_looked_into_up_to_a_bound_and_never_silently(write, monkeypatch):
    write("d/1/2/3/a.har", entry("chat.plain"))
    write("d/1/b.har", entry("chat.plain"))
    monkeypatch.setattr(folders, "DEEPEST", 3)
    document, result = as_json("d")
    assert result.exit_code == 2
    assert [file["file"] for file in document["files"]] == ["d/1/b.har"]
    assert document["unreadable"] == [{"file": "d/1/2/3", "reason": "folders stand more than 3 deep"}]
    monkeypatch.setattr(folders, "MOST", 2)
    document, result = as_json("d")
    assert result.exit_code == 2
    assert [error["reason"] for error in document["unreadable"]] == [
        "a directory with more than 2 entries; name the folders within it"
    ]


def test_a_folder_that_cannot_be_opened_is_named(write, monkeypatch):
    write("d/good.har", entry("chat.plain"))
    write("d/shut/a.har", entry("chat.plain"))
    opened = Path.iterdir

    def guarded(path):
        if path.name == "shut":
            raise PermissionError(13, "Permission denied")
        return opened(path)

    monkeypatch.setattr(Path, "iterdir", guarded)
    document, result = as_json("d")
    assert result.exit_code == 2
    assert [file["file"] for file in document["files"]] == ["d/good.har"]
    assert document["unreadable"] == [{"file": "d/shut", "reason": "Permission denied"}]


def test_a_directory_without_recordings_is_an_error(write):
    Path("d").mkdir()
    result = check("d")
    assert result.exit_code == 2
    assert "cannot read d: a directory without .har or .jsonl files" in result.stderr


@pytest.mark.parametrize(("terminal", "least"), [(True, 10), (False, 10), (True, 10**6)])
def test_a_person_at_a_terminal_is_told_of_large_files(write, monkeypatch, capsys, terminal, least):
    name = write("a.har", entry("chat.plain"))
    monkeypatch.setattr(check_files, "TAKES_A_WHILE", least)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert len(list(check_files.opened([name, "absent.har", "a\0b"], Reading(), []))) == 1
    words = "judging a.har (0 MiB), which may take a while\n" if terminal and least == 10 else ""
    assert capsys.readouterr().err == words


def test_standard_input_is_read(write):
    data = Path(write("a.har", entry("chat.plain", TOTAL))).read_bytes()
    result = check("-", input=data)
    assert result.exit_code == 1
    assert "-: 1 exchange" in result.stdout.splitlines()


HOSTILE = "\x1b[2J\u202e\u0007evil"


def test_text_from_the_wire_cannot_steer_the_terminal(write):
    name = write("a\x1b[1m.har", entry("chat.plain", ('"stop"', json.dumps(HOSTILE))))
    result = check(name)
    document, _ = as_json(name)
    assert result.exit_code == 1
    assert "\\u001b[2J\\u202e" in result.stdout
    assert not set(HOSTILE[:1] + "\u202e\u0007") & set(result.output)
    assert any(HOSTILE in str(finding["actual"]) for finding in document["findings"])


@pytest.mark.parametrize(
    "value", ["1e999", "1" * 5000, '"\\ud800"', "[" * 3000 + "]" * 3000, "{}", '"' + "x" * 10**6 + '"']
)
def test_hostile_values_are_judged_and_printed(write, value):
    document, result = as_json(write("a.har", entry("chat.plain", ('"total_tokens":51', f'"total_tokens":{value}'))))
    assert result.exit_code in (0, 1)
    assert [verdict for verdict in document["verdicts"] if verdict["outcome"] == "error"] == []
    assert len(result.stdout) < 1_000_000


def test_many_alike_findings_are_told_in_few_lines(write):
    name = write("a.har", *(entry("chat.plain", TOTAL, ("chatcmpl-", f"chatcmpl-{n}-")) for n in range(30)))
    result = check(name, "--rule", "usage.total-is-sum")
    assert result.stdout.count("exchange ") == 5
    assert "and 25 more" in result.stdout


def test_plain_output_has_no_colour_and_survives_an_old_terminal(write):
    name = write("a.har", entry("chat.plain", ("assistant", "北京")))
    command = [sys.executable, "-m", "conformance.cli", "check", name]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=300, check=False)  # noqa: S603 (ours)
    assert done.returncode == 1
    assert b"\\u5317" in done.stdout
    assert b"\x1b" not in done.stdout


def test_verdicts_fold_over_files():
    from conformance.cli.folding import fold
    from conformance.values import Finding, Level

    def verdict(outcome: Outcome, level: Level, count: int, *findings: Finding) -> Verdict:
        return Verdict(
            rule="r",
            protocol=Protocol.CHAT,
            model="m",
            outcome=outcome,
            level=level,
            exercised=count,
            findings=findings,
        )

    finding = Finding(message="x", level=Level.SHOULD)
    (folded,) = fold(
        [
            [verdict(Outcome.NOT_EXERCISED, Level.MUST, 0)],
            [verdict(Outcome.FAIL, Level.SHOULD, 2, finding)],
            [verdict(Outcome.PASS, Level.MUST, 3)],
        ]
    )
    assert (folded.outcome, folded.level, folded.exercised, folded.findings) == (
        Outcome.FAIL,
        Level.SHOULD,
        5,
        (finding,),
    )


def test_names_that_lead_nowhere_are_named_and_the_others_are_judged(write):
    good = write("d/good.har", entry("chat.plain"))
    Path("loop").symlink_to("loop")
    result = check("loop", "a\nb", "\x1b[31m", good)
    assert result.exit_code == 2
    assert "cannot read loop: " in result.stderr
    assert "cannot read a\\nb: no such file" in result.stderr
    assert "\x1b" not in result.output
    assert "4 files, 3 of them unreadable, 1 exchange judged" in result.stdout.splitlines()


def test_a_file_that_cannot_be_opened_does_not_hide_its_neighbours(write, monkeypatch):
    write("d/good.har", entry("chat.plain"))
    for name in ("shut.har", "shut.jsonl", "shut.yaml"):
        write(f"d/{name}")
    opened = Path.open

    def guarded(path, *mode):
        if path.name.startswith("shut"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *mode)

    monkeypatch.setattr(Path, "open", guarded)
    document, result = as_json("d")
    assert result.exit_code == 2
    assert [file["file"] for file in document["files"]] == ["d/good.har"]
    assert {error["file"]: error["reason"] for error in document["unreadable"]} == {
        f"d/{name}": "Permission denied" for name in ("shut.har", "shut.jsonl", "shut.yaml")
    }
