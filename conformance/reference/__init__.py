"""The embedded reference server: a faithful implementation of the five documents on loopback.

``with running() as server`` serves on free ports; ``app`` is the ASGI application alone. ``Hooks`` make it misbehave.
"""

from conformance.reference.application import app
from conformance.reference.encoding.frame import Event
from conformance.reference.hooks import Context, Cut, Head, Hooks, Pause, Wire
from conformance.reference.problems import Problem
from conformance.reference.prompts import Prompt
from conformance.reference.refusals import Layer, Refusal
from conformance.reference.results import Call, Finish, Result, Search, Usage
from conformance.reference.server import NotStartedError, PortTakenError, Running, running
from conformance.reference.settings import DEFAULT_KEY, Settings

__all__ = [
    "DEFAULT_KEY",
    "Call",
    "Context",
    "Cut",
    "Event",
    "Finish",
    "Head",
    "Hooks",
    "Layer",
    "NotStartedError",
    "Pause",
    "PortTakenError",
    "Problem",
    "Prompt",
    "Refusal",
    "Result",
    "Running",
    "Search",
    "Settings",
    "Usage",
    "Wire",
    "app",
    "running",
]
