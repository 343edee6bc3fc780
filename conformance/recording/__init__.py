"""Runs recorded as cassettes, one a probe, surface and model, and played again without a network."""

from conformance.recording.cassette import Cassette, Provenance, load
from conformance.recording.library import Library
from conformance.recording.recorder import record
from conformance.recording.replayer import Deviation, Replayer, replaying

__all__ = ["Cassette", "Deviation", "Library", "Provenance", "Replayer", "load", "record", "replaying"]
