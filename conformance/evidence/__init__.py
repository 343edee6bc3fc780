"""Evidence from files: recordings of exchanges, read and written, and the minimal pairs of the rules."""

from conformance.evidence.files import parse, read
from conformance.evidence.journal import Journal
from conformance.evidence.recording import LARGEST, Recording, Unreadable

__all__ = ["LARGEST", "Journal", "Recording", "Unreadable", "parse", "read"]
