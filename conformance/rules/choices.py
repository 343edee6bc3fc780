"""The must rules that a model's own choice can break, so that a failure is asked again before it counts.

What the server decides (status codes, framing, counts, refusals, a forced call) is the same each time and is never
asked again. What the model writes is not: a failure counts when two of three askings show it.
"""

from __future__ import annotations

BY_CHOICE = frozenset(
    {
        "body.answer-findable",  # the model may end without text
        "body.text-not-empty",  # likewise
        "finish.stop-sequence-stops",  # the model may word the text differently from the control answer
        "format.json-object",  # what it writes need not parse
        "format.json-schema",  # likewise
        "model.k3.response-format-accepted",  # likewise, for the part about the content
        "stream.tools-equal-json",  # it may choose other arguments in each mode
        "stream.utf8-intact",  # it may write U+FFFD itself
        "tool.arguments-json",  # it writes the arguments
        "tool.declared-only",  # it names the tool
        "tool.input-object",  # it writes the input
        "tool.no-markup-in-text",  # it may quote a marker
        "tool.none-declared",  # it decides to call
    }
)
