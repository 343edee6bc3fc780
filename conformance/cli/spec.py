"""``spec``: the effective OpenAPI documents, and the documents that they come from."""

from __future__ import annotations

import json

import click

from conformance import specs
from conformance.cli.options import MODEL, PROTOCOL, OneOf
from conformance.cli.printable import dump
from conformance.models import DEFAULT
from conformance.values import Protocol

LAYOUT = OneOf("format", ("yaml", "json"))


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
    documents = specs.sources()
    if output == "json":
        dump(
            [
                {
                    "name": document.name,
                    "title": document.title,
                    "protocol": document.protocol.value,
                    "models": list(document.models),
                    "file": document.file,
                    "sha256": document.sha256,
                }
                for document in documents
            ]
        )
        return
    for document in documents:
        click.echo(f"{document.name:<13} {document.protocol.value:<10} {document.sha256}  {document.file}")
        click.echo(f"{'':<13} {document.title}; {', '.join(document.models)}")
