"""``schema``: what each command really prints fits the schema that the package gives for it."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.cli.schema import OUTPUTS, schema_of
from conformance.evidence import Journal, fixtures
from conformance.evidence.written import exchange
from conformance.reference import DEFAULT_KEY, Settings, running
from conformance.reference.faults import FAULTS
from conformance.values import Exchange

CELL = ("--protocol", "responses", "--model", "kimi-k3")
CONTRACT = Path(__file__).with_name("schemas.json")
FAULT = "usage-total-off-by-one"


def printed(*arguments: str, codes: tuple[int, ...] = (0,)) -> Any:
    ended = CliRunner().invoke(main, [*arguments, "--format", "json"])
    assert ended.exit_code in codes, ended.output
    return json.loads(ended.stdout)


def fits(name: str, document: Any) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    if isinstance(document, dict):
        assert document.get("schema", document.get("format")) in (schema["$id"], "kimi-conformance/failure")


def broken(name: str) -> Exchange:
    one = exchange(fixtures.load(fixtures.root() / "bases" / f"{name}.yaml"), name)
    chunks = [msgspec.structs.replace(chunk, data=chunk.data.replace(b":51", b":52")) for chunk in one.response.chunks]
    return msgspec.structs.replace(one, response=msgspec.structs.replace(one.response, chunks=tuple(chunks)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verbose", [(), ("-v",)])
def test_check_with_findings_skipped_cut_and_unreadable_files(folder: Path, verbose: tuple[str, ...]):
    with Journal("journal.jsonl") as journal:
        journal.extend([broken("chat.plain"), broken("messages.plain")])
    Path("cut.jsonl").write_bytes(Path("journal.jsonl").read_bytes()[:-40])
    Path("empty.har").touch()
    document = printed("check", "journal.jsonl", "cut.jsonl", "empty.har", *verbose, codes=(2,))
    assert document["findings"]
    assert document["files"][1]["cut"]
    assert document["unreadable"]
    fits("check", document)


def test_plan(folder: Path):
    (folder / "kimi-conformance.toml").write_text('[prices."kimi-k3"]\ninput = 1\noutput = 1000\n')
    document = printed("plan", "--profile", "smoke", *CELL)
    assert document["totals"]["cost"] > 0
    fits("plan", document)


def test_constraints(folder: Path):
    fits("constraints", printed("constraints", *CELL))


def test_selftest(folder: Path):
    document = printed("selftest", FAULT, "-n", "1")
    assert document["counts"]["killed"] == document["counts"]["trials"] > 0
    fits("selftest", document)


def test_fuzz_its_failure_file_and_its_replay(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KIMI_API_KEY", DEFAULT_KEY)
    with running(Settings(), hooks=FAULTS[FAULT].hooks(), addresses=1) as server:
        target = ("--target", server.base_url)
        drawn = printed("fuzz", *target, *CELL, "--examples", "12", "--seed", "1", "--out", "out", codes=(1,))
        (failure, *_) = drawn["failures"]
        again = printed("fuzz", *target, "--replay-failure", failure["file"], codes=(1,))
    assert (again["rule"], again["finding"]["rule"]) == (failure["rule"], failure["rule"])
    fits("fuzz", drawn)
    fits("failure", json.loads(Path(failure["file"]).read_bytes()))
    fits("replay-failure", again)


def test_a_run(folder: Path):
    document = printed("run", "--profile", "smoke", "--protocol", "chat", "--model", "kimi-k3", "--out", "out")
    fits("report", document)
    fits("report", json.loads(Path("out/report.json").read_bytes()))
    assert json.loads(Path("out/report.schema.json").read_bytes()) == schema_of("report")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rules", ["rules"]),
        ("faults", ["faults"]),
        ("clauses", ["clauses"]),
        ("documents", ["spec", "list"]),
        ("cassettes", ["cassettes", "list"]),
    ],
)
def test_lists(name: str, arguments: list[str]):
    document = printed(*arguments)
    assert document
    fits(name, document)


def test_problems_of_cassettes(folder: Path):
    Path("set").mkdir()
    document = printed("cassettes", "verify", "set", codes=(1,))
    assert document
    fits("cassette-problems", document)


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_document_without_one_of_its_fields_does_not_fit(name: str):
    schema = schema_of(name)
    validator = jsonschema.Draft202012Validator(schema)
    empty: Any = [{}] if OUTPUTS[name].many else {}
    assert not validator.is_valid(empty)
    assert not validator.is_valid("text")


def test_a_document_of_another_version_does_not_fit():
    schema = schema_of("check")
    document = printed(
        "check", str(Path(__file__).parents[1] / "evidence/samples/chrome-devtools.har"), codes=(0, 1, 3)
    )
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "schema": "urn:kimi-conformance:check:2"})


def fields_of(schema: dict[str, Any]) -> dict[str, list[str]]:
    return {name: sorted(kind["properties"]) for name, kind in schema["$defs"].items() if "properties" in kind}


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_field_goes_within_a_version(name: str):
    """A field that goes needs a new version in ``cli/schema.py``, and then its entry in ``schemas.json``."""
    known = json.loads(CONTRACT.read_bytes())[name]
    schema = schema_of(name)
    assert schema["$id"] == known["id"]
    fields = fields_of(schema)
    assert {f"{kind}.{field}" for kind, names in known["fields"].items() for field in names} <= {
        f"{kind}.{field}" for kind, names in fields.items() for field in names
    }


def test_the_command_lists_and_prints_them():
    listed = CliRunner().invoke(main, ["schema"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(OUTPUTS)
    for name in OUTPUTS:
        assert json.loads(CliRunner().invoke(main, ["schema", name]).stdout) == schema_of(name)
    assert CliRunner().invoke(main, ["schema", "run"]).stdout == CliRunner().invoke(main, ["schema", "report"]).stdout


def test_a_mistyped_name_is_answered_with_the_nearest():
    ended = CliRunner().invoke(main, ["schema", "chek"])
    assert ended.exit_code == 2
    assert "Did you mean check?" in ended.stderr


@pytest.mark.parametrize("name", [name for name, output in OUTPUTS.items() if not output.many])
def test_structs_name_the_schema_that_they_follow(name: str):
    module, _, struct = OUTPUTS[name].struct.partition(":")
    fields = {field.name: field.default for field in msgspec.structs.fields(getattr(import_module(module), struct))}
    assert fields.get("schema", schema_of(name)["$id"]) == schema_of(name)["$id"]
