"""Reasoning: always on, where clients look for it, counted, and apart from the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import fmean

from conformance.models import K31
from conformance.protocols.view import MISSING, Answer
from conformance.rules import parts, sameness
from conformance.rules.registry import CHAT, MESSAGES, RESPONSES, Findings, Group, cite, rule
from conformance.rules.texts import finishes_with_text
from conformance.values import Basis, Finding, Level, Over, Protocol

OTHER_NAMES = (
    "reasoning",
    "thinking",
    "thoughts",
    "thought",
    "reasoning_text",
    "reasoning_details",
    "thinking_content",
)
_THINKING = cite("messages-k31", "#/components/schemas/ThinkingBlock")
_ALWAYS_ON = cite("chat-all", "#/components/schemas/ChatCompletionRequest/properties/reasoning_effort")
_MARKUP = (  # the markers of one template; who asks about one of them may get the others
    ("<think>", "</think>", "<thinking>", "</thinking>", "<|think|>", "<|/think|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>", "<|message|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
)
_MARK = (
    r"<\|(?:im_(?:start|end|middle|user|assistant|system)|media_(?:begin|content|end|pad)|start|end|thinking"
    r"|endoftext|end_of_text|begin_of_text|eot_id|start_header_id|end_header_id)\|>"
)
_TEMPLATE = re.compile(  # where a chat template's tokens are a leak: who explains one has words around it
    rf"\A\s*{_MARK}|{_MARK}\s*\Z|<\|im_end\|>\s*<\|im_start\|>"
)
_LEAKED_CHANNEL = re.compile(r"\A\s*(?:analysis.*)?assistantfinal", re.DOTALL)
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)  # code may name a marker that it means


@rule(
    "reasoning.always-on",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=_ALWAYS_ON,
    when=lambda answer: answer.normal and any(parts.messages(answer)),
    applies="a 200 answer that ended normally",
)
def reasoning_is_returned(answer: Answer) -> Findings:
    """reasoning_content is a string that is not empty."""
    for pointer, choice in parts.choices(answer):
        message = choice.get("message")
        if not isinstance(message, dict) or choice.get("finish_reason") in ("length", "content_filter"):
            continue
        if parts.declines(message):
            continue
        reasoning = message.get("reasoning_content", MISSING)
        if not isinstance(reasoning, str) or not reasoning.strip():
            yield Finding(
                message="the answer ended normally and has no reasoning_content",
                pointer=f"{pointer}/message/reasoning_content",
                expected="a string that is not empty",
                actual=parts.shown(reasoning),
            )


@rule(
    "reasoning.tokens-counted",
    Level.SHOULD,
    Basis.DOCUMENTED,
    source={
        CHAT: cite(
            "chat-all",
            "#/components/schemas/ChatUsage/properties/completion_tokens_details/properties/reasoning_tokens",
        ),
        MESSAGES: cite("messages-k31", "#/components/schemas/MessageUsage/properties/output_tokens_details"),
        RESPONSES: cite("responses", '"reasoning_tokens": 62'),
    },
    when=lambda answer: (
        answer.ok
        and answer.complete
        and answer.usage is not None
        and answer.usage.reasoning is not None
        and bool(answer.reasoning.strip())
    ),
    applies="a whole 200 answer with reasoning, whose usage has the reasoning detail",
)
def reasoning_is_counted(answer: Answer) -> Findings:
    """Where reasoning is there, its tokens are above 0."""
    usage = answer.usage
    if usage is not None and not usage.reasoning:
        yield Finding(
            message="the answer carries reasoning, and usage counts no reasoning tokens",
            pointer=usage.pointer,
            expected="above 0",
            actual=usage.reasoning,
        )


def _kinds(answer: Answer) -> list[tuple[str, str]]:
    """The pointers and types of what a messages or Responses answer is made of."""
    found = parts.blocks(answer) if answer.protocol is MESSAGES else parts.items(answer)
    return [(pointer, str(part.get("type"))) for pointer, part in found]


_NAMES = {MESSAGES: ("thinking", "text"), RESPONSES: ("reasoning", "message")}


@rule(
    "reasoning.thinking-first",
    Level.INFO,
    Basis.DOCUMENTED,
    protocols=(MESSAGES, RESPONSES),
    source={
        MESSAGES: _THINKING,
        RESPONSES: cite("responses", "Output items, usually reasoning followed by message"),
    },
    when=lambda answer: answer.ok and set(_NAMES[answer.protocol]) <= {kind for _, kind in _kinds(answer)},
    applies="a 200 answer with both reasoning and an answer",
)
def reasoning_comes_first(answer: Answer) -> Findings:
    """Reasoning stands before the answer."""
    thinking, text = _NAMES[answer.protocol]
    pointer, first = next((place, kind) for place, kind in _kinds(answer) if kind in (thinking, text))
    if first == text:
        yield Finding(
            message="the answer stands before its reasoning", pointer=pointer, expected=thinking, actual=first
        )


@rule(
    "reasoning.thinking-block-present",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-all", "Responses from kimi-k3 may contain only text blocks without thinking blocks"),
    when=lambda answer: answer.normal,
    applies="a 200 answer that ended normally",
)
def thinking_block_is_there(answer: Answer) -> Findings:
    """At least one thinking block is there."""
    kinds = [kind for _, kind in _kinds(answer)]
    if "thinking" not in kinds:
        yield Finding(
            message="the answer has no thinking block", pointer="/content", expected="thinking", actual=kinds[:20]
        )


def thinking_answers(answers: Sequence[Answer]) -> Iterator[Group]:
    """The answers with thinking blocks, of each model."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.protocol is MESSAGES and answer.ok and answer.complete and _thinking(answer):
            found.setdefault(answer.model, []).append(answer)
    yield from (tuple(group) for group in found.values())


