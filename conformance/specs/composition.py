"""The effective OpenAPI document of a surface and model: a source and the overlays that effective.toml lists."""

from __future__ import annotations

import copy
import functools
import tomllib
from typing import Any

from conformance.models import MODELS
from conformance.specs import overlay
from conformance.specs.documents import root
from conformance.values import Protocol


@functools.cache
def _recipes() -> dict[str, Any]:
    return tomllib.loads((root() / "effective.toml").read_text(encoding="utf-8"))


def recipe(protocol: Protocol) -> dict[str, Any]:
    """What effective.toml says of a surface: path, source, overlays, required and models."""
    found: dict[str, Any] = _recipes()[protocol.value]
    return found


@functools.cache
def load(name: str) -> Any:
    """A YAML file below the openapi directory, parsed; shared, so never to be changed."""
    import yaml  # noqa: PLC0415 (importing the rules must not pay for it)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((root() / name).read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 (both are safe loaders)


def overlay_files(protocol: Protocol, model: str, *, required: bool = True) -> tuple[str, ...]:
    """The overlays of a surface and model in the order in which they apply, as paths below the openapi directory."""
    row = recipe(protocol)
    if model not in MODELS:
        raise LookupError(f"{model!r} is none of the documented models {', '.join(MODELS)}")
    names = [*row["overlays"], *row["models"][model], *(row["required"] if required else ())]
    return tuple(f"overlays/{name}" for name in names)


@functools.cache
def shared(protocol: Protocol, model: str, *, required: bool = True) -> dict[str, Any]:
    """As ``effective``, but the one cached document: never to be changed."""
    document: dict[str, Any] = load(recipe(protocol)["source"])
    for file in overlay_files(protocol, model, required=required):
        try:
            document = overlay.apply(document, load(file))
        except overlay.OverlayError as error:
            raise overlay.OverlayError(f"{file}: {error}") from None
    return document


def effective(protocol: Protocol, model: str) -> dict[str, Any]:
    """The effective OpenAPI document, source plus overlays; a copy that the caller may change.

    LookupError for a model that is none of the three.
    """
    return copy.deepcopy(shared(protocol, model))
