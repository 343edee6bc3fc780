"""Small valid images and a video, in every documented form."""

from __future__ import annotations

from typing import Any

from conformance.generators.media import TYPES, base64_of, data_url
from conformance.probes.cell import Cell
from conformance.probes.script import Script
from conformance.values import Intent, Protocol

__all__ = ["TYPES", "base64_of", "data_url", "image_block", "images", "videos"]


def image_block(cell: Cell, name: str) -> dict[str, Any]:
    """An image as a content part of chat or a content block of messages."""
    if cell.protocol is Protocol.CHAT:
        return {"type": "image_url", "image_url": {"url": data_url(name)}}
    source = {"type": "base64", "media_type": TYPES[name], "data": base64_of(name)}
    return {"type": "image", "source": source}


def images(cell: Cell) -> Script:
    """One image of each documented type; on chat also as a plain string; in both modes."""
    if cell.protocol is Protocol.RESPONSES:
        return
    for name, kind in TYPES.items():
        if kind.startswith("image/"):
            yield from _showing(cell, image_block(cell, name))
    if cell.protocol is Protocol.CHAT:
        yield from _showing(cell, {"type": "image_url", "image_url": data_url("square.png")})


def videos(cell: Cell) -> Script:
    """A video as an object and as a plain string (chat), in both modes."""
    if cell.protocol is Protocol.CHAT:
        url = data_url("square.mp4")
        for form in ({"url": url}, url):
            yield from _showing(cell, {"type": "video_url", "video_url": form})


def _showing(cell: Cell, block: dict[str, Any]) -> Script:
    text = {"type": "text", "text": "What is shown? Answer in a few words."}
    for body in cell.both(cell.body(messages=[{"role": "user", "content": [block, text]}])):
        yield cell.ask(body, Intent.VALID)
