"""Where the fixtures lie, and the YAML that they are written in: its scalars are those of JSON."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

import conformance

_SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without its C part
_PACKAGE = Path(conformance.__file__).parent


def root() -> Path:
    """The folder fixtures: inside the package when installed from a wheel, beside it in a checkout."""
    inside = _PACKAGE / "_data" / "fixtures"
    return inside if inside.is_dir() else _PACKAGE.parent / "fixtures"


class _Loader(_SafeLoader):  # type: ignore[misc,valid-type]
    """YAML with the scalars of JSON: everything else is a string."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (the name and the form that PyYAML looks for)


_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?(?:0|[1-9][0-9]*)$"), list("-0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"),
    list("-0123456789"),
)


def load(path: Path) -> Any:
    """The value of a YAML file. Raises ``yaml.YAMLError`` and ``OSError``."""
    return yaml.load(path.read_bytes(), Loader=_Loader)  # noqa: S506 (a safe loader, with fewer types)
