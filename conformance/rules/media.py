"""Images and videos: the documented kinds are accepted, and an image costs tokens."""

from __future__ import annotations

from conformance.models import K31
from conformance.protocols.view import Answer
from conformance.rules.decisions import acceptance, posted, weight
from conformance.rules.doubts import sent_whole
from conformance.rules.groups import images
from conformance.rules.past_turns import goes_on
from conformance.rules.pictures import Picture, pictures
from conformance.rules.registry import CHAT, MESSAGES, Findings, Group, Inconclusive, cite, rule
from conformance.rules.tools import K3_MESSAGES
from conformance.rules.undocumented import undocumented
from conformance.values import Basis, Finding, Intent, Level, Over

_IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_EXAMPLE_TYPES = ("image/png", "image/jpeg")  # of the documented examples
_LIMITS = ("max_tokens", "max_completion_tokens")
_BLOCK = cite("messages-k31", "#/components/schemas/ImageBlock")


def _sound(answer: Answer) -> list[Picture]:
    """The pictures of a request that cannot rightly be refused; none where one of them is no whole file.

    Only plain requests are looked at: what they hold besides pictures leaves no doubt.
    """
    asked = answer.asked
    found = list(pictures(asked))
    plain = {"model", "messages", "system", "stream", "reasoning_effort", "output_config", *_LIMITS}
    doubtful = (
        not posted(answer)
        or not sent_whole(answer)
        or bool(asked.breaches)
        or asked.model is None
        or asked.scheme != "bearer"
        or bool({Intent.HOSTILE, Intent.INVALID_KEY, Intent.OVERSIZED} & set(answer.exchange.intents))
        or bool(asked.body.keys() - plain)
        or {*_LIMITS} <= asked.body.keys()
        or asked.format is not None
        or goes_on(asked)
        or bool(undocumented(asked))
    )
    return found if not doubtful and found and all(picture.whole for picture in found) else []


def _only(answer: Answer, kind: str, types: tuple[str, ...]) -> bool:
    found = _sound(answer)
    return bool(found) and all(picture.kind == kind and picture.media_type in types for picture in found)


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
    yield from acceptance(answer, "a small valid image", level=weight(answer))


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
    yield from acceptance(answer, f"a small valid {' and '.join(types)}", level=weight(answer))


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
    yield from acceptance(answer, "a small valid MP4", level=weight(answer))


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
