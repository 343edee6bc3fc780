"""The three surfaces: request bodies, and one view of every request and answer.

``chat``, ``messages`` and ``responses`` build request bodies under the same names: ``path``, ``body``, ``tool``,
``search``, ``choice`` and ``continue_with``. ``read`` and ``ask`` give the view, whose fields ``view`` documents.
"""

from __future__ import annotations

from types import ModuleType

from conformance.protocols import chat, messages, responses
from conformance.protocols.answering import read
from conformance.protocols.asking import ask, surface
from conformance.protocols.turns import New, NoAnswerError
from conformance.protocols.view import (
    MISSING,
    Answer,
    Asked,
    Call,
    Error,
    Finish,
    Kind,
    Missing,
    Note,
    SearchResult,
    Tool,
    Usage,
)
from conformance.values import Protocol

BUILDERS: dict[Protocol, ModuleType] = {
    Protocol.CHAT: chat,
    Protocol.MESSAGES: messages,
    Protocol.RESPONSES: responses,
}

__all__ = [
    "BUILDERS",
    "MISSING",
    "Answer",
    "Asked",
    "Call",
    "Error",
    "Finish",
    "Kind",
    "Missing",
    "New",
    "NoAnswerError",
    "Note",
    "SearchResult",
    "Tool",
    "Usage",
    "ask",
    "chat",
    "messages",
    "read",
    "responses",
    "surface",
]
