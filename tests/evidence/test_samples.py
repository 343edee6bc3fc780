"""One file of each format, with the same calls in it: whatever the format, the same exchanges and the same verdicts.

The samples are built by hand to the published formats. Each holds four calls that conform, behind other hosts and
prefixes, a call of another endpoint between them, and last an answer whose stop_reason is none.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from conformance.cli import main
from conformance.evidence import Reading, Unreadable, field_map, fixtures, large, parse, read
from conformance.evidence.entries import OTHER
from conformance.evidence.written import exchange
from conformance.values import Exchange

FOLDER = Path(__file__).parent / "samples"
MAP = "request=call.sent,response=call.got,status=call.code,url=call.path,started=call.at"
FILES = {
    "chrome-devtools.har": "har",
    "firefox-devtools.har": "har",
    "mitmproxy.har": "har",
    "charles.har": "har",
    "insomnia.har": "har",
    "vcrpy.yaml": "vcrpy",
    "vcrpy.json": "vcrpy",
    "vcrpy-base64.yaml": "vcrpy",
    "go-vcr-1.yaml": "go-vcr",
    "go-vcr-2.yaml": "go-vcr",
    "gateway.jsonl": "jsonl",
    "application.jsonl": "jsonl",
}
CALLS = ("chat.plain", "messages.stream", "responses.plain", "chat.tool-stream")


def reading(name: str) -> Reading:
    if name == "application.jsonl":
        return Reading(fields=field_map([MAP]))
    return Reading(request=str(FOLDER / "curl-request.json")) if name == "curl-output.txt" else Reading()


def base(name: str) -> Exchange:
    return exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), name)


def body(one: Exchange) -> bytes:
    return b"".join(chunk.data for chunk in one.response.chunks)


def without_ids(data: bytes) -> object:
    return json.loads(data)


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_exchanges(name):
    recording = read(FOLDER / name, reading(name))
    assert recording.format == FILES[name]
    assert recording.cut is None
    assert recording.skipped == {OTHER: 1}
    assert len(recording.exchanges) == len(CALLS) + 1
    for one, call in zip(recording.exchanges, CALLS, strict=False):
        expected = base(call)
        assert (one.protocol, one.model) == (expected.protocol, expected.model)
        assert json.loads(one.request.body) == json.loads(expected.request.body)
        assert (one.response.status, one.failure) == (200, None)
        same = body(one) == body(expected) or without_ids(body(one)) == without_ids(body(expected))
        assert same, call
        assert not any(name.startswith(":") for name, _ in one.request.headers)


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_verdicts(name):
    arguments = ["check", "--format", "json", str(FOLDER / name)]
    arguments += ["--map", MAP] if name == "application.jsonl" else []
    result = CliRunner().invoke(main, arguments)
    found = {(finding["rule"], finding["level"]) for finding in json.loads(result.stdout)["findings"]}
    assert {rule for rule, level in found if level != "info"} == {"finish.enum", "stream.same-ending-as-json"}
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [["curl-command.txt"], ["curl-output.txt", "--request", "curl-request.json"]],
    ids=["command", "request"],
)
def test_the_output_of_curl_is_judged_with_its_request(arguments, monkeypatch):
    monkeypatch.chdir(FOLDER)
    result = CliRunner().invoke(main, ["check", *arguments])
    assert result.exit_code == 0, result.output
    assert "1 exchange judged\nfindings: 0 must, 0 should, 0 info\n" in result.stdout


def test_durations_and_times_are_read():
    versioned = read(FOLDER / "go-vcr-2.yaml").exchanges[0]
    assert versioned.response.chunks[0].ms == pytest.approx(1041.2)
    logged = read(FOLDER / "application.jsonl", reading("application.jsonl")).exchanges[0]
    assert logged.started == "2026-06-14T09:31:00.500Z"


def test_a_directory_takes_recordings_by_content(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("vcrpy.yaml", "go-vcr-2.yaml", "vcrpy.json", "insomnia.har"):
        shutil.copy(FOLDER / name, tmp_path)
    (tmp_path / "compose.yaml").write_text("services:\n  web:\n    image: web\n", "utf-8")
    (tmp_path / "package.json").write_text('{"name": "interactions"}', "utf-8")
    document = json.loads(CliRunner().invoke(main, ["check", "--format", "json", "."]).stdout)
    assert [file["format"] for file in document["files"]] == ["go-vcr", "har", "vcrpy", "vcrpy"]
    assert document["unreadable"] == []


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", [0.35, 0.65, 0.9])
def test_a_file_that_breaks_off_is_read_up_to_there_and_says_so(name, part):
    data = (FOLDER / name).read_bytes()
    whole = parse(data, name, reading(name)).exchanges
    size = int(len(data) * part)
    recording = parse(data[:size], name, reading(name))
    assert recording.cut is not None
    assert f"cut off at byte {size}" in recording.cut
    assert 0 < len(recording.exchanges) < len(whole) or part == 0.9
    for one, expected in zip(recording.exchanges, whole, strict=False):
        assert (one.request.body, body(one)) == (expected.request.body, body(expected))


@pytest.mark.parametrize("name", FILES)
def test_no_cut_raises_or_invents_an_exchange(name):
    data = (FOLDER / name).read_bytes()
    whole = {(one.request.body, body(one)) for one in parse(data, name, reading(name)).exchanges}
    step = max(1, len(data) // (12 if name.endswith("yaml") else 60))
    for size in range(1, len(data) - 40, step):
        try:
            recording = parse(data[:size], name, reading(name))
        except Unreadable:
            continue
        assert {(one.request.body, body(one)) for one in recording.exchanges} <= whole, size


@pytest.mark.parametrize("name", ["insomnia.har", "vcrpy.yaml", "gateway.jsonl"])
def test_a_cut_file_is_never_conforming(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = (FOLDER / name).read_bytes()
    Path(name).write_bytes(data[: len(data) * 7 // 10])  # before the answer that does not conform
    result = CliRunner().invoke(main, ["check", name, "--rule", "finish.enum"])
    assert result.exit_code == 3
    assert "judged in part" in result.stdout
    assert "not verified: partial run: 1 of the files was judged in part" in result.stdout
    assert f"judged in part {name}: cut off at byte" in result.stderr


SCRAPS = (
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"1e999",
    b"\\ud800",
    b"\xff",
    b"\x00",
    b"*a",
    b"&a ",
    b"!!set {a}",
    b"\n",
    b"- ",
    b"<<: 1",
)


@given(
    st.sampled_from(sorted(FILES)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.sampled_from(SCRAPS)), max_size=4),
)
def test_no_mutation_of_a_file_raises_anything_but_unreadable(name, changes):
    data = bytearray((FOLDER / name).read_bytes())
    for place, removed, scrap in changes:
        start = int(place * (len(data) - 1))
        data[start : start + removed] = scrap
    try:
        recording = parse(bytes(data), name, reading(name))
    except Unreadable:
        return
    assert all(one.file == name for one in recording.exchanges)


@pytest.mark.parametrize(("least", "windows"), [(100, True), (10**6, False)])
def test_files_together_are_judged_as_one(monkeypatch, least, windows):
    monkeypatch.setattr(large, "LARGE", least)
    paths = [str(FOLDER / name) for name in ("gateway.jsonl", "insomnia.har")]
    document = json.loads(CliRunner().invoke(main, ["check", "--format", "json", "--together", *paths]).stdout)
    assert [file["windows"] for file in document["files"]] == [windows, windows]
    assert {finding["exchange"][:2] for finding in document["findings"]} == {"1:", "2:"}


def test_a_log_comes_from_standard_input():
    data = (FOLDER / "gateway.jsonl").read_bytes()
    result = CliRunner().invoke(main, ["check", "-"], input=data)
    assert "-: 5 exchanges, 1 skipped" in result.stdout
