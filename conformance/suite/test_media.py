"""Images and videos."""

from __future__ import annotations

from conformance.plugin.marks import Probe, cells, exercises
from conformance.probes import media
from conformance.values import Protocol


@exercises("media.image-accepted", "media.image-types-accepted")
@cells(protocols=(Protocol.CHAT, Protocol.MESSAGES))
def test_images(probe: Probe) -> None:
    probe(media.images)


@exercises("media.video-accepted")
@cells(protocols=(Protocol.CHAT,))
def test_videos(probe: Probe) -> None:
    probe(media.videos)
