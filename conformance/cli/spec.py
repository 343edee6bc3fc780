"""``spec``: the effective OpenAPI documents, and the documents that they come from."""

from __future__ import annotations

import json

import click
import msgspec

from conformance import specs
from conformance.cli.options import MODEL, PROTOCOL, OneOf
from conformance.cli.printable import dump
from conformance.models import DEFAULT
from conformance.specs import documents
from conformance.values import Protocol

LAYOUT = OneOf("format", ("yaml", "json"))
DOCUMENT = OneOf("document", ("messages-all", "responses", "chat-k31", "messages-k31", "chat-all"))
AROUND = 8  # lines before and after the one that is asked for


class DocumentEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One vendored document, as ``spec list --format json`` lists it."""

    name: str
    title: str
    protocol: Protocol
    models: tuple[str, ...]
    file: str
    sha256: str


class Spec(click.Group):
    """A group whose unknown subcommands name the known ones."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, naming the subcommands where there is none of that name."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise click.UsageError(f"No command {args[0][:80]!r}. Commands: {', '.join(self.commands)}.", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Spec)
def spec() -> None:
    """Show what requests and answers are held against."""


@spec.command()
@click.argument("protocol", type=PROTOCOL, metavar="PROTOCOL")
@click.option("--model", type=MODEL, default=DEFAULT, show_default=True, help="The model whose overlays apply.")
@click.option("--format", "output", type=LAYOUT, default="yaml", show_default=True, help="How to print it.")
def show(protocol: str, *, model: str, output: str) -> None:
    """Print the effective OpenAPI document of PROTOCOL (chat, messages or responses): source and overlays."""
    document = specs.effective(Protocol(protocol), model)
    if output == "json":
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    import yaml  # noqa: PLC0415 (only this output pays for it)

    click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110), nl=False)


@spec.command("list")
@click.option("--format", "output", type=OneOf("format", ("text", "json")), default="text", help="How to print it.")
def list_(*, output: str) -> None:
    """List the vendored documents: name, surface, models, file and sha256."""
    listed = specs.sources()
    if output == "json":
        names = DocumentEntry.__struct_fields__
        rows = [DocumentEntry(**{name: getattr(document, name) for name in names}) for document in listed]
        dump(msgspec.to_builtins(rows))
        return
    for document in listed:
        click.echo(f"{document.name:<13} {document.protocol.value:<10} {document.sha256}  {document.file}")
        click.echo(f"{'':<13} {document.title}; {', '.join(document.models)}")


@spec.command()
@click.argument("document", type=DOCUMENT, metavar="DOCUMENT")
@click.option("--line", "lines", type=click.IntRange(min=1), help="Only the lines around this one.")
def source(document: str, *, lines: int | None) -> None:
    """Print a vendored document with line numbers: what a citation such as chat-all:541 points to."""
    text = documents.text(document).splitlines()
    if lines is not None and lines > len(text):
        raise click.UsageError(f"{document} has {len(text)} lines; there is no line {lines}.")
    first, last = (1, len(text)) if lines is None else (max(1, lines - AROUND), min(len(text), lines + AROUND))
    for number in range(first, last + 1):
        click.echo(f"{number:>5}{'>' if number == lines else ' '} {text[number - 1]}")
