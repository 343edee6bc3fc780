"""What ``check`` holds and says of evidence that is too large to be judged at once."""

from __future__ import annotations

import json
import weakref
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from conformance.cli import check_files, main
from conformance.evidence import Journal, bodies, condensing, fixtures, large, pulling, read
from conformance.evidence.written import exchange
from conformance.values import Chunk

TOTAL = ("--rule", "usage.total-is-sum")
NAMES = ("chat.plain", "messages.plain", "chat.tool")
CHUNK = (
    'data: {"id":"c","object":"chat.completion.chunk","created":1781429520,"model":"kimi-k3.1-pro",'
    '"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\n\n'
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def base(name: str, number: int = 0, *changes: tuple[bytes, bytes]):
    one = exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), str(number))
    data = b"".join(chunk.data for chunk in one.response.chunks).replace(b'"id":"', b'"id":"%d-' % number)
    for old, new in changes:
        data = data.replace(old, new)
    return replace(one, response=replace(one.response, chunks=(Chunk(ms=20.0, data=data),)))


def write(name: str, *exchanges) -> str:
    with Journal(name) as journal:
        journal.extend(exchanges)
    return name


def check(*arguments: str, **more):
    return CliRunner().invoke(main, ["check", *arguments], catch_exceptions=False, **more)


def as_json(*arguments: str, **more):
    result = check("--format", "json", *arguments, **more)
    return json.loads(result.stdout), result


def five_files() -> list[str]:
    wrong = (b'"total_tokens":51', b'"total_tokens":52')
    return [
        write(
            f"{n}.jsonl",
            *(base(name, 10 * n + place, *((wrong,) if n == 3 else ())) for place, name in enumerate(NAMES)),
        )
        for n in range(5)
    ]


def test_one_file_is_held_at_a_time(monkeypatch):
    opened = check_files.open_file
    held: list[weakref.ref] = []

    def watched(path, reading):
        assert [ref for ref in held if ref() is not None] == []
        found = opened(path, reading)
        held.append(weakref.ref(found))
        return found

    monkeypatch.setattr(check_files, "open_file", watched)
    Path("broken.jsonl").write_bytes(Path(five_files()[0]).read_bytes()[:60])
    document, _ = as_json(*five_files(), "broken.jsonl", *TOTAL)
    assert len(held) == 5
    assert [file["exchanges"] for file in document["files"]] == [3] * 5
    assert [finding["file"] for finding in document["findings"]] == ["3.jsonl"]


def test_files_together_give_the_same_findings_in_windows(monkeypatch):
    repeated = [write("5.jsonl", base("chat.plain", 0)), write("6.jsonl", *(base("messages.plain", n) for n in (0, 1)))]
    paths = [*five_files(), *repeated]
    whole, _ = as_json("--together", *paths, "--journal", "whole.jsonl")
    monkeypatch.setattr(large, "LARGE", 5_000)
    monkeypatch.setattr(large, "LARGE_JOURNAL", 5_000)
    windows, _ = as_json("--together", *paths, "--journal", "windows.jsonl")
    assert [file["windows"] for file in whole["files"]] == [False] * 7
    assert [file["windows"] for file in windows["files"]] == [True] * 7
    assert whole["findings"] == windows["findings"]
    assert ["4:30", "3.jsonl"] in [[finding["exchange"], finding["file"]] for finding in whole["findings"]]
    assert whole["counts"]["must"] == windows["counts"]["must"] > 0
    assert Path("whole.jsonl").read_bytes() == Path("windows.jsonl").read_bytes()
    assert [one.id for one in read("whole.jsonl").exchanges][:4] == ["0", "1", "2", "10"]


@pytest.mark.parametrize("together", [False, True])
def test_standard_input_is_judged_with_files(monkeypatch, together):
    monkeypatch.setattr(large, "LARGE", 2_000)
    monkeypatch.setattr(large, "LARGE_JOURNAL", 2_000)
    paths = five_files()
    data = Path(paths[3]).read_bytes()
    document, _ = as_json("-", *paths[:2], *(["--together"] if together else []), *TOTAL, input=data)
    assert Counter(finding["file"] for finding in document["findings"]) == {"-": 1}
    assert [file["file"] for file in document["files"]] == ["-", "0.jsonl", "1.jsonl"]
    assert document["files"][0]["windows"]


def stream(texts: list[str], *, ended: bool = True) -> bytes:
    parts = [CHUNK % ('{"role":"assistant","content":""}', "null")]
    parts += [CHUNK % ('{"reasoning_content":"Words."}', "null")]
    parts += [CHUNK % (json.dumps({"content": text}), "null") for text in texts]
    if ended:
        usage = json.loads((CHUNK % ("{}", "null"))[6:]) | {"choices": []}
        usage["usage"] = {"prompt_tokens": 24, "completion_tokens": len(texts), "total_tokens": 24 + len(texts)}
        parts += [CHUNK % ("{}", '"stop"'), f"data: {json.dumps(usage)}\n\n", "data: [DONE]\n\n"]
    return "".join(parts).encode()


@pytest.fixture
def bounds(monkeypatch):
    monkeypatch.setattr(bodies, "WHOLE", 5_000)
    monkeypatch.setattr(bodies, "DEAREST", 100_000)
    monkeypatch.setattr(bodies, "PIECE", 1_000)
    monkeypatch.setattr(condensing, "JOINED", 500)
    monkeypatch.setattr(pulling, "PIECE", 1_000)


def curl(data: bytes) -> str:
    one = base("chat.stream")
    asked = one.request.body.decode().replace(',"max_completion_tokens":1024', "")
    head = "".join(f"{name}: {value}\r\n" for name, value in one.response.headers)
    command = f"curl -i {one.request.url} -H 'Authorization: Bearer x' -d '{asked}'\nHTTP/1.1 200 OK\r\n{head}\r\n"
    Path("out.txt").write_bytes(command.encode() + data)
    return "out.txt"


@pytest.mark.usefixtures("bounds")
def test_a_long_stream_is_judged_to_its_end_and_people_are_told():
    words = [f"w{number} " for number in range(200)]
    result = check(curl(stream(words)))
    assert result.exit_code == 0, result.output
    assert "1 stream made short: pieces of one text that follow each other count as one event" in result.stdout
    document, result = as_json(curl(stream(words, ended=False)))
    assert result.exit_code == 1
    assert "stream.complete" in {finding["rule"] for finding in document["findings"]}
    assert document["condensed"] == 1


@pytest.mark.usefixtures("bounds")
def test_a_stream_that_is_too_long_is_judged_in_part():
    document, result = as_json(curl(stream(["long words " * 40] * 200)))
    assert [finding for finding in document["findings"] if finding["level"] == "must"] == []
    assert document["files"][0]["cut"].startswith("the answer is too long to be read whole: ")
    assert result.exit_code == 3
    assert document["decision"]["reason"] == "partial run: 1 of the files was judged in part"
    assert "judged in part out.txt: " in result.stderr


def test_a_journal_that_cannot_be_written_is_a_usage_error():
    result = check(*five_files(), "--journal", "0.jsonl/x.jsonl")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
