"""Images and videos: which files count as whole, and which refusals are held against the service."""

from __future__ import annotations

import base64
import json

import pytest
from variants import judged, outcome, put, to_k3

from conformance.evidence import fixtures
from conformance.protocols.asking import ask
from conformance.rules.pictures import pictures
from conformance.values import Outcome, Protocol, Request

FILES = {
    "image/png": "square.png",
    "image/jpeg": "square.jpg",
    "image/gif": "square.gif",
    "image/webp": "square.webp",
    "video/mp4": "square.mp4",
}
QUESTION = {"type": "text", "text": "[b41f07] Which colour is this?"}
REFUSED = {
    "chat": {"error": {"message": "only text", "type": "invalid_request_error", "code": None}},
    "messages": {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "only text"},
        "request_id": "r",
    },
}


def data(media_type):
    return (fixtures.root() / "media" / FILES[media_type]).read_bytes()


def part(surface, media_type, content=None, *, plain=False):
    encoded = base64.b64encode(data(media_type) if content is None else content).decode()
    if surface == "messages":
        source = {"type": "base64", "media_type": media_type, "data": encoded}
        return {"type": "image", "source": source}
    kind = "video_url" if media_type.startswith("video") else "image_url"
    url = f"data:{media_type};base64,{encoded}"
    return {"type": kind, kind: url if plain else {"url": url}}


def asked(*parts):
    return put("/0/request/body/messages/0/content", [*parts, QUESTION])


def refused(surface, status=400):
    return put(
        "/0/response",
        {"status": status, "headers": {"Content-Type": "application/json"}, "json": REFUSED[surface]},
    )


def read(surface, *parts):

    protocol = Protocol(surface)
    body = json.dumps({"messages": [{"role": "user", "content": list(parts)}]}).encode()
    return list(pictures(ask(protocol, Request(method="POST", url=f"https://a/v1/{surface}", body=body))))


@pytest.mark.parametrize("media_type", FILES)
def test_the_media_that_probes_send_are_whole(media_type):
    (found,) = read("chat", part("chat", media_type))
    assert found.whole


@pytest.mark.parametrize("media_type", FILES)
@pytest.mark.parametrize("damage", [lambda d: d[: len(d) // 2], lambda d: b"", lambda d: d[1:], lambda d: b"text"])
def test_damaged_files_are_not_whole(media_type, damage):
    (found,) = read("chat", part("chat", media_type, damage(data(media_type))))
    assert not found.whole


@pytest.mark.parametrize("media_type", ["image/png", "image/jpeg", "image/gif"])
def test_a_file_under_another_type_is_not_whole(media_type):
    (found,) = read("messages", part("messages", "image/webp", data(media_type)))
    assert not found.whole


def test_files_that_are_referred_to_are_not_judged():
    blocks = [
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "image_url", "image_url": None},
        {"type": "image_url", "image_url": "data:image/png;base64,???"},
    ]
    assert [picture.whole for picture in read("chat", *blocks)] == [False, False, False]


ACCEPTED = {
    "a PNG as an object": ("chat", [part("chat", "image/png")], "media.image-accepted"),
    "a PNG as a string": ("chat", [part("chat", "image/png", plain=True)], "media.image-accepted"),
    "a JPEG, as in the documented example": ("chat", [part("chat", "image/jpeg")], "media.image-accepted"),
    "a PNG block": ("messages", [part("messages", "image/png")], "media.image-accepted"),
    "a GIF block": ("messages", [part("messages", "image/gif")], "media.image-types-accepted"),
    "a WebP block": ("messages", [part("messages", "image/webp")], "media.image-types-accepted"),
    "a video as a string": ("chat", [part("chat", "video/mp4", plain=True)], "media.video-accepted"),
}


@pytest.mark.parametrize(("surface", "parts", "rule"), ACCEPTED.values(), ids=ACCEPTED)
@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_small_whole_files_must_be_accepted(surface, parts, rule, mode):
    changes = [asked(*parts), refused(surface)]
    assert (rule, "should") in judged(f"{surface}.{mode}", changes)
    vouched = [*changes, put("/0/intents", ["valid"])]
    assert (rule, "should" if "video" in rule else "must") in judged(f"{surface}.{mode}", vouched)


def test_kimi_k3_is_held_to_images_on_both_surfaces():
    for surface, level in (("chat", "must"), ("messages", "should")):
        vouched = [*to_k3(surface), asked(part(surface, "image/png")), put("/0/intents", ["valid"]), refused(surface)]
        assert ("media.image-accepted", level) in judged(f"{surface}.plain", vouched)


DOUBTFUL = {
    "a damaged image": [asked(part("chat", "image/png", b"x"))],
    "an image elsewhere": [asked({"type": "image_url", "image_url": "https://example.com/a.png"})],
    "a GIF, which chat does not name": [asked(part("chat", "image/gif"))],
    "both limits": [asked(part("chat", "image/png")), put("/0/request/body/max_tokens", 100)],
    "an undocumented parameter": [asked(part("chat", "image/png")), put("/0/request/body/seed", 1)],
    "a request that breaks the schema": [
        asked(part("chat", "image/png")),
        put("/0/request/body/max_completion_tokens", 0),
    ],
    "an image and a damaged one": [asked(part("chat", "image/png"), part("chat", "image/png", b"x"))],
}


@pytest.mark.parametrize("changes", DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubtful_requests_may_be_refused(changes):
    assert outcome("media.image-accepted", "chat.plain", changes, refused("chat")) is Outcome.NOT_EXERCISED


@pytest.mark.parametrize("status", [401, 413, 429, 500, 503])
def test_other_statuses_do_not_tell(status):
    changes = [asked(part("chat", "image/png")), refused("chat", status)]
    assert outcome("media.image-accepted", "chat.plain", changes) is Outcome.INCONCLUSIVE