def _thinking(answer: Answer) -> list[parts.Part]:
    return [(pointer, block) for pointer, block in parts.blocks(answer) if block.get("type") == "thinking"]


@rule(
    "reasoning.signature",
    Level.SHOULD,
    Basis.DOCUMENTED,
    over=Over.CONVERSATION,
    protocols=(MESSAGES,),
    models=K31,
    source=cite("messages-k31", "#/components/schemas/ThinkingBlock/properties/signature"),
    find=thinking_answers,
)
def thinking_is_signed(group: Group) -> Findings:
    """Every thinking block has a signature that is not empty; one warning a run."""
    for answer in group:
        if not answer.normal:
            continue  # the signature comes at the end of the block
        for pointer, block in _thinking(answer):
            signature = block.get("signature", MISSING)
            if not isinstance(signature, str) or not signature:
                yield Finding(
                    message="a thinking block has no signature to return with it",
                    pointer=f"{pointer}/signature",
                    expected="a string that is not empty",
                    actual=parts.shown(signature),
                    exchange=answer.exchange.id,
                )
                return


@rule(
    "reasoning.not-in-text",
    Level.SHOULD,
    Basis.PROTOCOL,
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/reasoning_content"),
        MESSAGES: _THINKING,
        RESPONSES: cite("responses", "may include reasoning, answer text, and tool calls"),
    },
    when=lambda answer: answer.ok and bool(answer.text),
    applies="a 200 answer with text",
)
def text_has_no_reasoning_markup(answer: Answer) -> Findings:
    """The text carries no reasoning markup and neither begins nor ends in a chat template's token, unless asked to."""
    text, prompt = _CODE.sub(" ", answer.text), answer.asked.prompt
    unasked = [markers for markers in _MARKUP if not any(marker in prompt for marker in markers)]
    found = [marker for markers in unasked for marker in markers if marker in text]
    leaked = _TEMPLATE.search(text)
    if leaked and not re.search(_MARK, prompt):
        found.append(leaked.group().strip())
    if _LEAKED_CHANNEL.match(text) and "assistantfinal" not in prompt:
        found.append("assistantfinal")
    if found:
        yield Finding(
            message="the text carries reasoning markup",
            pointer={CHAT: "/choices", MESSAGES: "/content", RESPONSES: "/output"}[answer.protocol],
            expected="the answer alone",
            actual=found[:5],
        )


def _named_otherwise(answer: Answer) -> Iterator[tuple[str, str, bool]]:
    """Where reasoning stands under another name, which, and whether reasoning_content is there with it."""
    for pointer, choice in parts.choices(answer):
        message = choice.get("message")
        if not isinstance(message, dict):
            continue
        right = message.get("reasoning_content")
        name = next((name for name in OTHER_NAMES if _says(message.get(name)) or _says(choice.get(name))), None)
        if name is not None:
            yield f"{pointer}/message/{name}", name, isinstance(right, str) and bool(right.strip())


def _says(value: object) -> bool:
    return isinstance(value, (str, list, dict)) and bool(value)


