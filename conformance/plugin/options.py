"""The ``--kimi-…`` options of pytest; what they mean is read in ``settings``."""

from __future__ import annotations

import pytest


def add_options(parser: pytest.Parser) -> None:
    """The ``--kimi-…`` options."""
    group = parser.getgroup("kimi-conformance", "the Kimi API under test")
    group.addoption("--kimi-target", default="embedded", metavar="NAME|URL", help="embedded, direct, api or a base URL")
    group.addoption("--kimi-key-env", metavar="NAME", help="the environment variable with the API key (KIMI_API_KEY)")
    group.addoption("--kimi-model", action="append", default=[], metavar="MODEL", help="only this model; repeatable")
    group.addoption(
        "--kimi-protocol", action="append", default=[], metavar="NAME", help="only this surface; repeatable"
    )
    group.addoption("--kimi-rule", action="append", default=[], metavar="PATTERN", help="only these rules; repeatable")
    group.addoption("--kimi-profile", metavar="NAME", help="smoke, full (default) or nightly")
    group.addoption("--kimi-date", metavar="YYYY-MM-DD", help="of a nightly run: which constraints are due (today)")
    group.addoption(
        "--kimi-budget", action="append", default=[], metavar="requests=N,tokens=N,cost=X", help="a hard limit"
    )
    group.addoption(
        "--kimi-price",
        action="append",
        default=[],
        metavar="MODEL=IN/OUT[/CACHED]",
        help="of a million tokens; repeatable",
    )
    group.addoption("--kimi-seed", metavar="N", help="the seed of all random text (default: a new one each run)")
    group.addoption("--kimi-out", metavar="DIR", help="where the reports go (default: reports/<date>-<target>)")
    group.addoption("--kimi-strict", action="store_true", help="should findings fail the run as must findings do")
    group.addoption("--kimi-basis", metavar="NAME", help="documented: leave out what only the format fixes")
    group.addoption("--kimi-timeout", default="300", metavar="SECONDS", help="the longest that one answer may take")
    group.addoption("--kimi-rpm", metavar="N", help="send no more than so many requests a minute")
    group.addoption(
        "--kimi-record", metavar="DIR", help="write what was sent and answered into this folder as cassettes"
    )
    group.addoption("--kimi-replay", metavar="DIR", help="send nothing: take the answers from this folder's cassettes")
    group.addoption("--kimi-redact", action="append", default=[], metavar="PATTERN", help="hide what this matches")
