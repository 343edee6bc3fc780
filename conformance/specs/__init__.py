"""The documents as data: effective OpenAPI schemas, the constraints a body breaks, citations and examples.

Everything is read from the openapi directory when it is first asked for, and kept. Importing this reads nothing.
"""

from __future__ import annotations

from conformance.specs.breach import Breach, body_breaches, breaches, event_breaches
from conformance.specs.citations import Citation, citation
from conformance.specs.clauses import Clause, ClauseMapError, clauses, exclusion
from conformance.specs.composition import effective
from conformance.specs.constraint import Constraint, constraints
from conformance.specs.documents import Document, sources, spec_hashes
from conformance.specs.examples import documented_examples, example_answer
from conformance.specs.overlay import OverlayError
from conformance.specs.schemas import event_schemas, request_schema, response_schema

__all__ = [
    "Breach",
    "Citation",
    "Clause",
    "ClauseMapError",
    "Constraint",
    "Document",
    "OverlayError",
    "body_breaches",
    "breaches",
    "citation",
    "clauses",
    "constraints",
    "documented_examples",
    "effective",
    "event_breaches",
    "event_schemas",
    "example_answer",
    "exclusion",
    "request_schema",
    "response_schema",
    "sources",
    "spec_hashes",
]
