"""Faults in the output items of a responses stream: their identity, and what the end keeps of them."""

from __future__ import annotations

from conformance.reference.faults.edits import TERMINAL, Events, data, of, output
from conformance.reference.faults.registry import RESPONSES, STREAM, fault
from conformance.reference.hooks import Context

_ON = (RESPONSES,)
_ONLY = (STREAM,)
_ITEMS = ("stream.responses.items",)
_KEPT = ("stream.responses.output-kept",)
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_DELTA = "response.output_text.delta"


@fault(
    "item-id-changes-when-done", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS, seen=("EricLBuehler/mistral.rs#1944",)
)
def id_changes_when_done(_: Context, events: Events) -> Events:
    """An output item has another id when it is done."""
    for each in of(events, _DONE):
        each["item"]["id"] += "0"
    return events


@fault("item-id-changes-at-end", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS, seen=("smg-project/smg#160",))
def id_changes_at_end(_: Context, events: Events) -> Events:
    """The output items have other ids in the final response."""
    for item in output(events):
        item["id"] += "0"
    return events


@fault("item-id-of-deltas-differs", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS, seen=("BerriAI/litellm#36375",))
def id_of_deltas_differs(_: Context, events: Events) -> Events:
    """Text deltas name the response instead of their item."""
    for each in of(events, _DELTA):
        each["item_id"] = "resp_0"
    return events


@fault("item-id-of-one-delta-differs", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def id_of_one_delta_differs(_: Context, events: Events) -> Events:
    """The first delta of the reasoning names another item."""
    for each in of(events, "response.reasoning_summary_text.delta"):
        each["item_id"] += "0"
        break
    return events


@fault("item-id-missing-in-deltas", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def id_missing_in_deltas(_: Context, events: Events) -> Events:
    """Text deltas do not name their item."""
    for each in of(events, _DELTA):
        del each["item_id"]
    return events


@fault("item-unnamed-in-deltas", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def unnamed_in_deltas(_: Context, events: Events) -> Events:
    """Text deltas name their item neither by its id nor by its index."""
    for each in of(events, _DELTA):
        del each["item_id"], each["output_index"]
    return events


@fault("item-index-of-one-delta-differs", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def index_of_one_delta_differs(_: Context, events: Events) -> Events:
    """The first delta of the reasoning has an output_index that no item has."""
    for each in of(events, "response.reasoning_summary_text.delta"):
        each["output_index"] = 9
        break
    return events


@fault("item-index-differs-when-done", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def index_differs_when_done(_: Context, events: Events) -> Events:
    """The last output item is done under an output_index that no item has."""
    for each in list(of(events, _DONE))[-1:]:
        each["output_index"] += 9
    return events


@fault("item-index-missing-in-deltas", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def index_missing_in_deltas(_: Context, events: Events) -> Events:
    """Text deltas have no output_index."""
    for each in of(events, _DELTA):
        del each["output_index"]
    return events


@fault("item-indexes-collide", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS, seen=("BerriAI/litellm#36375",))
def indexes_collide(_: Context, events: Events) -> Events:
    """Every output item has output_index 0."""
    for event in events:
        if "output_index" in data(event):
            data(event)["output_index"] = 0
    return events


@fault("item-indexes-from-one", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def indexes_from_one(_: Context, events: Events) -> Events:
    """The indexes of the output items start at 1."""
    for event in events:
        if "output_index" in data(event):
            data(event)["output_index"] += 1
    return events


@fault("item-added-without-item", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def added_without_item(_: Context, events: Events) -> Events:
    """output_item.added carries no item."""
    for each in of(events, _ADDED):
        each["item"] = None
    return events


@fault("item-type-changes", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def type_changes(_: Context, events: Events) -> Events:
    """The reasoning is added as a message and done as reasoning."""
    for each in of(events, _ADDED):
        if each["item"]["type"] == "reasoning":
            each["item"] |= {"type": "message", "role": "assistant", "content": []}
    return events


@fault("item-unstreamed-at-end", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def unstreamed_at_end(_: Context, events: Events) -> Events:
    """The final response holds an item that was never streamed."""
    items = output(events)
    items.append({"type": "reasoning", "id": "rs_0", "summary": [], "status": "completed"})
    return events


@fault("item-order-differs-at-end", "events", on=_ON, modes=_ONLY, caught_by=_ITEMS)
def order_differs(_: Context, events: Events) -> Events:
    """The final response holds the items in another order."""
    output(events).reverse()
    return events


@fault(
    "output-empty-at-end",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=_KEPT,
    seen=("QuantumNous/new-api#4362", "BerriAI/litellm#32724", "router-for-me/CLIProxyAPI#2626", "mcowger/plexus#644"),
)
def output_empty(_: Context, events: Events) -> Events:
    """The output of the final response is empty."""
    output(events).clear()
    return events


@fault(
    "output-missing-at-end",
    "events",
    on=_ON,
    modes=_ONLY,
    caught_by=(*_KEPT, "body.required-fields"),
    seen=("decolua/9router#705", "ENTERPILOT/GoModel#831"),
)
def output_missing(_: Context, events: Events) -> Events:
    """The final response has no output."""
    for each in of(events, *TERMINAL):
        del each["response"]["output"]
    return events


@fault("output-lacks-reasoning-at-end", "events", on=_ON, modes=_ONLY, caught_by=_KEPT)
def output_lacks_reasoning(_: Context, events: Events) -> Events:
    """The final response lacks the reasoning that was streamed."""
    items = output(events)
    items[:] = [item for item in items if item["type"] != "reasoning"]
    return events


@fault("output-lacks-last-item", "events", on=_ON, modes=_ONLY, caught_by=_KEPT)
def output_lacks_last(_: Context, events: Events) -> Events:
    """The final response lacks the last item that was streamed."""
    output(events).pop()
    return events
