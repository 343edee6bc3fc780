"""The kill matrix as a self-contained page."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from conformance.reports.safe import safe


def selftest_page(matrix: dict[str, Any], *, sound: bool) -> str:
    """Faults down, their trials and what caught them across; the matrix as ``selftest --format json`` prints it."""
    faults: dict[str, list[dict[str, Any]]] = {}
    for trial in matrix["trials"]:
        faults.setdefault(trial["fault"], []).append(trial)
    return _template().render(matrix=matrix, faults=faults, sound=sound, safe=safe)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("conformance.reports.html", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("selftest.html.j2")
