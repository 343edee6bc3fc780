"""The JSON Schemas that a request carries: tool parameters and output formats."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from conformance.reference.refusals import invalid


def usable(schema: dict[str, Any], where: str) -> dict[str, Any]:
    """The schema, once its metaschema accepts it; raises Refused otherwise."""
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        raise invalid(f"{where}: not a valid JSON Schema: {error.message[:200]}") from error
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        raise invalid(f"{where}: not a usable JSON Schema.") from error
    return schema
