"""A file that is read piece by piece holds the same exchanges as one that is read at once, from a pipe too."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.evidence import Journal, Large, Reading, Unreadable, fixtures, large, open_file, pulling, read
from conformance.evidence.written import exchange
from conformance.redact import KEY_MARK, Secrets
from conformance.values import Chunk

NAMES = ("chat.plain", "chat.stream", "messages.plain", "responses.stream", "chat.tool", "messages.limit")
CREATORS = ("test", "WebInspector")


def base(name: str, number: int = 0):
    one = exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), str(number))
    chunks = tuple(
        Chunk(ms=each.ms, data=each.data.replace(b'"id":"', b'"id":"%d-' % number)) for each in one.response.chunks
    )
    return replace(one, response=replace(one.response, chunks=chunks))


def parts(name: str, number: int):
    one = base(name, number)
    said = b"".join(chunk.data for chunk in one.response.chunks).decode()
    return one, one.request.body.decode(), said


def har(*, creator: str = "test", coded: bool = False, keyed: bool = True) -> dict:
    entries = []
    for number, name in enumerate(NAMES * 3):
        one, asked, said = parts(name, number)
        headers = [pair for pair in one.request.headers if keyed or pair[0] != "Authorization"]
        text = base64.b64encode(said.encode()).decode() if coded else said
        entries.append(
            {
                "startedDateTime": "2026-06-14T09:32:00.000Z",
                "request": {
                    "method": "POST",
                    "url": one.request.url,
                    "headers": [{"name": key, "value": value} for key, value in headers],
                    "postData": {"mimeType": "application/json", "text": asked},
                },
                "response": {
                    "status": 200,
                    "headers": [{"name": key, "value": value} for key, value in one.response.headers],
                    "content": {"text": text, **({"encoding": "base64"} if coded else {})},
                },
            }
        )
    entries.insert(4, {"request": {"method": "GET", "url": "https://h/style.css"}, "response": {"status": 200}})
    return {"log": {"version": "1.2", "creator": {"name": creator, "version": "1"}, "pages": [], "entries": entries}}


def vcrpy() -> dict:
    interactions = []
    for number, name in enumerate(NAMES * 3):
        one, asked, said = parts(name, number)
        interactions.append(
            {
                "request": {
                    "body": asked,
                    "headers": {key: [value] for key, value in one.request.headers},
                    "method": "POST",
                    "uri": one.request.url,
                },
                "response": {
                    "body": {"string": said},
                    "headers": {key: [value] for key, value in one.response.headers},
                    "status": {"code": 200, "message": "OK"},
                },
            }
        )
    return {"interactions": interactions, "version": 1}


def go_vcr() -> dict:
    interactions = []
    for number, name in enumerate(NAMES * 3):
        one, asked, said = parts(name, number)
        headers = {key: [value] for key, value in one.request.headers}
        request = {"id": number, "body": asked, "headers": headers, "method": "POST", "url": one.request.url}
        answered = {key: [value] for key, value in one.response.headers}
        interactions.append(
            {"request": request, "response": {"body": said, "headers": answered, "code": 200, "duration": "1.5s"}}
        )
    return {"version": 2, "interactions": interactions}


def journal() -> bytes:
    path = Path("journal.jsonl")
    with Journal(path) as written:
        written.extend(base(name, number) for number, name in enumerate(NAMES * 3))
    return path.read_bytes()


def log(*, keyed: bool = True) -> bytes:
    lines = []
    for number, name in enumerate(NAMES * 3):
        one, asked, said = parts(name, number)
        request = {"url": one.request.url, "body": asked, "headers": {"Authorization": "x"} if keyed else {"A": "b"}}
        lines.append(json.dumps({"request": request, "response": {"status": 200, "body": said}}))
    lines[3] = json.dumps({"url": "/v1/models", "request": {}, "response": {}, "status": 200})
    return "\n".join((*lines, "")).encode()


def as_yaml(document: dict, *, indented: bool = False) -> bytes:
    import yaml

    if not indented:
        return yaml.dump(document, Dumper=yaml.SafeDumper, allow_unicode=True).encode()

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow=False, indentless=False):
            return super().increase_indent(flow, False)

    return yaml.dump(document, Dumper=Dumper, sort_keys=False, default_flow_style=False).encode()


def as_json(document: dict, indent: int | None = None) -> bytes:
    return json.dumps(document, indent=indent).encode()


FILES = {
    "har": lambda: as_json(har()),
    "har, pretty, with a mark": lambda: b"\xef\xbb\xbf" + as_json(har(creator="WebInspector"), 2),
    "har without keys": lambda: as_json(har(creator="WebInspector", keyed=False)),
    "har in UTF-16": lambda: json.dumps(har()).encode("utf-16"),
    "har in base64": lambda: as_json(har(coded=True)),
    "vcrpy": lambda: as_yaml(vcrpy()),
    "vcrpy in json": lambda: as_json(vcrpy()),
    "go-vcr": lambda: as_yaml(go_vcr(), indented=True),
    "go-vcr in json": lambda: as_json(go_vcr(), 4),
    "journal": journal,
    "log": log,
    "log without keys": lambda: log(keyed=False),
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pulling, "PIECE", 500)


@pytest.fixture
def small(monkeypatch):
    """Bounds that every file here is above."""
    monkeypatch.setattr(large, "LARGE", 1_000)
    monkeypatch.setattr(large, "LARGE_JOURNAL", 1_000)


def alike(source, whole) -> None:
    assert source.format == whole.format
    assert dict(source.skipped) == dict(whole.skipped)
    assert source.cut == whole.cut
    found = source.exchanges() if isinstance(source, Large) else source.exchanges
    assert list(found) == list(whole.exchanges)


@pytest.mark.parametrize("name", FILES)
def test_the_exchanges_are_those_of_the_file_read_at_once(name, monkeypatch):
    Path("f").write_bytes(FILES[name]())
    whole = read("f")
    assert len(whole.exchanges) >= 17
    monkeypatch.setattr(large, "LARGE", 1_000)
    monkeypatch.setattr(large, "LARGE_JOURNAL", 1_000)
    source = open_file("f")
    assert isinstance(source, Large)
    assert source.count == len(whole.exchanges)
    alike(source, whole)
    inside = sorted((exchange for window in source.windows() for _, exchange in window), key=lambda one: int(one.id))
    assert inside == sorted(whole.exchanges, key=lambda one: int(one.id))


@pytest.mark.parametrize("name", FILES)
def test_a_large_file_of_few_exchanges_is_judged_at_once(name, monkeypatch):
    Path("f").write_bytes(FILES[name]())
    whole = read("f")
    monkeypatch.setattr(large, "LARGE", Path("f").stat().st_size - 1)
    monkeypatch.setattr(large, "fits", lambda *_, **__: True)
    source = open_file("f")
    assert not isinstance(source, Large)
    alike(source, whole)


@pytest.mark.parametrize("name", [*FILES, "curl"])
def test_a_pipe_is_read_like_a_file(name, monkeypatch):
    one, asked, said = parts("chat.stream", 1)
    command = f"curl -i {one.request.url} -H 'Authorization: Bearer x' -d '{asked}'\nHTTP/1.1 200 OK\r\n"
    head = "".join(f"{key}: {value}\r\n" for key, value in one.response.headers)
    data = f"{command}{head}\r\n{said}".encode() if name == "curl" else FILES[name]()
    Path("f").write_bytes(data)
    whole = read("f")
    for bound in (1_000, len(data) - 1):
        monkeypatch.setattr(large, "LARGE", bound)
        monkeypatch.setattr(large, "LARGE_JOURNAL", bound)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
        source = open_file("-")
        assert isinstance(source, Large) is (bound == 1_000 and name != "curl")
        found = source.exchanges() if isinstance(source, Large) else source.exchanges
        clean = Secrets().exchange
        assert [clean(each) for each in found] == [clean(replace(each, file="-")) for each in whole.exchanges]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", [*FILES])
@pytest.mark.parametrize("lost", [10, 700])
def test_a_file_that_breaks_off_is_told(name, lost):
    data = FILES[name]()
    if "16" in name or (name == "go-vcr" and lost == 10):
        return
    Path("f").write_bytes(data[: len(data) - lost])
    source = open_file("f")
    assert source.count in (16, 17, 18)
    if name != "vcrpy" or lost > 10:  # its version only is missing
        assert f"cut off at byte {len(data) - lost}" in source.cut


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (as_json(har()).replace(b'"entries": [{', b'"entries": [{]', 1), "broken at byte"),
        (b'{"log": {"entries": {}, "x": "' + b"x" * 2_000 + b'"}}', "no list of entries"),
        (b'{"log": {"entries": [], "x": "' + b"x" * 2_000 + b'"}}', "has no entry"),
        (b'{"log": {"entries": [{"x": "' + b"x" * 2_000, "its JSON ends at byte 2028"),
        (b'{"log": {"entries": [1], "x": "' + b"x" * 2_000 + b'"}} "more"', "broken at byte"),
        (b'{"interactions": [], "x": "' + b"x" * 2_000 + b'"}', "has no interaction"),
        (b'{"interactions": [{"x": "' + b"x" * 2_000, "JSON is broken at byte"),
        (b"interactions:\n- request: {\n" + b"  x: y\n" * 400 + b"- a: b\n", "broken in interaction 1"),
        (b"interactions:\nnothing: true\n" + b"x: y\n" * 400, "without a list"),
        (b"a: b\n" * 400 + b"interactions:\n", "has no interaction"),
        (b"x" * 2_000, "no JSON at byte 0"),
    ],
)
def test_what_is_broken_is_refused(data, reason):
    Path("f").write_bytes(data)
    with pytest.raises(Unreadable, match=reason):
        open_file("f")


@pytest.mark.usefixtures("small")
def test_an_interaction_of_yaml_that_is_too_large_is_left_out(monkeypatch):
    monkeypatch.setattr("conformance.evidence.scan_cassettes.LARGEST_ENTRY", 10_000)
    document = vcrpy()
    document["interactions"][2]["response"]["body"]["string"] = "x\n" * 10_000
    Path("f").write_bytes(as_yaml(document))
    source = open_file("f")
    assert source.count == 17
    assert [reason[:30] for reason in source.skipped] == ["an interaction of more than 64"]


KEY = "sk-canary-4711-abcdefgh"


@pytest.mark.usefixtures("small")
def test_no_key_of_a_pipe_reaches_a_file(monkeypatch):
    """What is spooled is redacted as a journal is: the key that was sent, and the one that the user named."""
    named = "sk-named-0815-abcdefgh"
    data = log().replace(b'"Authorization": "x"', b'"Authorization": "Bearer %s"' % KEY.encode())
    data = data.replace(b"Berlin Wall fell", f"{KEY} {named}".encode())
    written = []

    class Spy(io.BytesIO):
        def write(self, data):
            written.append(bytes(data))
            return super().write(data)

    monkeypatch.setattr("tempfile.TemporaryFile", Spy)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    source = open_file("-", Reading(clean=Secrets((named,)).exchange))
    assert isinstance(source, Large)
    everything = b"".join(written)
    decoded = b"".join(chunk.data for one in source.exchanges() for chunk in one.response.chunks)
    for form in (KEY, named, *(base64.b64encode(key.encode()).decode()[:20] for key in (KEY, named))):
        assert form.encode() not in everything + decoded
    assert KEY_MARK.encode() in decoded
    assert len(written) == source.count


@pytest.mark.usefixtures("small")
def test_a_disk_that_is_full_is_told(monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", Full)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(log()))))
    with pytest.raises(Unreadable, match="No space left"):
        open_file("-")


def test_a_real_pipe_is_read_to_its_end():
    data = log() * 20
    code = (
        "import sys; from conformance.evidence import large, open_file; large.LARGE = 5000; print(open_file('-').count)"
    )
    reading, writing = os.pipe()
    with subprocess.Popen([sys.executable, "-c", code], stdin=reading, stdout=subprocess.PIPE) as child:  # noqa: S603 (ours)
        os.close(reading)
        with open(writing, "wb") as file:  # noqa: PTH123 (a descriptor)
            file.write(data)
        assert child.communicate(timeout=300)[0].strip() == b"340"
