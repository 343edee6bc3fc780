"""Requests out, exchanges back: the sender, the targets, the check before a run, and the player of scripts."""

from conformance.client.player import Played, Player, Sender, Stopped
from conformance.client.preflight import preflight
from conformance.client.sender import Client, Limits
from conformance.client.targets import BadTarget, Target, resolve, serving

__all__ = [
    "BadTarget",
    "Client",
    "Limits",
    "Played",
    "Player",
    "Sender",
    "Stopped",
    "Target",
    "preflight",
    "resolve",
    "serving",
]
