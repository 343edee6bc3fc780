"""Faults of leniency in single fields of chat and messages: tools, choices, formats, caches, images."""

from __future__ import annotations

from typing import Any

from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, fault
from conformance.reference.faults.terms import forgiven, forgiven_kind, sent, turns
from conformance.reference.hooks import Context
from conformance.reference.problems import Problem

Problems = list[Problem]
_INVALID = ("request.invalid-rejected",)


@fault("accepts-bad-effort", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def effort(_: Context, problems: Problems) -> Problems:
    """An effort that does not exist is accepted."""
    return forgiven(forgiven(problems, "reasoning_effort"), "output_config", "effort")


@fault("accepts-bad-tool-choice", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def tool_choice(_: Context, problems: Problems) -> Problems:
    """A tool choice that does not exist is accepted."""
    return forgiven(problems, "tool_choice", kinds=("enum",))


@fault("accepts-bad-tool-choice-type", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def tool_choice_type(_: Context, problems: Problems) -> Problems:
    """A tool choice of a type that does not exist is accepted."""
    return forgiven(problems, "tool_choice", "type")


@fault("accepts-tool-choice-string", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def tool_choice_string(context: Context, problems: Problems) -> Problems:
    """The field tool_choice is accepted as a string, as chat has it."""
    return forgiven(problems, "tool_choice") if isinstance(sent(context, "tool_choice"), str) else problems


@fault("accepts-tool-choice-without-name", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def tool_choice_without_name(_: Context, problems: Problems) -> Problems:
    """A named tool choice is accepted without a name."""
    return forgiven(problems, "tool_choice", kinds=("required",))


@fault("accepts-tools-object", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def tools_object(context: Context, problems: Problems) -> Problems:
    """A single tool is accepted in the place of an array of them."""
    return forgiven(problems, "tools") if isinstance(sent(context, "tools"), dict) else problems


@fault("accepts-tool-without-schema", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def tool_without_schema(context: Context, problems: Problems) -> Problems:
    """A function is accepted without the schema of its arguments."""
    tool = sent(context, "tools", 0, "function") or sent(context, "tools", 0)
    bare = isinstance(tool, dict) and "name" in tool and not tool.keys() & {"parameters", "input_schema", "type"}
    return forgiven(problems, "tools") if bare else problems


@fault("accepts-tool-without-name", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def tool_without_name(context: Context, problems: Problems) -> Problems:
    """A function is accepted without a name."""
    tool = sent(context, "tools", 0, "function") or sent(context, "tools", 0)
    nameless = isinstance(tool, dict) and "description" in tool and "name" not in tool
    return forgiven(problems, "tools") if nameless else problems


@fault("accepts-tool-of-unknown-type", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def tool_of_unknown_type(context: Context, problems: Problems) -> Problems:
    """A tool of a type that does not exist is accepted."""
    return forgiven(problems, "tools") if sent(context, "tools", 0, "type") == "plugin" else problems


@fault("accepts-129-tools", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def too_many_tools(_: Context, problems: Problems) -> Problems:
    """One tool more than allowed is accepted."""
    return forgiven_kind(problems, "maxItems")


@fault("accepts-strict-string", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def strict_string(_: Context, problems: Problems) -> Problems:
    """The flag strict is accepted as a string."""
    return [problem for problem in problems if problem.path[-1:] != ("strict",)]


@fault("accepts-max-uses-zero", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def max_uses_zero(context: Context, problems: Problems) -> Problems:
    """A web search that may be used 0 times is accepted."""
    return forgiven(problems, "tools") if sent(context, "tools", 0, "max_uses") == 0 else problems


@fault("accepts-bad-cache-mode", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def cache_mode(_: Context, problems: Problems) -> Problems:
    """A cache mode that does not exist is accepted."""
    return forgiven(problems, "prompt_cache_options", "mode")


@fault("accepts-bad-cache-ttl", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def cache_ttl(_: Context, problems: Problems) -> Problems:
    """A time to live of two hours is accepted."""
    return forgiven(forgiven(problems, "prompt_cache_options", "ttl"), "cache_control", "ttl")


@fault("accepts-cache-type-missing", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def cache_type_missing(_: Context, problems: Problems) -> Problems:
    """The object cache_control is accepted without its type."""
    return forgiven(problems, "cache_control", kinds=("required",))


@fault("accepts-cache-type-unknown", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def cache_type_unknown(_: Context, problems: Problems) -> Problems:
    """The object cache_control is accepted with a type that does not exist."""
    return forgiven(problems, "cache_control", "type")


@fault("accepts-system-number", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def system_number(context: Context, problems: Problems) -> Problems:
    """A number is accepted as the system prompt."""
    return forgiven(problems, "system") if isinstance(sent(context, "system"), int) else problems


@fault("accepts-stop-string", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def stop_string(context: Context, problems: Problems) -> Problems:
    """A single stop sequence is accepted in the place of an array of them."""
    return forgiven(problems, "stop_sequences") if isinstance(sent(context, "stop_sequences"), str) else problems


@fault("accepts-stop-number", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def stop_number(_: Context, problems: Problems) -> Problems:
    """A number is accepted as a stop sequence."""
    return forgiven(problems, "stop_sequences", 0, kinds=("type",))


@fault("accepts-result-without-id", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def result_without_id(context: Context, problems: Problems) -> Problems:
    """A tool result is accepted that does not say which call it answers."""
    result = sent(context, "messages", 0, "content", 0, "type") == "tool_result"
    return forgiven(problems, "messages", kinds=("required",)) if result else problems


@fault("accepts-bmp", "body_read", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def bmp(_: Context, body: dict[str, Any]) -> dict[str, Any]:
    """An image of a media type that is not documented is skipped and the rest answered."""
    for message in body["messages"] if isinstance(body.get("messages"), list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list) and "image/bmp" in str(content):
            message["content"] = "Reply with OK."
    return body


@fault("accepts-image-without-source", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def image_without_source(context: Context, problems: Problems) -> Problems:
    """An image part is accepted that holds no image."""
    bare = sent(context, "messages", 0, "content", 0) in ({"type": "image"}, {"type": "image_url"})
    return forgiven(problems, "messages", kinds=("required",)) if bare else problems


@fault("accepts-unknown-format", "problems", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=_INVALID)
def unknown_format(_: Context, problems: Problems) -> Problems:
    """A format of a type that does not exist is accepted."""
    return forgiven(forgiven(problems, "response_format", "type"), "output_config", "format", "type")


@fault("accepts-schema-without-name", "problems", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def schema_without_name(context: Context, problems: Problems) -> Problems:
    """A format is accepted whose schema has no name."""
    form = sent(context, "response_format", "json_schema")
    nameless = isinstance(form, dict) and "name" not in form
    return forgiven(problems, "response_format", "json_schema", kinds=("required",)) if nameless else problems


@fault("accepts-format-without-schema", "problems", on=(MESSAGES,), modes=(JSON,), caught_by=_INVALID)
def format_without_schema(context: Context, problems: Problems) -> Problems:
    """A format is accepted that should follow a schema and has none."""
    bare = sent(context, "output_config", "format") == {"type": "json_schema"}
    return forgiven(problems, "output_config", "format") if bare else problems


@fault("accepts-call-id-number", "body_read", on=(CHAT,), modes=(JSON,), caught_by=_INVALID)
def call_id_number(_: Context, body: dict[str, Any]) -> dict[str, Any]:
    """The id of an earlier call is accepted as a number."""
    for message in body["messages"] if isinstance(body.get("messages"), list) else ():
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and type(call.get("id")) is int:
                call["id"] = f"call_{call['id']}"
    return body


@fault(
    "accepts-system-role",
    "problems",
    on=(MESSAGES,),
    caught_by=("request.role-system-in-messages-rejected",),
    seen=("sgl-project/sglang#28792",),
)
def system_role(context: Context, problems: Problems) -> Problems:
    """A message of the role system is accepted among the messages."""
    return forgiven(problems, "messages", 0, "role") if sent(context, "messages", 0, "role") == "system" else problems


@fault(
    "accepts-orphan-result",
    "problems",
    on=(CHAT, MESSAGES),
    caught_by=("request.orphan-tool-result-rejected",),
)
def orphan_result(_: Context, problems: Problems) -> Problems:
    """A tool result that answers no call is accepted."""
    return forgiven_kind(problems, "orphan-result")


@fault(
    "accepts-orphan-result-beside-call",
    "problems",
    on=(CHAT, MESSAGES),
    modes=(JSON,),
    caught_by=("request.orphan-tool-result-rejected",),
)
def orphan_result_beside_call(context: Context, problems: Problems) -> Problems:
    """A tool result is accepted under any id, once the history holds some call."""
    answered = any(turn.get("role") == "assistant" for turn in turns(context))
    return forgiven_kind(problems, "orphan-result") if answered else problems
