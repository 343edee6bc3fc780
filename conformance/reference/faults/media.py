"""Faults with images and videos: refused by type or form, or not counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from conformance.models import K3, K31
from conformance.reference.faults.histories import Problems, blocks, turns, unless
from conformance.reference.faults.registry import CHAT, MESSAGES, fault
from conformance.reference.hooks import Context
from conformance.reference.prompts import Media
from conformance.reference.results import Result

_ON = (CHAT, MESSAGES)
_IMAGE = ("media.image-accepted",)
_TYPES = ("media.image-types-accepted",)
_VIDEO = ("media.video-accepted",)
_COST = ("media.image-costs-tokens",)


def _shown(context: Context, *kinds: str) -> Iterator[dict[str, Any]]:
    """The blocks of a request with an image or a video."""
    return (block for turn in turns(context) for block in blocks(turn) if block.get("type") in kinds)


def _typed(context: Context, media_type: str) -> bool:
    """Whether a request shows an image of a type."""
    return any(media_type in str(block) for block in _shown(context, "image", "image_url"))


@fault("image-refused", "problems", on=_ON, caught_by=(*_IMAGE, *_TYPES))
def image_refused(context: Context, problems: Problems) -> Problems:
    """Images are refused."""
    return unless(problems, not any(_shown(context, "image", "image_url")), "images are not supported")


@fault("image-refused-on-k3", "problems", on=_ON, models=K3, caught_by=_IMAGE)
def image_refused_on_k3(context: Context, problems: Problems) -> Problems:
    """On kimi-k3 alone images are refused."""
    shown = any(_shown(context, "image", "image_url")) and context.model in K3
    return unless(problems, not shown, "images are not supported")


@fault("image-jpeg-refused", "problems", on=_ON, caught_by=(*_IMAGE, *_TYPES))
def jpeg_refused(context: Context, problems: Problems) -> Problems:
    """JPEG images are refused."""
    return unless(problems, not _typed(context, "image/jpeg"), "only PNG images are supported")


@fault("image-gif-refused", "problems", on=(MESSAGES,), models=K31, caught_by=_TYPES)
def gif_refused(context: Context, problems: Problems) -> Problems:
    """GIF images are refused."""
    return unless(problems, not _typed(context, "image/gif"), "the media type is not supported")


@fault("image-webp-refused", "problems", on=(MESSAGES,), models=K31, caught_by=_TYPES)
def webp_refused(context: Context, problems: Problems) -> Problems:
    """WebP images are refused."""
    return unless(problems, not _typed(context, "image/webp"), "the media type is not supported")


@fault("image-string-refused", "problems", on=(CHAT,), caught_by=(*_IMAGE, "request.forms-accepted"))
def image_string_refused(context: Context, problems: Problems) -> Problems:
    """An image is refused where its URL is a plain string instead of an object."""
    plain = any(isinstance(block.get("image_url"), str) for block in _shown(context, "image_url"))
    return unless(problems, not plain, "image_url must be an object")


@fault("image-object-refused", "problems", on=(CHAT,), caught_by=_IMAGE)
def image_object_refused(context: Context, problems: Problems) -> Problems:
    """An image is refused where its URL is in an object instead of a plain string."""
    wrapped = any(isinstance(block.get("image_url"), dict) for block in _shown(context, "image_url"))
    return unless(problems, not wrapped, "image_url must be a string")


@fault("video-refused", "problems", on=(CHAT,), caught_by=_VIDEO)
def video_refused(context: Context, problems: Problems) -> Problems:
    """Videos are refused."""
    return unless(problems, not any(_shown(context, "video_url")), "videos are not supported")


@fault("video-string-refused", "problems", on=(CHAT,), caught_by=_VIDEO)
def video_string_refused(context: Context, problems: Problems) -> Problems:
    """A video is refused where its URL is a plain string instead of an object."""
    plain = any(isinstance(block.get("video_url"), str) for block in _shown(context, "video_url"))
    return unless(problems, not plain, "video_url must be an object")


def _tokens(context: Context) -> int:
    """The tokens of the images and videos of a prompt."""
    parts = [part for message in context.prompt.messages for part in message.parts] if context.prompt else []
    return sum(part.tokens for part in parts if isinstance(part, Media))


@fault("image-uncounted", "result", on=_ON, caught_by=_COST)
def image_uncounted(context: Context, result: Result) -> Result:
    """An image adds nothing to the input tokens."""
    return replace(result, usage=replace(result.usage, input=result.usage.input - _tokens(context)))


@fault("image-counted-as-output", "result", on=_ON, caught_by=_COST)
def image_as_output(context: Context, result: Result) -> Result:
    """The tokens of an image are counted as output instead of input."""
    cost = _tokens(context)
    usage = replace(result.usage, input=result.usage.input - cost, output=result.usage.output + cost)
    return replace(result, usage=usage)
