"""Faults in how an answer says that it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.models import K3
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context
from conformance.reference.results import Finish, Result
from conformance.values import Protocol

_ENUM, _NOT_NULL, _CALLS, _WHY = "finish.enum", "finish.not-null", "finish.tool-iff-call", "finish.incomplete-details"
_FIELD = {CHAT: "finish_reason", MESSAGES: "stop_reason", RESPONSES: "status"}
_NORMAL = {CHAT: "stop", MESSAGES: "end_turn", RESPONSES: "completed"}
_CALLED = {CHAT: "tool_calls", MESSAGES: "tool_use"}
_CUT_OFF = {CHAT: "length", MESSAGES: "max_tokens", RESPONSES: "incomplete"}
Ending = Callable[[Context, dict[str, Any]], dict[str, Any]]


def _renamed(old: dict[Protocol, str], new: dict[Protocol, object], sentence: str) -> Ending:
    """A hook that gives another reason in the place of one."""

    def hook(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
        name = _FIELD[context.protocol]
        return ending | {name: new[context.protocol]} if ending[name] == old[context.protocol] else ending

    hook.__doc__ = sentence
    return hook


# id, surfaces, the reason that is replaced, by what, rules, seen, sentence
_VALUES: tuple[
    tuple[str, dict[Protocol, str], dict[Protocol, object], tuple[str, ...], tuple[str, ...], str],
    ...,
] = (
    (
        "finish-of-other-surface",
        _NORMAL,
        {CHAT: "end_turn", MESSAGES: "stop", RESPONSES: "stop"},
        (_ENUM,),
        (),
        "A normal end has another surface's name.",
    ),
    (
        "finish-eos",
        _NORMAL,
        {CHAT: "eos", MESSAGES: "eos_token", RESPONSES: "done"},
        (_ENUM,),
        (),
        "A normal end has the inference engine's own name.",
    ),
    (
        "finish-upper-case",
        _NORMAL,
        {CHAT: "STOP", MESSAGES: "END_TURN", RESPONSES: "COMPLETED"},
        (_ENUM,),
        (),
        "A normal end is written in capitals.",
    ),
    (
        "finish-extra-value",
        _NORMAL,
        {CHAT: "content_filter", MESSAGES: "pause_turn"},
        (_ENUM,),
        (),
        "A normal end has a value that the format knows and the documents do not list.",
    ),
    (
        "finish-empty-string",
        _NORMAL,
        {CHAT: "", MESSAGES: "", RESPONSES: ""},
        (_ENUM,),
        (),
        "The reason for a normal end is an empty string.",
    ),
    (
        "finish-status-open",
        _NORMAL,
        {RESPONSES: "in_progress"},
        (_ENUM,),
        (),
        "The finished response is still in_progress.",
    ),
    (
        "finish-status-cancelled",
        _NORMAL,
        {RESPONSES: "cancelled"},
        (_ENUM,),
        (),
        "The finished response is cancelled, a status that the page does not list.",
    ),
    (
        "finish-function-call",
        _CALLED,
        {CHAT: "function_call", MESSAGES: "tool_calls"},
        (_CALLS, _ENUM),
        (),
        "A call ends an answer under the name of another API.",
    ),
    (
        "finish-stop-with-call",
        _CALLED,
        {CHAT: "stop", MESSAGES: "end_turn"},
        (_CALLS,),
        ("vllm-project/vllm#9209", "ollama/ollama#7963", "can1357/oh-my-pi#12224"),
        "An answer with a tool call says that it ended normally.",
    ),
    (
        "finish-call-without-call",
        _NORMAL,
        {CHAT: "tool_calls", MESSAGES: "tool_use"},
        (_CALLS,),
        ("rescrv/claudius#106",),
        "An answer without a tool call says that it calls one.",
    ),
    (
        "finish-length-of-other-surface",
        _CUT_OFF,
        {CHAT: "max_tokens", MESSAGES: "length", RESPONSES: "length"},
        ("finish.length-reported", _ENUM),
        (),
        "An answer that the limit cut off says so by another surface's name.",
    ),
)

for _name, _old, _new, _rules, _seen, _sentence in _VALUES:
    fault(_name, "ending", on=tuple(_new), caught_by=_rules, seen=_seen)(_renamed(_old, _new, _sentence))


@fault("finish-null", "body", on=(CHAT, MESSAGES), modes=(JSON,), caught_by=(_NOT_NULL,))
def finish_null(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The reason for the end of a JSON answer is null."""
    holder = answer["choices"][0] if context.protocol is CHAT else answer
    holder[_FIELD[context.protocol]] = None
    return answer


