"""Sessions for developers and for users who run the suite from nox: tests, conformance, replay, lint, types."""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "tests"]
nox.options.default_venv_backend = "venv"


@nox.session
def tests(session: nox.Session) -> None:
    """Run the suite's own tests."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Run the conformance suite, by default against the embedded reference server."""
    session.install(".")
    session.run("kimi-conformance", "run", *session.posargs)


@nox.session
def replay(session: nox.Session) -> None:
    """Run the conformance suite offline, on the cassettes that are part of this repository."""
    session.install(".")
    session.run("kimi-conformance", "run", "--replay", "cassettes", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install("ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    session.install("-e", ".[test]")
    session.run("mypy")


@nox.session
def prism(session: nox.Session) -> None:
    """Compare our valid or invalid with that of @stoplight/prism-cli, where it is installed."""
    local = Path("node_modules", ".bin", "prism")
    found = shutil.which("prism") or (str(local.resolve()) if local.exists() else None)
    if shutil.which("npm") is None or found is None:
        session.skip("prism is not here: npm install @stoplight/prism-cli")
    session.install("-e", ".[test]")
    session.run("pytest", "tests/generators/test_prism.py", *session.posargs, env={"PRISM": found})
