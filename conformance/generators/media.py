"""The small valid media files that requests carry, as base64 and as data URLs."""

from __future__ import annotations

import base64
import functools
from pathlib import Path

TYPES = {
    "square.png": "image/png",
    "square.jpg": "image/jpeg",
    "square.gif": "image/gif",
    "square.webp": "image/webp",
    "square.mp4": "video/mp4",
}
IMAGES = tuple(name for name, kind in TYPES.items() if kind.startswith("image/"))
VIDEOS = tuple(name for name, kind in TYPES.items() if kind.startswith("video/"))
_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (_PACKAGE.parent / "fixtures" / "media", _PACKAGE / "_data" / "fixtures" / "media")  # checkout, wheel


@functools.cache
def base64_of(name: str) -> str:
    """The base64 text of one of our media files."""
    folder = next(folder for folder in _FOLDERS if (folder / name).is_file())
    return base64.b64encode((folder / name).read_bytes()).decode()


def data_url(name: str) -> str:
    """The data URL of one of our media files."""
    return f"data:{TYPES[name]};base64,{base64_of(name)}"
