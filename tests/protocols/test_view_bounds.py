"""What the reader leaves out of a large answer is nobody's fault."""

from __future__ import annotations

import pytest
from view_wire import SSE, exchange

from conformance import sse
from conformance.judge import judge
from conformance.protocols import answering, read
from conformance.values import Level, Outcome, Protocol

EVENT = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1790000000,"model":"kimi-k3.1-pro","choices":'
    b'[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'
)


@pytest.mark.parametrize(
    ("module", "name", "most"),
    [(sse, "MAX_EVENTS", 5), (sse, "MAX_KEPT", 1000), (sse, "MAX_EVENT", 100), (answering, "MAX_BODY", 1000)],
)
def test_a_stream_that_is_too_large_is_cut_and_not_unended(monkeypatch, module, name, most):
    monkeypatch.setattr(module, name, most)
    one = exchange(Protocol.CHAT, EVENT * 20, media_type=SSE)
    assert read(one).broken == "cut"
    verdicts = {verdict.rule: verdict for verdict in judge([one]).verdicts if verdict.protocol is Protocol.CHAT}
    assert verdicts["stream.complete"].outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED)
    assert not [v.rule for v in verdicts.values() for finding in v.findings if finding.level is Level.MUST]


def test_a_body_that_is_too_large_is_not_broken_json(monkeypatch):
    monkeypatch.setattr("conformance.protocols.json_text.MAX_BODY", 1000)
    monkeypatch.setattr(answering, "MAX_BODY", 1000)
    one = exchange(Protocol.CHAT, b'{"id":"' + b"a" * 1000 + b'"}')
    assert read(one).broken == "cut"
    outcomes = {verdict.rule: verdict.outcome for verdict in judge([one]).verdicts if verdict.protocol is Protocol.CHAT}
    assert Outcome.FAIL not in outcomes.values()
