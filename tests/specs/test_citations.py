import pytest

from conformance import specs
from conformance.specs import documents
from conformance.values import Source


def cited(document, anchor):
    return specs.citation(Source(document=document, anchor=anchor))


@pytest.mark.parametrize(
    ("document", "anchor", "begins", "holds"),
    [
        (
            "chat-all",
            "#/components/schemas/ChatUsage/properties/total_tokens",
            "            total_tokens:",
            "Total input",
        ),
        ("chat-all", "#/components/schemas/ChatMessage/properties/role/enum/2", "- assistant", "- assistant"),
        ("chat-all", "#/components/schemas/ChatMessage/required", "      required:", "- role"),
        ("messages-k31", "#/paths/~1v1~1messages/post/responses/200", "        '200':", "MessageResponse"),
        ("messages-k31", "#/info/version", "  version: 1.0.0", "version: 1.0.0"),
        ("messages-k31", "#/components/schemas/ThinkingBlock/properties/signature", "signature:", "this unchanged"),
    ],
)
def test_a_pointer_resolves_to_the_line_where_its_key_begins(document, anchor, begins, holds):
    found = cited(document, anchor)
    line = documents.text(document).split("\n")[found.line - 1]
    assert begins.strip() == line.strip()
    assert found.text.startswith(begins.strip())
    assert holds in found.text
    assert found.file == f"openapi/{documents.document(document).file}"


def test_a_quotation_ends_with_its_node():
    assert cited("chat-all", "#/components/schemas/ChatUsage/properties/total_tokens").text == (
        "total_tokens:\n  type: integer\n  description: Total input and output tokens."
    )
    assert cited("chat-all", "#/components/schemas/ChatUsage/properties/completion_tokens/description").text == (
        "description: Includes reasoning tokens."
    )
    folded = cited("chat-all", "#/components/schemas/ToolCall/properties/id/description").text
    assert folded.splitlines() == [
        "description: >-",
        "  Tool call ID used to associate a subsequent tool message through",
        "  tool_call_id.",
    ]


@pytest.mark.parametrize(
    ("document", "words", "holds"),
    [
        ("messages-all", "On a match, stop_reason is end_turn and stop_sequence is null", "Up to 5 sequences"),
        ("responses", "usually reasoning followed by message", "Output items"),
        ("chat-k31", "none does not disable reasoning", "none does not disable reasoning"),
        ("chat-all", "ending with `data: [DONE]`", "[DONE]"),
        ("chat-all", "Total input tokens, including regular input, cache reads, and cache writes.", "cache\nwrites"),
        ("messages-all", "Previous-generation   model\nOnly", "kimi-k3"),
    ],
)
def test_words_resolve_to_their_line_whatever_the_white_space(document, words, holds):
    found = cited(document, words)
    lines = documents.text(document).split("\n")
    around = " ".join(" ".join(lines[found.line - 1 : found.line + 3]).split())
    assert " ".join(words.split()) in around
    assert holds in found.text


@pytest.mark.parametrize("row", specs.sources(), ids=lambda row: row.name)
def test_a_quotation_is_bounded(row):
    first = documents.text(row.name)[:2000]
    found = cited(row.name, first)
    assert found.line == 1
    assert len(found.text) <= 300
    assert found.text.endswith("…")


@pytest.mark.parametrize(
    ("document", "anchor", "message"),
    [
        ("chat-all", "#/components/schemas/Nothing", "chat-all.*'#/components/schemas/Nothing'.*no member 'Nothing'"),
        ("chat-all", "#/info/version/deeper", "chat-all.*no member 'deeper'"),
        ("chat-all", "#/tags/7", "chat-all.*no member '7'"),
        ("chat-all", "#/tags/-1", "no member"),
        ("chat-all", "#/tags/99999999999999999999", "no member"),
        ("responses", "#/components", "responses has no OpenAPI part.*'#/components'.*quote its words"),
        ("responses", "no such words", "responses does not hold the words 'no such words'"),
        ("responses", "", "responses does not hold the words ''"),
        ("responses", " \n", "does not hold the words"),
        ("chat-none", "x", "'chat-none'.*chat-all"),
    ],
)
def test_a_source_that_does_not_resolve_is_named(document, anchor, message):
    with pytest.raises(LookupError, match=message):
        cited(document, anchor)
