"""Faults of strictness: documented requests, edges and forms are refused."""

from __future__ import annotations

from conformance.reference.faults.registry import BOTH, CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.faults.terms import LIMITS, blocks, effort, found, limit, said, sent, turns, unacceptable
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem
from conformance.reference.refusals import Refusal

Problems = list[Problem]
_VALID = ("request.valid-accepted",)
_FORMS = ("request.forms-accepted", "request.valid-accepted")
_FEATURES = ("model.chat-features-accepted", "request.valid-accepted")
_CHARSET = ("http.request-charset-accepted",)


@fault("refuses-limit-one", "problems", caught_by=_VALID)
def limit_one(context: Context, problems: Problems) -> Problems:
    """An output limit of 1 is refused."""
    return found(problems, "the limit must be greater than 1", when=limit(context) == 1)


@fault("refuses-largest-limit", "problems", caught_by=_VALID)
def largest_limit(context: Context, problems: Problems) -> Problems:
    """The largest output limit that is documented is refused."""
    return found(problems, "the limit must be less than 1048576", when=limit(context) == 1_048_576)


@fault("refuses-no-limit", "problems", on=(CHAT, RESPONSES), caught_by=_VALID)
def no_limit(context: Context, problems: Problems) -> Problems:
    """A request without an output limit is refused."""
    names = {LIMITS[context.protocol], "max_tokens"}
    return found(problems, "an output limit is required", when=not names & (context.body or {}).keys())


@fault("refuses-documented-stream", "problems", on=(CHAT, MESSAGES), modes=(STREAM,), caught_by=_VALID)
def documented_stream(context: Context, problems: Problems) -> Problems:
    """The documented streamed example is refused."""
    return found(problems, "streaming is not available", when=context.stream and limit(context) == 1024)


@fault("refuses-effort-max", "problems", caught_by=_VALID)
def effort_max(context: Context, problems: Problems) -> Problems:
    """The effort max is refused."""
    return found(problems, "the effort max is not available", when=effort(context) == "max")


@fault("refuses-128-tools", "problems", on=(CHAT,), modes=(JSON,), caught_by=_VALID)
def many_tools(context: Context, problems: Problems) -> Problems:
    """As many tools as are allowed are refused."""
    tools = sent(context, "tools")
    offered = tools if isinstance(tools, list) else []
    return found(problems, "too many tools", when=len(offered) == 128)


@fault("refuses-cache-1h", "problems", on=(CHAT, MESSAGES), caught_by=_VALID)
def cache_1h(context: Context, problems: Problems) -> Problems:
    """A time to live of 1h is refused."""
    ttl = sent(context, "cache_control", "ttl") or sent(context, "prompt_cache_options", "ttl")
    return found(problems, "only a time to live of 5m is available", when=ttl == "1h")


@fault("refuses-max-uses-one", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_VALID)
def max_uses_one(context: Context, problems: Problems) -> Problems:
    """A web search that may be used once is refused."""
    return found(problems, "max_uses must be at least 2", when=sent(context, "tools", 0, "max_uses") == 1)


@fault("refuses-text-format", "problems", on=(CHAT,), modes=(JSON,), caught_by=_VALID)
def text_format(context: Context, problems: Problems) -> Problems:
    """The format text, which is the default, is refused."""
    return found(problems, "unknown format", when=sent(context, "response_format", "type") == "text")


@fault("refuses-structured-output", "problems", on=(CHAT, MESSAGES), caught_by=_VALID)
def structured_output(context: Context, problems: Problems) -> Problems:
    """A schema for the answer is refused."""
    form = sent(context, "response_format", "json_schema") or sent(context, "output_config", "format")
    return found(problems, "structured output is not available", when=form)


