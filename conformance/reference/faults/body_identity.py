"""Faults in what names an answer: its id, object, time of creation, role and choices."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.reference.encoding.frame import Event
from conformance.reference.faults.registry import CHAT, JSON, MESSAGES, RESPONSES, STREAM, fault
from conformance.reference.hooks import Context

_DAY = 86_400  # seconds
_TIME = {CHAT: "created", RESPONSES: "created_at"}


@fault("body-id-empty", "identity", caught_by=("body.id-unique",))
def id_empty(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The id of every answer is an empty string."""
    return answer | {"id": ""}


@fault("body-id-null", "identity", caught_by=("body.id-unique", "body.schema"))
def id_null(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The id of every answer is null."""
    return answer | {"id": None}


@fault("body-id-number", "identity", caught_by=("body.schema",))
def id_number(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The id is a number where the documents have a string."""
    return answer | {"id": int(hashlib.sha256(answer["id"].encode()).hexdigest()[:12], 16)}


@fault("body-id-constant", "identity", caught_by=("body.id-unique",), seen=("NVIDIA-NeMo/Gym#2501",))
def id_constant(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """Every answer of the server has the same id."""
    return answer | {"id": "resp-0"}


@fault("body-id-of-the-request", "identity", caught_by=("body.id-unique",))
def id_of_the_request(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The id is a hash of the request, so that the same request sent again gets the same id."""
    return answer | {"id": f"gen-{hashlib.sha256(context.raw).hexdigest()[:24]}"}


@fault(
    "body-id-repeated-at-times",
    "identity",
    caught_by=("body.id-unique",),
    stateful=True,
    seen=("InternLM/lmdeploy#4707",),
)
def id_repeated_at_times() -> Callable[[Context, dict[str, Any]], dict[str, Any]]:
    """Each second answer has the id of the one before."""
    given: dict[str, str] = {}  # id of the request to id of its answer
    latest: list[str] = []

    def hook(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
        if context.id not in given:
            again = len(given) % 2 == 1
            given[context.id] = latest[-1] if again else answer["id"]
            latest.append(given[context.id])
        return answer | {"id": given[context.id]}

    return hook


@fault(
    "body-object-of-other-mode",
    "identity",
    on=(CHAT,),
    caught_by=("body.object-type",),
    seen=("microsoft/foundry-local#31",),
)
def object_of_other_mode(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The object says chat.completion in streams, and chat.completion.chunk in JSON answers."""
    name = answer["object"]
    return answer | {"object": "chat.completion" if name.endswith("chunk") else "chat.completion.chunk"}


@fault(
    "body-object-of-older-api",
    "identity",
    on=(CHAT,),
    caught_by=("body.object-type",),
    seen=("predibase/lorax#788",),
)
def object_of_older_api(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The object is text_completion, as in the API before chat."""
    return answer | {"object": "text_completion"}


@fault("body-object-wrong-in-last-chunk", "events", on=(CHAT,), modes=(STREAM,), caught_by=("body.object-type",))
def object_wrong_in_last_chunk(_: Context, events: list[Event]) -> list[Event]:
    """Only the last chunk of a stream calls itself chat.completion."""
    place = max(place for place, event in enumerate(events) if isinstance(event.data, dict))
    data = events[place].data
    if isinstance(data, dict) and "choices" in data:
        events[place] = replace(events[place], data=data | {"object": "chat.completion"})
    return events


@fault("body-object-foreign", "identity", on=(MESSAGES, RESPONSES), caught_by=("body.object-type",))
def object_foreign(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The type of a message is completion, the object of a response chat.completion."""
    return answer | ({"type": "completion"} if context.protocol is MESSAGES else {"object": "chat.completion"})


@fault(
    "body-created-milliseconds",
    "identity",
    on=(CHAT, RESPONSES),
    caught_by=("body.created-seconds",),
    seen=("EricLBuehler/mistral.rs#1805", "mlc-ai/web-llm#829"),
)
def created_milliseconds(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The creation time counts milliseconds."""
    return answer | {_TIME[context.protocol]: answer[_TIME[context.protocol]] * 1000}


@fault("body-created-string", "identity", on=(CHAT, RESPONSES), caught_by=("body.created-seconds", "body.schema"))
def created_string(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The creation time is a string of digits."""
    return answer | {_TIME[context.protocol]: str(answer[_TIME[context.protocol]])}


@fault(
    "body-created-fraction",
    "identity",
    on=(CHAT, RESPONSES),
    caught_by=("body.created-seconds", "body.schema"),
    seen=("envoyproxy/ai-gateway#962", "Mintplex-Labs/anything-llm#2920"),
)
def created_fraction(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The creation time has a fraction of a second."""
    return answer | {_TIME[context.protocol]: answer[_TIME[context.protocol]] + 0.25}


@fault("body-created-zero", "identity", on=(CHAT, RESPONSES), caught_by=("body.created-seconds",))
def created_zero(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The creation time is 0."""
    return answer | {_TIME[context.protocol]: 0}


@fault("body-created-two-days-ago", "identity", on=(CHAT, RESPONSES), caught_by=("body.created-seconds",))
def created_two_days_ago(context: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The creation time is that of a template two days old: seconds, but not of now."""
    return answer | {_TIME[context.protocol]: answer[_TIME[context.protocol]] - 2 * _DAY}


@fault("body-role-foreign", "identity", on=(MESSAGES,), caught_by=("body.role-assistant",))
def role_foreign(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The answering role is model."""
    return answer | {"role": "model"}


@fault("body-message-role-foreign", "message", on=(CHAT,), caught_by=("body.role-assistant",))
def message_role_foreign(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """The role of the message, and of the first delta, is user."""
    return message | {"role": "user"} if "role" in message else message


@fault("body-item-role-foreign", "item", on=(RESPONSES,), caught_by=("body.role-assistant",))
def item_role_foreign(_: Context, item: dict[str, Any]) -> dict[str, Any]:
    """The role of the message item is system."""
    return item | {"role": "system"} if item["type"] == "message" else item


@fault(
    "body-message-role-missing",
    "message",
    on=(CHAT,),
    caught_by=("body.role-assistant", "stream.chat.role-first", "body.schema"),
)
def message_role_missing(_: Context, message: dict[str, Any]) -> dict[str, Any]:
    """Neither the message nor any delta says which role answers."""
    message.pop("role", None)
    return message


def _in_choices(change: Callable[[dict[str, Any]], object]) -> Callable[[Context, dict[str, Any]], dict[str, Any]]:
    def hook(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
        for choice in answer["choices"]:
            change(choice)
        return answer

    return hook


@fault("body-choice-index-from-one", "identity", on=(CHAT,), caught_by=("body.choice-index",))
def choice_index_from_one(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The only choice has the index 1."""
    return _in_choices(lambda choice: choice.update(index=1))(_, answer)


@fault("body-choice-index-string", "identity", on=(CHAT,), caught_by=("body.choice-index", "body.schema"))
def choice_index_string(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The index of the choice is a string."""
    return _in_choices(lambda choice: choice.update(index=str(choice["index"])))(_, answer)


@fault("body-choice-index-missing", "identity", on=(CHAT,), caught_by=("body.choice-index",))
def choice_index_missing(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The choice has no index."""
    return _in_choices(lambda choice: choice.pop("index"))(_, answer)


@fault("body-choices-empty", "body", on=(CHAT,), modes=(JSON,), caught_by=("body.choice-index", "finish.not-null"))
def choices_empty(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """A paid answer has an empty array of choices."""
    return answer | {"choices": []}


@fault("body-choices-object", "body", on=(CHAT,), modes=(JSON,), caught_by=("body.schema",))
def choices_object(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The one choice itself stands where the array of choices belongs."""
    return answer | {"choices": answer["choices"][0]}


@fault("body-choice-doubled", "body", on=(CHAT,), modes=(JSON,), caught_by=("body.choice-index",))
def choice_doubled(_: Context, answer: dict[str, Any]) -> dict[str, Any]:
    """The choice comes twice, both times with index 0."""
    return answer | {"choices": answer["choices"] * 2}