@rule(
    "reasoning.field-name",
    Level.MUST,
    Basis.DOCUMENTED,
    protocols=(CHAT,),
    source=cite("chat-all", "#/components/schemas/ChatMessage/properties/reasoning_content"),
    when=lambda answer: answer.ok and (bool(answer.reasoning) or any(_named_otherwise(answer))),
    applies="a 200 answer whose message or deltas carry reasoning",
)
def reasoning_has_its_name(answer: Answer) -> Findings:
    """Reasoning stands in reasoning_content, whatever other name it has besides."""
    for pointer, name, named in _named_otherwise(answer):
        if not named:
            yield Finding(
                message=f"reasoning stands under {name} and not under reasoning_content",
                pointer=pointer,
                expected="reasoning_content",
                actual=name,
            )


@rule(
    "reasoning.not-the-answer",
    Level.SHOULD,
    Basis.PROTOCOL,
    protocols=(CHAT, MESSAGES),
    source={
        CHAT: cite("chat-all", "#/components/schemas/ChatMessage/properties/reasoning_content"),
        MESSAGES: _THINKING,
    },
    when=finishes_with_text,
)
def answer_is_not_reasoning(answer: Answer) -> Findings:
    """The answer is not left inside the reasoning with an empty text."""
    other = next((place for place, _, _ in _named_otherwise(answer)), None) if answer.protocol is CHAT else None
    if (answer.reasoning.strip() or other) and not answer.text.strip():
        yield Finding(
            message="the text is empty and only the reasoning says something",
            pointer="/choices" if answer.protocol is CHAT else "/content",
            expected="text beside the reasoning",
            actual=parts.shown(answer.reasoning),
        )


@rule(
    "reasoning.evidence",
    Level.SHOULD,
    Basis.DOCUMENTED,
    protocols=(MESSAGES, RESPONSES),
    source={
        MESSAGES: cite("messages-all", "always have reasoning enabled"),
        RESPONSES: cite("responses", "always have reasoning enabled"),
    },
    when=lambda answer: (
        answer.normal
        and not parts.refuses(answer)
        and not (
            answer.protocol is MESSAGES
            and answer.model == "kimi-k3"
            and (answer.usage is None or answer.usage.reasoning is None)
        )
    ),
    applies="a 200 answer that ended normally; of kimi-k3 on messages only one that reports thinking tokens",
)
def reasoning_shows(answer: Answer) -> Findings:
    """A thinking block or reasoning item is there, or reasoning tokens are above 0."""
    thinking = _NAMES[answer.protocol][0]
    tokens = answer.usage.reasoning if answer.usage is not None else None
    if not tokens and thinking not in [kind for _, kind in _kinds(answer)]:
        yield Finding(
            message="nothing in the answer shows that the model reasoned",
            pointer="/content" if answer.protocol is MESSAGES else "/output",
            expected=f"{thinking}, or reasoning tokens above 0",
            actual=parts.shown(tokens),
        )


def effort_tries(answers: Sequence[Answer]) -> Iterator[Group]:
    """The same question at effort low and at effort max."""
    found: dict[tuple[Protocol, str, str, str], list[Answer]] = {}
    for answer in answers:
        asked, usage = answer.asked, answer.usage
        counted = answer.normal and usage is not None and usage.reasoning is not None
        if counted and asked.method == "POST" and asked.malformed is None and asked.effort in ("low", "max"):
            key = (answer.protocol, asked.host, answer.model, sameness.canonical(answer, "stream", effort=False))
            found.setdefault(key, []).append(answer)
    for group in found.values():
        if {answer.asked.effort for answer in group} == {"low", "max"}:
            yield tuple(group)


def _counted(answer: Answer) -> int:
    """The reasoning tokens that an answer reports, at most what a float holds exactly."""
    return min((answer.usage.reasoning if answer.usage is not None else None) or 0, 2**53)


@rule(
    "reasoning.effort-increases",
    Level.INFO,
    Basis.DOCUMENTED,
    over=Over.PAIR,
    protocols=(CHAT, MESSAGES),
    models=K31,
    source={
        CHAT: cite("chat-k31", "Higher effort usually increases reasoning tokens and latency"),
        MESSAGES: cite(
            "messages-k31",
            "#/components/schemas/CreateMessageRequest/properties/output_config/properties/effort/description",
        ),
    },
    find=effort_tries,
)
def effort_side_by_side(group: Group) -> Findings:
    """The mean reasoning tokens at effort low and at effort max, side by side."""
    means = {effort: fmean(_counted(a) for a in group if a.asked.effort == effort) for effort in ("low", "max")}
    more = "more at max" if means["max"] > means["low"] else "no more at max"
    yield Finding(
        message=f"mean reasoning tokens at low {means['low']:.0f}, at max {means['max']:.0f}: {more}",
        pointer=group[-1].usage.pointer if group[-1].usage else "/usage",
        actual={effort: round(mean, 1) for effort, mean in means.items()},
    )
