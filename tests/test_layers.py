"""Imports point down: a module imports its own layer's parts and lower layers only, late imports included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance

PACKAGE = Path(conformance.__file__).parent

LAYERS = (  # from the bottom; parts of one layer do not import one another, but for the pairs in BESIDE
    ("values", "sse", "redact", "plain", "prices", "garbage"),
    ("specs", "models"),
    ("protocols",),
    ("rules", "reference"),
    ("deadlines", "client", "recording", "evidence", "generators", "probes", "transports"),
    ("judge", "known", "gate", "confirming"),
    ("reports",),
    ("proxy", "suite", "plugin", "selftest", "planning", "schemathesis_hooks", "fuzzing", "cli", "__main__"),
)
BESIDE = {  # importer: parts of its own layer that it may import
    "redact": {"values"},
    "sse": {"values"},
    "specs": {"models"},
    "protocols": set(),
    "client": {"deadlines", "evidence", "probes"},
    "recording": {"client", "evidence"},
    "probes": {"evidence", "generators"},
    "transports": {"evidence"},
    "gate": {"known"},
    "suite": {"plugin"},
    "plugin": {"suite", "planning"},
    "selftest": {"plugin", "suite"},
    "planning": {"selftest"},
    "__main__": {"cli"},
    "cli": {"plugin", "suite", "proxy", "selftest", "fuzzing", "planning"},
}
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Parts of the package that a module imports, and the lines: late ones and names in strings too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            if node.module == "conformance":
                names = [f"conformance.{alias.name}" for alias in node.names]
            assert node.level == 0, f"{path.name}:{node.lineno} imports relatively"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("conformance."):
            names = [node.value]
        for name in names:
            steps = name.split(".")
            if steps[0] == "conformance" and len(steps) > 1 and (steps[1] in RANK or (PACKAGE / steps[1]).is_dir()):
                yield steps[1], node.lineno


def test_every_module_has_a_layer():
    unknown = {part_of(path) for path in modules()} - RANK.keys() - {"__init__"}
    assert unknown == set()


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_down(path: Path):
    own = part_of(path)
    if own == "__init__":  # its public names, for type checkers; at run time nothing before it is asked for
        assert {other for other, _ in imported(path)} == {"judge", "transports"}
        return
    assert own in RANK, f"{own} is in no layer"
    wrong = [
        f"line {line}: {own} imports {other}"
        for other, line in imported(path)
        if other != own and not (RANK[other] < RANK[own] or other in BESIDE.get(own, ()))
    ]
    assert wrong == []


def test_rules_and_reference_never_meet():
    for path in modules():
        met = {other for other, _ in imported(path)} & {"rules", "reference"}
        assert not (part_of(path) == "rules" and "reference" in met)
        assert not (part_of(path) == "reference" and "rules" in met)


def test_an_import_that_points_up_is_seen(tmp_path):
    module = tmp_path / "late.py"
    module.write_text("def work():\n    from conformance import cli\n    import conformance.judge\n", "utf-8")
    assert list(imported(module)) == [("cli", 2), ("judge", 3)]


def test_no_two_test_files_share_a_name():
    """Tests are no package, so that pytest could not tell two files of one name apart."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