@fault("demands-anthropic-version", "admission", on=(MESSAGES,), caught_by=_VALID)
def demands_version(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A request without the header anthropic-version is refused."""
    if refusal is None and "anthropic-version" not in context.headers:
        raise unacceptable("anthropic-version: header is required")
    return refusal


@fault("refuses-image", "problems", on=(CHAT,), caught_by=_VALID)
def image(context: Context, problems: Problems) -> Problems:
    """An image is refused."""
    shown = any(block.get("type") in ("image", "image_url") for block in blocks(context))
    return found(problems, "images are not supported", when=shown)


@fault(
    "refuses-text-blocks",
    "problems",
    on=(CHAT, MESSAGES),
    caught_by=(*_FORMS, "request.forms-equal"),
    seen=("ggml-org/llama.cpp#8367", "kvcache-ai/ktransformers#773"),
)
def text_blocks(context: Context, problems: Problems) -> Problems:
    """Content as an array of text blocks is refused."""
    kinds = {block.get("type") for block in blocks(context)}
    return found(problems, "content must be a string", when=kinds == {"text"})


@fault("refuses-system-blocks", "problems", on=(MESSAGES,), caught_by=(*_FORMS, "request.forms-equal"))
def system_blocks(context: Context, problems: Problems) -> Problems:
    """A system prompt as text blocks is refused."""
    return found(problems, "system must be a string", when=isinstance(sent(context, "system"), list))


@fault("refuses-result-blocks", "problems", on=(MESSAGES,), caught_by=_FORMS)
def result_blocks(context: Context, problems: Problems) -> Problems:
    """A tool result whose content is blocks is refused."""
    results = [block for block in blocks(context) if block.get("type") == "tool_result"]
    whole = any(isinstance(result.get("content"), list) for result in results)
    return found(problems, "content must be a string", when=whole)


@fault("refuses-result-image", "problems", on=(MESSAGES,), caught_by=_FORMS)
def result_image(context: Context, problems: Problems) -> Problems:
    """A tool result that holds an image is refused."""
    results = [block for block in blocks(context) if block.get("type") == "tool_result"]
    return found(problems, "a result holds text only", when=any("'image'" in str(result) for result in results))


@fault("refuses-result-error", "problems", on=(MESSAGES,), caught_by=_FORMS)
def result_error(context: Context, problems: Problems) -> Problems:
    """A tool result with is_error is refused."""
    return found(problems, "is_error is unknown", when=any("is_error" in block for block in blocks(context)))


@fault("refuses-null-content", "problems", on=(CHAT,), caught_by=_FORMS)
def null_content(context: Context, problems: Problems) -> Problems:
    """Null is refused as the content beside tool calls."""
    empty = any(turn.get("tool_calls") and turn.get("content", "") is None for turn in turns(context))
    return found(problems, "content must be a string", when=empty)


@fault(
    "refuses-input-array",
    "problems",
    on=(RESPONSES,),
    modes=BOTH,
    caught_by=_FORMS,
    seen=("sgl-project/sglang#17853",),
)
def input_array(context: Context, problems: Problems) -> Problems:
    """Input as an array of messages is refused."""
    return found(problems, "input must be a string", when=isinstance(sent(context, "input"), list))


@fault("refuses-responses-effort", "problems", on=(RESPONSES,), caught_by=("request.responses-effort-accepted",))
def responses_effort(context: Context, problems: Problems) -> Problems:
    """The object reasoning is refused."""
    return found(problems, "reasoning is unknown", when=effort(context) is not None)


@fault("refuses-responses-effort-low", "problems", on=(RESPONSES,), caught_by=("request.responses-effort-accepted",))
def responses_effort_low(context: Context, problems: Problems) -> Problems:
    """The effort low is refused, the others are not."""
    return found(problems, "the effort low is not available", when=effort(context) == "low")


@fault("refuses-stream", "problems", on=(CHAT,), modes=(STREAM,), caught_by=_FEATURES)
def stream(context: Context, problems: Problems) -> Problems:
    """A stream is refused."""
    return found(problems, "streaming is not available", when=context.stream)


@fault("refuses-tools-on-k3", "problems", on=(CHAT,), models=("kimi-k3",), caught_by=_FEATURES)
def tools_on_k3(context: Context, problems: Problems) -> Problems:
    """Function tools are refused on kimi-k3."""
    offered = sent(context, "tools", 0, "type") == "function"
    return found(problems, "kimi-k3 does not support tools", when=offered and context.model == "kimi-k3")


@fault("refuses-search-on-k3", "problems", on=(CHAT,), modes=(JSON,), models=("kimi-k3",), caught_by=_FEATURES)
def search_on_k3(context: Context, problems: Problems) -> Problems:
    """Web search is refused on kimi-k3."""
    offered = sent(context, "tools", 0, "type") == "web_search"
    return found(problems, "kimi-k3 does not support search", when=offered and context.model == "kimi-k3")


@fault("refuses-charset", "admission", caught_by=_CHARSET, seen=("openai/openai-openapi#194",))
def charset(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A media type with a charset gets HTTP 415."""
    if ";" in context.headers.get("content-type", ""):
        raise unacceptable("Unsupported content type.", status=415)
    return refusal


@fault("refuses-charset-with-400", "admission", caught_by=_CHARSET)
def charset_with_400(context: Context, refusal: Refusal | None) -> Refusal | None:
    """A media type with a charset gets HTTP 400."""
    if ";" in context.headers.get("content-type", ""):
        raise unacceptable("Unsupported content type.")
    return refusal


@fault("refuses-media-type-in-capitals", "admission", caught_by=_CHARSET)
def media_type_in_capitals(context: Context, refusal: Refusal | None) -> Refusal | None:
    """The media type is compared letter by letter, so that capitals get HTTP 415."""
    if context.headers.get("content-type", "").lower() != context.headers.get("content-type", ""):
        raise unacceptable("Unsupported content type.", status=415)
    return refusal


@fault("refuses-cjk", "problems", caught_by=_VALID)
def cjk(context: Context, problems: Problems) -> Problems:
    """A request with CJK text is refused."""
    return found(problems, "unsupported characters", when="漢字" in said(context))


@fault("refuses-unknown-property", "problems", caught_by=("request.extra-properties-tolerated",))
def unknown_property(context: Context, problems: Problems) -> Problems:
    """An unknown property is refused."""
    return found(problems, "extra inputs are not permitted", when="x_unknown_property" in (context.body or {}))


@fault(
    "refuses-stream-options", "problems", on=(CHAT,), modes=(STREAM,), caught_by=("request.extra-properties-tolerated",)
)
def stream_options(context: Context, problems: Problems) -> Problems:
    """The options of a stream that OpenAI's clients send are refused."""
    return found(problems, "extra inputs are not permitted", when="stream_options" in (context.body or {}))
