"""Images and videos of a request: base64 whose first bytes are what its type says, and what they cost."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Callable

from conformance.reference.prompts import Media
from conformance.reference.refusals import invalid

IMAGE_TOKENS = 256
VIDEO_TOKENS = 1024
_BYTES_A_TOKEN = 1024  # on top: larger files cost more
_DATA_URL = re.compile(r"data:([a-z0-9.+-]+/[a-z0-9.+-]+)((?:;[^;,]*)*),", re.IGNORECASE)
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_VIDEO_TYPES = ("video/mp4",)


def from_url(kind: str, url: str, where: str) -> Media:
    """The image or video (``kind``) that a data URL holds or an http URL names; nothing is fetched. Raises Refused."""
    if url.lower().startswith(("http://", "https://")):
        return _unfetched(kind, url)
    head = _DATA_URL.match(url)
    if head is None or ";base64" not in head[2].lower():
        raise invalid(f"{where}: a base64 data URL such as data:{kind}/…;base64,… is expected.")
    return from_base64(kind, head[1].lower(), url[head.end() :], where)


def from_reference(url: str, where: str) -> Media:
    """The image that a messages url source refers to; nothing is fetched. Raises Refused."""
    if not url.strip():
        raise invalid(f"{where}: the image URL is empty.")
    return _unfetched("image", url)


def from_base64(kind: str, media_type: str, data: str, where: str) -> Media:
    """The image or video in base64 text, its content checked against its type. Raises Refused."""
    allowed = _IMAGE_TYPES if kind == "image" else _VIDEO_TYPES
    if media_type not in allowed:
        raise invalid(f"{where}: the media type must be one of {', '.join(allowed)}.")
    try:
        content = base64.b64decode(re.sub(r"[\r\n]", "", data), validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid(f"{where}: the data is not valid base64.") from error
    size = _size(media_type, content)
    if size is None:
        raise invalid(f"{where}: the data is not a valid {media_type} file.")
    return Media(
        description=f"{_article(media_type)}{size}",
        digest=hashlib.blake2b(content, digest_size=16).hexdigest(),
        tokens=(IMAGE_TOKENS if kind == "image" else VIDEO_TOKENS) + len(content) // _BYTES_A_TOKEN,
    )


def _unfetched(kind: str, url: str) -> Media:
    return Media(
        description=f"{'an image' if kind == 'image' else 'a video'} at a URL",
        digest=hashlib.blake2b(url.encode(), digest_size=16).hexdigest(),
        tokens=IMAGE_TOKENS if kind == "image" else VIDEO_TOKENS,
    )


def _article(media_type: str) -> str:
    kind, _, name = media_type.partition("/")
    words = f"{name.upper()} {kind}"
    return f"an {words}" if words.startswith("MP4") else f"a {words}"


def _size(media_type: str, content: bytes) -> str | None:
    """The dimensions in words (blank where the header does not hold them); None for content of another type."""
    return _SIZES[media_type](content)


def _png(content: bytes) -> str | None:
    if not content.startswith(b"\x89PNG\r\n\x1a\n") or content[12:16] != b"IHDR" or len(content) < 33:
        return None
    return _pixels(*struct.unpack(">II", content[16:24]))


def _gif(content: bytes) -> str | None:
    if not content.startswith((b"GIF87a", b"GIF89a")) or len(content) < 13:
        return None
    return _pixels(*struct.unpack("<HH", content[6:10]))


def _jpeg(content: bytes) -> str | None:
    return "" if content.startswith(b"\xff\xd8\xff") and len(content) > 20 else None


def _webp(content: bytes) -> str | None:
    return "" if content[:4] == b"RIFF" and content[8:15] == b"WEBPVP8" and len(content) > 20 else None


def _mp4(content: bytes) -> str | None:
    return "" if content[4:8] == b"ftyp" and len(content) >= 16 else None


def _pixels(width: int, height: int) -> str | None:
    return f" of {width} by {height} pixels" if width and height else None


_SIZES: dict[str, Callable[[bytes], str | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
    "video/mp4": _mp4,
}
