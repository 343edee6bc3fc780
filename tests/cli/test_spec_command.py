"""``spec source``: what a citation points to, for users without the repository."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conformance.cli import main


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_a_cited_line_can_be_read_without_the_repository():
    result = run("spec", "source", "chat-all", "--line", "541")
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line.startswith("  541>")] == [
        "  541>         total_tokens:"
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("responses", "--line", "99999"), "has 200 lines"), (("chat-al",), "Did you mean chat-all?")],
)
def test_a_line_or_document_that_is_not_there_is_a_usage_error(arguments, says):
    result = run("spec", "source", *arguments)
    assert result.exit_code == 2
    assert says in result.output
