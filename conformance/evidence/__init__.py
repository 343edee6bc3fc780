"""Evidence from files: recordings of exchanges, read and written, and the minimal pairs of the rules."""

from conformance.evidence.fields import BadMap, FieldMap, field_map
from conformance.evidence.files import Reading, open_file, parse, read
from conformance.evidence.folders import recordings
from conformance.evidence.journal import Journal
from conformance.evidence.large import Large, Together
from conformance.evidence.recording import LARGEST, Recording, Unreadable

__all__ = [
    "LARGEST",
    "BadMap",
    "FieldMap",
    "Journal",
    "Large",
    "Reading",
    "Recording",
    "Together",
    "Unreadable",
    "field_map",
    "open_file",
    "parse",
    "read",
    "recordings",
]
