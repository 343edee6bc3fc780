"""The clause map: everything the documents say has exactly one entry, and every entry has its clauses."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import specs
from conformance.cli import main
from conformance.models import ALL, K3, K31
from conformance.rules import RULES
from conformance.specs import documents
from conformance.specs.clauses import ClauseMapError, Entry, clause_map, exclusion, matches, parsed, places
from conformance.specs.places import Place
from conformance.specs.sentences import normalised, sentences

LEDGER = {
    row["id"]: row for row in json.loads((Path(__file__).parents[1] / "rules" / "ledger.json").read_text("utf-8"))
}
MODELS = {"all": ALL, "k31": K31, "k3": K3}
SOURCES = {row.name: row for row in specs.sources()}
EVERY = [(name, place) for name in SOURCES for place in places(name)]
MAP = clause_map()
VOCABULARY = {  # closed: another reason is a decision, not a habit
    "layout",
    "navigation",
    "names a thing",
    "advice to clients",
    "not visible on the wire",
    "price, not behaviour",
    "cannot be broken",
    "left open",
    "shows every field",
    "no rule yet",
}


def described(entry: Entry) -> str:
    return f"{', '.join(entry.document) or 'all'}: {entry.text[0]}"


def test_every_clause_is_mapped_exactly_once():
    wrong = [
        (name, place.place, place.text, [described(entry) for entry in found])
        for name, place in EVERY
        if len(found := [entry for entry in MAP.entries if matches(entry, name, place)]) != 1
    ]
    assert wrong == []


def test_every_entry_has_clauses_for_each_of_its_texts_documents_and_places():
    stale = []
    for entry in MAP.entries:
        for key in ("text", "document", "place"):
            for value in getattr(entry, key):
                alone = Entry(**{"text": entry.text, "document": entry.document, "place": entry.place, key: (value,)})
                if not any(matches(alone, name, place) for name, place in EVERY):
                    stale.append((described(entry), key, value))
    assert stale == []


def test_every_rule_exists_and_judges_the_surface_and_models_of_the_document():
    wrong = [
        (clause.document, clause.text, name)
        for clause in specs.clauses()
        for name in clause.rules
        if not (row := LEDGER.get(name))
        or SOURCES[clause.document].protocol not in row["protocols"]
        or not set(MODELS[row["models"]]) & set(SOURCES[clause.document].models)
    ]
    assert wrong == []


UNNAMED = {  # documented rules that no clause of a surface's own documents names, and why
    ("messages", "reasoning.thinking-first"): "the order is told on the Responses page only",
    ("responses", "tool.arguments-match-schema"): "the page leaves its tools folded",
    ("responses", "error.status-fits-type"): "the page names no status codes",
}


def test_every_documented_rule_is_named_by_a_clause_on_each_of_its_surfaces():
    named = {(SOURCES[clause.document].protocol.value, name) for clause in specs.clauses() for name in clause.rules}
    documented = {
        (surface, row["id"])
        for row in LEDGER.values()
        if row["basis"] == "documented"
        for surface in set(row["protocols"]) - set(row["by_analogy"])
    }
    assert documented - named == set(UNNAMED)


@pytest.mark.parametrize("name", sorted(RULES))
def test_what_a_rule_cites_is_a_clause_that_some_rule_tests(name):
    """A rule quotes a place that the map knows to be tested: nothing cited is excluded."""
    for protocol, source in RULES[name].sources.items():
        line = specs.citation(source).line
        pointed = source.anchor.startswith("#/")
        covered = [
            clause
            for clause in specs.clauses(source.document)
            if clause.rules
            and (
                clause.place == source.anchor or clause.place.startswith(source.anchor + "/")
                if pointed
                else _holds(clause, line, source.anchor)
            )
        ]
        assert covered, (protocol, source)


def _holds(clause, line, words):
    """Whether quoted words, which begin on a line, overlap with a clause."""
    text = documents.text(clause.document)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    found = re.compile(r"\s+".join(map(re.escape, words.split()))).search(text, starts[line - 1])
    return found is not None and found.start() < clause.end and clause.start < found.end()


def test_reasons_are_a_closed_vocabulary_and_each_is_used():
    assert set(MAP.reasons) == VOCABULARY
    assert {exclusion(clause.excluded) for clause in specs.clauses() if clause.excluded} == VOCABULARY


# ------------------------------------------------------------------ the walk misses nothing

STRUCTURE = re.compile(  # lines of YAML that only give what follows its place
    r"\s*(?:- )?(?:[\w$./{}-]+|'\w+'):(?: >-)?|\s*(?:- )?\$ref: '#/components/[\w/]+'|\s*- name: [\w ]+|````"
)


@pytest.mark.parametrize("name", SOURCES)
def test_every_line_with_words_belongs_to_a_clause_or_is_structure(name):
    text = documents.text(name)
    spoken = bytearray(len(text))
    for clause in specs.clauses(name):
        spoken[clause.start : clause.end] = b"\x01" * (clause.end - clause.start)
    silent, offset = [], 0
    for number, line in enumerate(text.split("\n"), start=1):
        if re.search(r"\w", line) and not any(spoken[offset : offset + len(line)]) and not STRUCTURE.fullmatch(line):
            silent.append((number, line))
        offset += len(line) + 1
    assert silent == []


@pytest.mark.parametrize("name", SOURCES)
def test_every_word_outside_the_openapi_part_belongs_to_a_clause(name):
    text = list(documents.text(name))
    block = documents.openapi_block(name)
    if block is not None:
        start = documents.text(name).index(block.text)
        text[start : start + len(block.text)] = " " * len(block.text)
    for clause in specs.clauses(name):
        text[clause.start : clause.end] = " " * (clause.end - clause.start)
    assert re.findall(r"\w+", "".join(text)) == []


KEYWORDS = ("enum", "minimum", "maximum", "minItems", "maxItems", "required", "default", "type", "oneOf", "description")


@pytest.mark.parametrize("name", ["messages-k31", "chat-all"])
def test_every_keyword_of_every_schema_is_a_clause(name):
    import yaml

    found = {clause.place for clause in specs.clauses(name)}
    missing, seen = [], 0

    def visit(node, pointer, *, named):
        nonlocal seen
        if isinstance(node, list):
            for number, entry in enumerate(node):
                visit(entry, f"{pointer}/{number}", named=False)
        elif isinstance(node, dict):
            for key, value in node.items():
                here = f"{pointer}/{key}"
                if key in KEYWORDS and not named:
                    seen += 1
                    missing.extend([here] if here not in found else [])
                visit(value, here, named=key == "properties")

    visit(
        yaml.safe_load(documents.openapi_block(name).text)["components"]["schemas"], "#/components/schemas", named=True
    )
    assert missing == []
    assert seen > 150


@pytest.mark.parametrize("name", SOURCES)
def test_clauses_stand_in_order_and_never_overlap(name):
    found = specs.clauses(name)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(clause.start < clause.end and clause.text.strip() for clause in found)
    assert [clause.line for clause in found] == sorted(clause.line for clause in found)


def test_a_sentence_reads_as_it_stands_at_its_offsets():
    for clause in specs.clauses():
        if clause.place.endswith("/description") and clause.text[0].isalpha():
            stands = documents.text(clause.document)[clause.start : clause.end]
            assert normalised(stands) == clause.text


@pytest.mark.parametrize(
    ("document", "place", "line", "text"),
    [
        ("messages-all", "Body/stop_sequences", 289, "On a match, stop_reason is end_turn and stop_sequence is null."),
        ("messages-all", "Body/max_tokens", 242, "Required range: 1 <= x <= 1048576"),
        ("messages-all", "Body/model", 226, "Available options: kimi-k3.1-pro, kimi-k3.1-pro-highspeed, kimi-k3"),
        ("messages-all", "Example 2/answer/usage/output_tokens", 131, "output_tokens: 123"),
        ("responses", "Response", 189, "incomplete usually means the max_output_tokens limit was reached."),
        ("responses", "Body", 178, "1 <= x <= 1048576"),
        ("chat-k31", "Body", 175, "low, high, max, medium, xhigh, minimal, none"),
        ("chat-k31", "Body", 177, "128"),
        ("messages-k31", "#/components/schemas/ToolChoice/properties/type/enum", 398, "enum: auto, any, none"),
        ("messages-k31", "#/components/schemas/ContentBlock/description", 405, "Anthropic content block for text, …"),
        ("chat-all", "#/security", 42, "security: bearerAuth"),
        ("chat-all", "#/servers/1/url", 40, "url: https://api.evolink.ai"),
        ("chat-all", "#/paths/~1v1~1chat~1completions/post/responses/429", 205, "429: RateLimited"),
        (
            "chat-all",
            "#/components/schemas/ErrorResponse/properties/error/properties/code/type",
            575,
            "type: string, null",
        ),
    ],
)
def test_a_clause_has_a_stable_place(document, place, line, text):
    found = [c for c in specs.clauses(document) if c.line == line and c.place == place]
    begins = text.removesuffix("…")
    assert any(c.text == text or (begins != text and c.text.startswith(begins)) for c in found), found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two; and more: 0.95 or `a.b`. none too.", ["One.", "Two; and more: 0.95 or a.b.", "none too."]),
        ("for text models.POST /v1/x", ["for text models.", "POST /v1/x"]),
        ("A line\n  goes on\n\n- a **bullet**\n\n|---|---|\n\n| `a` | b |", ["A line goes on", "a bullet", "a | b"]),
        ("> # Heading", ["Heading"]),
        ("", []),
        ("\n{ } ...\n", []),
    ],
)  # fmt: skip
def test_sentences(text, expected):
    assert [normalised(text[slice(*span)]) for span in sentences(text, (0, len(text)))] == expected


# ------------------------------------------------------------------ the map as a file

REASONS = '[reasons]\nlayout = "a heading"\n'


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('text = "a"', "entry 1 .'a'. needs a text, and either rules or excluded"),
        ('text = "a"\nrules = ["x.y"]\nexcluded = "layout"', "either rules or excluded"),
        ('text = "a"\nrules = []', "either rules or excluded"),
        ('text = []\nrules = ["x.y"]', "without text"),
        ('text = "a"\nexcluded = "boring"', "the reason 'boring'; there are layout"),
        ('text = "a"\nexcluded = 1', "clauses.toml: Expected `str"),
        ('text = "a"\nrule = ["x.y"]', "unknown field `rule`"),
        ('text = "a', "clauses.toml: "),
    ],
)
def test_a_broken_map_names_its_entry(entry, message):
    with pytest.raises(ClauseMapError, match=message):
        parsed(f"{REASONS}[[clause]]\n{entry}\n")


@pytest.mark.parametrize(
    ("entry", "fits"),
    [
        ({"text": ("minimum: 1",)}, True),
        ({"text": ("minimum: …",)}, True),
        ({"text": ("mini…",)}, False),
        ({"text": ("mini …",)}, True),
        ({"text": ("minimum: 1",), "document": ("chat-all",)}, True),
        ({"text": ("minimum: 1",), "document": ("responses",)}, False),
        ({"text": ("minimum: 1",), "place": ("#/a/**/minimum",)}, True),
        ({"text": ("minimum: 1",), "place": ("#/a/b/c/**/minimum",)}, True),
        ({"text": ("minimum: 1",), "place": ("#/a/*/minimum",)}, False),
        ({"text": ("minimum: 1",), "place": ("#/*/*/c/min*",)}, True),
        ({"text": ("minimum: 1",), "place": ("#/a.b/**",)}, False),
    ],
)
def test_an_entry_fits_by_document_place_and_text(entry, fits):
    place = Place(place="#/a/b/c/minimum", text="minimum: 1", start=0, end=10)
    assert matches(Entry(**entry), "chat-all", place) is fits


# ------------------------------------------------------------------ the command


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["clauses", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_counts_by_document():
    rows = {line.split()[0]: line.split()[1:] for line in run().splitlines()[1:7]}
    assert list(rows) == [*SOURCES, "all"]
    for name, (total, covered, excluded, uncovered) in rows.items():
        assert int(total) == int(covered) + int(excluded) + int(uncovered), name
        assert uncovered == "0"
    assert int(rows["all"][0]) == len(EVERY) == sum(int(rows[name][0]) for name in SOURCES)


def test_the_command_prints_json_for_one_document():
    listed = json.loads(run("--document", "responses", "--format", "json"))
    assert len(listed) == len(places("responses"))
    assert {tuple(row) for row in listed} == {("document", "place", "line", "text", "rules", "excluded")}
    assert {row["document"] for row in listed} == {"responses"}
    assert all(bool(row["rules"]) != bool(row["excluded"]) for row in listed)


def test_the_command_lists_what_is_uncovered(monkeypatch):
    assert run("--uncovered") == ""
    assert json.loads(run("--uncovered", "--format", "json")) == []
    lonely = specs.Clause(document="chat-all", place="#/x", line=7, text="Not tested.")
    monkeypatch.setattr(specs, "clauses", lambda name: (lonely,) if name == "chat-all" else ())
    assert run("--uncovered") == "chat-all:7  #/x  Not tested.\n"
    assert run("--document", "chat-all").splitlines()[1].split() == ["chat-all", "1", "0", "0", "1"]


def test_an_unknown_document_is_refused_with_the_nearest():
    result = CliRunner().invoke(main, ["clauses", "--document", "chat-al"])
    assert result.exit_code == 2
    assert "Did you mean chat-all?" in result.output
