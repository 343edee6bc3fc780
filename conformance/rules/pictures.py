"""Images and videos as requests carry them: where they stand, and whether they are small whole files."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.protocols.view import Asked
from conformance.rules.history import blocks, turns
from conformance.rules.payloads import members
from conformance.values import Protocol

_LARGEST = 2**20  # bytes of a file that is small
_ADDRESS = re.compile(rb'"(?:url|image_url|video_url|file_url)"\s*:\s*"https?:', re.IGNORECASE)
_DATA_URL = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An image or a video of a request."""

    kind: str  # image or video
    media_type: str | None  # as declared; None for a file that is referred to, not sent
    data: bytes | None  # None where it is not sent, or is no base64

    @property
    def whole(self) -> bool:
        """Whether it is a small valid file of the type that is declared."""
        check = _CHECKS.get(self.media_type or "")
        return check is not None and self.data is not None and len(self.data) <= _LARGEST and check(self.data)


def pictures(asked: Asked) -> Iterator[Picture]:
    """Every image and video in the messages of a request; tool results are not looked into."""
    for turn in turns(asked):
        yield from shown(asked.protocol, blocks(turn))


def shown(protocol: Protocol, found: list[dict[str, Any]]) -> Iterator[Picture]:
    """The images and videos among content blocks, in the forms that the documents name."""
    for block in found:
        kind = block.get("type")
        if protocol is Protocol.MESSAGES and kind == "image":
            yield _source(members(block.get("source")))
        elif protocol is Protocol.CHAT and kind in ("image_url", "video_url"):
            value = block.get(str(kind))
            yield _url(str(kind).removesuffix("_url"), value.get("url") if isinstance(value, dict) else value)


def refers_elsewhere(asked: Asked) -> bool:
    """Whether a request names a file by its address, or a conversation that the server keeps: both may change."""
    return _ADDRESS.search(asked.raw) is not None or asked.body.get("conversation") is not None


def _source(source: dict[str, object]) -> Picture:
    media_type, data = source.get("media_type"), source.get("data")
    sent = source.get("type") == "base64" and isinstance(media_type, str) and isinstance(data, str)
    if not sent:
        return Picture(kind="image", media_type=None, data=None)
    return Picture(kind="image", media_type=str(media_type), data=_decoded(str(data)))


def _url(kind: str, url: object) -> Picture:
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    if found is None or not isinstance(url, str):
        return Picture(kind=kind, media_type=None, data=None)
    return Picture(kind=kind, media_type=found[1].lower(), data=_decoded(url[found.end() :]))


def _decoded(text: str) -> bytes | None:
    if len(text) > 2 * _LARGEST:
        return None
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, binascii.Error):
        return None


def _is_png(data: bytes) -> bool:
    """Whether the chunks of a PNG are whole, from IHDR to IEND, and each has the checksum that it says."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return False
    place, names = 8, []
    while place + 12 <= len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        name, end = data[place + 4 : place + 8], place + 8 + size
        if end + 4 > len(data) or zlib.crc32(data[place + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            return False
        names.append(name)
        place = end + 4
        if name == b"IEND":
            break
    return (
        names[:1] == [b"IHDR"] and b"IDAT" in names and names[-1] == b"IEND" and any(data[16:20]) and any(data[20:24])
    )


def _is_jpeg(data: bytes) -> bool:
    frame = re.search(rb"\xff[\xc0-\xc2]", data)
    return data.startswith(b"\xff\xd8\xff") and data.rstrip(b"\0").endswith(b"\xff\xd9") and frame is not None


def _is_gif(data: bytes) -> bool:
    return data[:6] in (b"GIF87a", b"GIF89a") and data.endswith(b";") and b"," in data[13:]


def _is_webp(data: bytes) -> bool:
    size = int.from_bytes(data[4:8], "little")
    return data.startswith(b"RIFF") and data[8:12] == b"WEBP" and size + 8 <= len(data) and data[12:15] == b"VP8"


def _is_mp4(data: bytes) -> bool:
    """Whether the boxes of an MP4 fill it exactly, a file type first."""
    place, names = 0, []
    while place + 8 <= len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        names.append(data[place + 4 : place + 8])
        if size < 8:
            return False
        place += size
    return place == len(data) and names[:1] == [b"ftyp"] and b"mdat" in names


_CHECKS: dict[str, Callable[[bytes], bool]] = {
    "image/png": _is_png,
    "image/jpeg": _is_jpeg,
    "image/gif": _is_gif,
    "image/webp": _is_webp,
    "video/mp4": _is_mp4,
}
