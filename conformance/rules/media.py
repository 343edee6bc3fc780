"""Images and videos: the documented kinds are accepted, and an image costs tokens."""

from __future__ import annotations

from conformance.models import K31
from conformance.protocols.view import Answer
from conformance.rules.groups import images
from conformance.rules.history import call_ids, result_ids
from conformance.rules.payloads import brief
from conformance.rules.pictures import Picture, pictures
from conformance.rules.registry import CHAT, MESSAGES, Findings, Group, Inconclusive, cite, rule
from conformance.rules.tools import K3_MESSAGES
from conformance.values import Basis, Finding, Intent, Level, Over

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_EXAMPLE_TYPES = ("image/png", "image/jpeg")  # of the documented examples
_BLOCK = cite("messages-k31", "#/components/schemas/ImageBlock")
_OTHER_CAUSES = frozenset({401, 402, 403, 404, 405, 408, 413, 429})  # refusals that say nothing about the file


def _sound(answer: Answer) -> list[Picture]:
    """The pictures of a request without a visible fault; none where one of them is no whole file."""
    asked = answer.asked
    found = list(pictures(asked))
    faulty = asked.malformed is not None or any(not breach.open for breach in asked.breaches)
    if faulty or answer.intends(Intent.HOSTILE) or answer.intends(Intent.INVALID_KEY):
        return []
    if not found or not all(picture.whole for picture in found) or not result_ids(asked) <= call_ids(asked):
        return []
    return found


def _only(answer: Answer, kind: str, types: tuple[str, ...]) -> bool:
    found = _sound(answer)
    return bool(found) and all(picture.kind == kind and picture.media_type in types for picture in found)


def _accepted(answer: Answer, what: str) -> Findings:
    status = answer.status
    if status == 200 and answer.error is None:
        return
    if status is None or status == 200 or status >= 500 or status in _OTHER_CAUSES:
        raise Inconclusive(f"the request got {status or 'no answer'}")
    message = brief(answer.error.message) if answer.error is not None else ""
    yield Finding(
        message=f"{what} is refused",
        expected=200,
        actual=f"{status}: {message}",
        level=None if answer.intends(Intent.VALID) else Level.SHOULD,
    )


@rule(
    "media.image-accepted",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT, MESSAGES),
    source={
        CHAT: cite(
            "chat-all", "#/paths/~1v1~1chat~1completions/post/requestBody/content/application~1json/examples/multimodal"
        ),
        MESSAGES: _BLOCK,
    },
    when=lambda answer: _only(answer, "image", _EXAMPLE_TYPES),
    applies="a small valid PNG or JPEG as a data URL or base64 block",
    should_on=K3_MESSAGES,
)
def images_are_accepted(answer: Answer) -> Findings:
    """A small valid image is accepted, as a data URL (object or string) and as a base64 block."""
    yield from _accepted(answer, "a small valid image")


@rule(
    "media.image-types-accepted",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-k31", "#/components/schemas/ImageBlock/properties/source/properties/media_type"),
    when=lambda answer: _only(answer, "image", _IMAGE_TYPES),
    applies="a small valid JPEG, PNG, GIF or WebP under its own media_type",
)
def image_types_are_accepted(answer: Answer) -> Findings:
    """JPEG, PNG, GIF and WebP are accepted."""
    types = sorted({str(picture.media_type) for picture in pictures(answer.asked)})
    yield from _accepted(answer, f"a small valid {' and '.join(types)}")


@rule(
    "media.video-accepted",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=cite("chat-all", "Video when `type=video_url`; a URL string may also be passed"),
    when=lambda answer: _only(answer, "video", ("video/mp4",)),
    applies="a small valid MP4 as a data URL",
)
def videos_are_accepted(answer: Answer) -> Findings:
    """A small valid MP4 is accepted, as an object and as a plain string."""
    yield from _accepted(answer, "a small valid MP4")


@rule(
    "media.image-costs-tokens",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    over=Over.PAIR,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatUsage/properties/prompt_tokens"),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageUsage/properties/input_tokens"),
    },
    find=images,
)
def image_costs_input(group: Group) -> Findings:
    """The same message has more input tokens with an image than without."""
    counts = [answer.usage.input if answer.ok and answer.usage is not None else None for answer in group]
    without, with_image = counts
    if without is None or with_image is None:
        raise Inconclusive("one of the two requests has no input count")
    if with_image <= without:
        yield Finding(
            message="the image adds nothing to the input tokens",
            pointer="/usage",
            expected=f"more than {without}",
            actual=with_image,
            exchange=group[-1].exchange.id,
        )
