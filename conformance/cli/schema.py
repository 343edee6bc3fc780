"""``schema``: the JSON Schema of each output that programs read, generated from the structs that are printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from conformance.cli.options import OneOf
from conformance.cli.printable import hanging
from conformance.reports.document import json_schema


@dataclass(frozen=True, kw_only=True)
class Output:
    """One kind of output: what prints it, and the struct that it is, or a list of such."""

    by: str
    struct: str  # "module:name"
    many: bool = False
    version: int = 1  # a field that goes or changes its meaning needs a new one; a further field does not


OUTPUTS = {
    "report": Output(by="run and proxy, and stands in report.json", struct="conformance.reports.document:Report"),
    "plan": Output(by="plan", struct="conformance.planning.plan:Plan"),
    "check": Output(by="check", struct="conformance.cli.checked:CheckDocument"),
    "fuzz": Output(by="fuzz", struct="conformance.cli.fuzz:FuzzDocument"),
    "failure": Output(by="fuzz, into failure files", struct="conformance.generators.failure:Failure"),
    "replay-failure": Output(by="--replay-failure", struct="conformance.cli.replaying:ReplayDocument"),
    "constraints": Output(by="constraints", struct="conformance.cli.constraints:ConstraintsDocument"),
    "selftest": Output(by="selftest", struct="conformance.cli.selftest:SelftestDocument"),
    "rules": Output(by="rules", struct="conformance.cli.rules:RuleEntry", many=True),
    "faults": Output(by="faults", struct="conformance.cli.faults:FaultEntry", many=True),
    "clauses": Output(by="clauses", struct="conformance.cli.clauses:ClauseEntry", many=True),
    "documents": Output(by="spec list", struct="conformance.cli.spec:DocumentEntry", many=True),
    "cassettes": Output(by="cassettes list", struct="conformance.cli.cassettes:CassetteEntry", many=True),
    "cassette-problems": Output(by="cassettes verify", struct="conformance.cli.cassettes:ProblemEntry", many=True),
}


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of an output, under an id that ends in its version."""
    output = OUTPUTS[name]
    module, _, struct = output.struct.partition(":")
    kind: Any = getattr(import_module(module), struct)
    return json_schema(list[kind] if output.many else kind, f"urn:kimi-conformance:{name}:{output.version}")


def _named(text: str) -> str | None:
    return "report" if text == "run" else text if text in OUTPUTS else None


@click.command()
@click.argument("name", required=False, type=OneOf("output", tuple(OUTPUTS), read=_named), metavar="[NAME]")
def schema(name: str | None) -> None:
    """Print the JSON Schema of what a command prints with --format json; without NAME, list them.

    The id of a schema ends in its version. Within a version fields are only added.
    """
    if name is not None:
        click.echo(json.dumps(schema_of(name), indent=2))
        return
    width = max(map(len, OUTPUTS))
    for known, output in OUTPUTS.items():
        click.echo(hanging(f"{known.ljust(width)}  printed by {output.by}"))