@fault("finish-never-streamed", "ending", on=(CHAT, MESSAGES), modes=(STREAM,), caught_by=(_NOT_NULL,))
def finish_never_streamed(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """The reason is null in every chunk and event of a stream, also in the last."""
    return ending | {_FIELD[context.protocol]: None}


@fault("finish-missing", "ending", on=(CHAT, MESSAGES), caught_by=(_NOT_NULL, "body.required-fields"))
def finish_missing(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """The answer does not say why it ended."""
    ending.pop(_FIELD[context.protocol])
    return ending


@fault("finish-null-after-call", "ending", on=(CHAT, MESSAGES), caught_by=(_NOT_NULL,))
def finish_null_after_call(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """The reason is null in answers that call a tool, and only there."""
    name = _FIELD[context.protocol]
    return ending | {name: None} if ending[name] == _CALLED[context.protocol] else ending


@fault("finish-number", "ending", caught_by=(_ENUM,))
def finish_number(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """The reason for the end is a number."""
    return ending | {_FIELD[context.protocol]: 1}


@fault("finish-stop-with-calls-in-parallel", "result", on=(CHAT, MESSAGES), caught_by=(_CALLS,))
def stop_with_calls_in_parallel(_: Context, result: Result) -> Result:
    """An answer with more than one call says that it ended normally."""
    return replace(result, finish=Finish.STOP) if len(result.calls) > 1 else result


@fault("finish-stop-with-call-k3", "result", on=(CHAT, MESSAGES), models=K3, caught_by=(_CALLS,))
def stop_with_call_on_k3(context: Context, result: Result) -> Result:
    """kimi-k3 alone ends an answer with a call as if it had none."""
    mine = context.model in K3 and result.finish is Finish.CALLS
    return replace(result, finish=Finish.STOP) if mine else result


@fault("finish-tool-after-search", "ending", on=(MESSAGES,), caught_by=(_CALLS,))
def tool_after_search(context: Context, ending: dict[str, Any]) -> dict[str, Any]:
    """An answer that only searched the web by itself ends in tool_use, where no tool is the client's to run."""
    prompt = context.prompt
    searched = prompt is not None and prompt.search > 0 and ending["stop_reason"] == "end_turn"
    return ending | {"stop_reason": "tool_use"} if searched else ending


@fault("incomplete-without-details", "ending", on=(RESPONSES,), caught_by=(_WHY,))
def incomplete_without_details(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """An incomplete response has incomplete_details: null."""
    return response | {"incomplete_details": None}


@fault("incomplete-details-missing", "ending", on=(RESPONSES,), caught_by=(_WHY,), seen=("ogx-ai/ogx#4709",))
def incomplete_details_missing(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """A response never has incomplete_details."""
    response.pop("incomplete_details")
    return response


def _with_reason(reason: object, sentence: str) -> Ending:
    def hook(_: Context, response: dict[str, Any]) -> dict[str, Any]:
        cut = response["status"] == "incomplete"
        return response | {"incomplete_details": {"reason": reason}} if cut else response

    hook.__doc__ = sentence
    return hook


for _name, _reason, _sentence in (
    ("incomplete-reason-empty", "", "The reason of an incomplete response is an empty string."),
    ("incomplete-reason-null", None, "The reason of an incomplete response is null."),
    ("incomplete-reason-foreign", "length", "The reason of an incomplete response is length, as on chat."),
    ("incomplete-reason-max-tokens", "max_tokens", "The reason of an incomplete response is max_tokens."),
):
    _where = ("earendil-works/pi#7817",) if _reason == "length" else ()
    fault(_name, "ending", on=(RESPONSES,), caught_by=(_WHY,), seen=_where)(_with_reason(_reason, _sentence))


@fault("completed-with-details", "ending", on=(RESPONSES,), caught_by=(_WHY,))
def completed_with_details(_: Context, response: dict[str, Any]) -> dict[str, Any]:
    """Each response carries incomplete_details with a reason, a completed one too."""
    return response | {"incomplete_details": {"reason": "max_output_tokens"}}


def _failed(error: object, sentence: str) -> Ending:
    def hook(_: Context, response: dict[str, Any]) -> dict[str, Any]:
        return response | {"error": error} if response["status"] == "failed" else response

    hook.__doc__ = sentence
    return hook


_ERRORS: tuple[tuple[str, object, str], ...] = (
    ("failed-without-error", None, "A failed response has error: null."),
    ("failed-with-empty-error", {}, "A failed response has an error without anything in it."),
    ("failed-with-code-only", {"code": "server_error", "message": ""}, "The error of a failed response says nothing."),
    ("failed-with-blank-message", {"code": "server_error", "message": " "}, "The error's message is white space."),
    ("failed-with-error-string", "server_error", "The error of a failed response is a string."),
)
for _name, _error, _sentence in _ERRORS:
    fault(_name, "ending", on=(RESPONSES,), caught_by=("finish.failed-has-error",))(_failed(_error, _sentence))
