"""What a run leaves behind: the run file, and every report rendered from it. One file a format."""

from __future__ import annotations

from conformance.reports.document import Report, report, report_schema
from conformance.reports.runfile import BrokenRunFile, EmptyRunFile, read_run, write_run
from conformance.reports.writer import write

__all__ = [
    "BrokenRunFile",
    "EmptyRunFile",
    "Report",
    "read_run",
    "report",
    "report_schema",
    "write",
    "write_run",
]
