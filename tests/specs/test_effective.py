import re
from pathlib import Path

import jsonschema
import pytest
from openapi_spec_validator import validate

from conformance import specs
from conformance.models import ALL
from conformance.specs import composition, documents, overlay
from conformance.values import Protocol, Source

LEDGER = Path(__file__).resolve().parents[3] / "shared" / "rules.yaml"
OVERLAYS = sorted(path.name for path in (documents.root() / "overlays").glob("*.yaml"))


def nodes(node, path=()):
    yield path, node
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from nodes(child, (*path, key))


def quoted(protocol, words):
    for row in specs.sources():
        if row.protocol is protocol:
            try:
                return specs.citation(Source(document=row.name, anchor=words))
            except LookupError:
                continue
    return None


def surface(file):
    return Protocol(file.split("-", maxsplit=1)[0])


def test_an_effective_document_is_valid_openapi(protocol, model):
    document = specs.effective(protocol, model)
    assert document["openapi"] == "3.1.0"
    validate(document)


def test_every_schema_is_valid_json_schema(protocol, model):
    schemas = [specs.request_schema(protocol, model), *specs.event_schemas(protocol).values()]
    schemas += [specs.response_schema(protocol, model, required=required) for required in (False, True)]
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)
        for _, node in nodes(schema):
            if isinstance(node, dict) and "$ref" in node:
                assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]


def test_a_caller_may_change_what_it_gets(protocol, model):
    for get in (specs.effective, specs.request_schema, specs.response_schema):
        get(protocol, model).clear()
        assert get(protocol, model)
    specs.event_schemas(protocol).clear()
    assert specs.event_schemas(protocol)


def test_every_model_is_in_the_model_enum_of_every_surface(protocol, model):
    assert specs.request_schema(protocol, model)["properties"]["model"]["enum"] == list(ALL)


def test_a_model_that_is_not_documented_has_no_effective_document(protocol):
    with pytest.raises(LookupError, match=r"kimi-k2.*kimi-k3\.1-pro"):
        specs.effective(protocol, "kimi-k2")


def test_required_fields_of_answers_come_from_the_overlay_alone(protocol, model):
    assert "required" not in specs.response_schema(protocol, model)
    assert "id" in specs.response_schema(protocol, model, required=True)["required"]


def test_every_overlay_is_used():
    used = {file for protocol in Protocol for model in ALL for file in composition.overlay_files(protocol, model)}
    assert used == {f"overlays/{name}" for name in OVERLAYS}


@pytest.mark.parametrize("file", OVERLAYS)
def test_an_overlay_extends_the_source_of_its_surface(file):
    document = composition.load(f"overlays/{file}")
    assert document["overlay"] == "1.0.0"
    assert document["extends"] == f"../{composition.recipe(surface(file))['source']}"


@pytest.mark.parametrize("file", OVERLAYS)
def test_an_action_names_exactly_the_rules_that_its_update_does(file):
    for action in composition.load(f"overlays/{file}")["actions"]:
        rules = set()
        for path, node in nodes(action.get("update")):
            if path[-1:] == ("x-rules",):
                for rule in node.values():
                    rules |= set(rule.values()) if isinstance(rule, dict) else {rule}
        assert rules == ({action["x-rule"]} if "x-rule" in action else set())


@pytest.mark.parametrize("file", [f"overlays/{name}" for name in OVERLAYS] + ["responses.yaml"])
def test_every_x_source_is_in_a_document_of_the_surface(file):
    protocol = surface(file.removeprefix("overlays/").replace(".yaml", "-"))
    for path, node in nodes(composition.load(file)):
        if path[-1:] == ("x-source",):
            assert quoted(protocol, node), f"{file}: no document of {protocol} says {node!r}"


def test_every_part_of_the_transcribed_schemas_says_where_it_comes_from():
    schemas = composition.load("responses.yaml")["components"]["schemas"]

    def sourced(schema, known):
        known = known or "x-source" in schema or schema.get("x-inferred") is True
        for name, child in schema.get("properties", {}).items():
            assert known or "$ref" in child or {"x-source", "x-inferred"} & set(child), name
            sourced(child, known)

    for schema in schemas.values():
        sourced(schema, known=False)
        assert {"x-source", "x-inferred"} & set(schema)


def test_the_failing_overlay_is_named(monkeypatch):
    broken = {"overlay": "1.0.0", "actions": [{"target": "$.nothing", "description": "x", "remove": True}]}
    load = composition.load
    monkeypatch.setattr(composition, "load", lambda name: broken if name == "overlays/chat-k3.yaml" else load(name))
    with pytest.raises(overlay.OverlayError, match=r"chat-k3\.yaml: action 1: the target \$\.nothing selects nothing"):
        composition.shared.__wrapped__(Protocol.CHAT, "kimi-k3")


@pytest.mark.parametrize(
    ("protocol_", "model_", "pointer", "expected"),
    [
        ("messages", "kimi-k3.1-pro", ("stop_sequences", "items", "x-max-bytes"), 32),
        ("messages", "kimi-k3.1-pro", ("stop_sequences", "maxItems"), 5),
        ("messages", "kimi-k3", ("stop_sequences", "maxItems"), 0),
        ("messages", "kimi-k3", ("cache_control", "not"), {}),
        ("messages", "kimi-k3", ("output_config", "properties", "format", "not"), {}),
        ("messages", "kimi-k3", ("output_config", "properties", "effort", "const"), "max"),
        ("messages", "kimi-k3", ("temperature", "const"), 1),
        ("messages", "kimi-k3", ("top_p", "const"), 0.95),
        ("chat", "kimi-k3", ("reasoning_effort", "const"), "max"),
        ("chat", "kimi-k3", ("prompt_cache_options", "not"), {}),
        ("responses", "kimi-k3", ("max_output_tokens", "maximum"), 1048576),
    ],
)
def test_the_limits_of_a_model_are_in_its_schema(protocol_, model_, pointer, expected):
    node = specs.request_schema(Protocol(protocol_), model_)["properties"]
    for token in pointer:
        node = node[token]
    assert node == expected


@pytest.mark.skipif(not LEDGER.is_file(), reason="the ledger is not beside the repository")
@pytest.mark.parametrize("file", OVERLAYS)
def test_the_rules_of_an_overlay_are_in_the_ledger(file):
    known = set(re.findall(r"^- \{id: ([a-z0-9.-]+),", LEDGER.read_text(encoding="utf-8"), re.MULTILINE))
    named = {action["x-rule"] for action in composition.load(f"overlays/{file}")["actions"] if "x-rule" in action}
    assert named <= known
