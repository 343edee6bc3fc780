"""``explain``: one rule in full, with its citation and an example on either side."""

from __future__ import annotations

from collections.abc import Iterator

import click

from conformance import specs
from conformance.cli.examples import example
from conformance.cli.listing import in_words
from conformance.cli.printable import style, wrapped
from conformance.rules import RULES, Rule
from conformance.rules.patterns import nearest
from conformance.values import Over, Source

OVERS = {
    Over.EXCHANGE: "one exchange",
    Over.STREAM: "one event stream",
    Over.PAIR: "exchanges compared with each other",
    Over.CONVERSATION: "the exchanges of a conversation",
}


@click.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Say what RULE demands, where a document says it, when it applies, and show what passes and what fails."""
    found = RULES.get(rule)
    if found is None:
        close = nearest(rule, RULES)
        hint = f"Nearest: {', '.join(close)}." if close else "kimi-conformance rules lists them."
        raise click.UsageError(f"No rule {rule[:80]!r}. {hint}")
    click.echo(f"{style(found.id, bold=True)}\n")
    click.echo(wrapped(found.statement, 2))
    for name, text in _facts(found):
        click.echo(f"\n{style(name, bold=True)}\n{text}")
    for name, lines in example(found):
        click.echo(f"\n{style(name, bold=True)}")
        for line in lines:
            click.echo(f"  {line}".rstrip())


def _facts(rule: Rule) -> Iterator[tuple[str, str]]:
    yield "Weight", "\n".join(wrapped(line, 2) for line in _weight(rule))
    yield "When it applies", wrapped(f"{rule.applies.rstrip('.')}; judged over {OVERS[rule.over]}.", 2)
    surfaces = ", ".join(protocol.value for protocol in rule.protocols)
    yield "Where", wrapped(f"{surfaces}; models: {in_words(rule.models)}.", 2)
    yield "Source", "\n".join(_sources(rule))


def _weight(rule: Rule) -> Iterator[str]:
    yield f"{rule.level.value}, {rule.basis.value}."
    analogous = sorted(protocol.value for protocol in rule.by_analogy)
    if analogous and rule.basis.value == "documented":
        yield f"By analogy on {', '.join(analogous)}: the basis is the format there."
    for protocol, model in sorted(rule.should_on):
        yield f"should on {protocol.value} with {model}: its own page leaves the sentence out."
    for protocol in rule.protocols:
        level = rule.level_on(protocol, rule.models[0])
        if level != rule.level and (protocol, rule.models[0]) not in rule.should_on:
            yield f"{level.value} on {protocol.value}."


def _sources(rule: Rule) -> Iterator[str]:
    places: dict[Source, list[str]] = {}
    for protocol in rule.protocols:
        places.setdefault(rule.sources[protocol], []).append(protocol.value)
    for source, surfaces in places.items():
        found = specs.citation(source)
        words = f" ({', '.join(surfaces)})" if len(places) > 1 else ""
        yield f"  {found.file}, line {found.line}{words}"
        yield from (f"    > {line}" for line in found.text.splitlines())
