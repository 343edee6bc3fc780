"""The documents in the HTML report: every line as it stands, each clause marked by its state."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from conformance import specs
from conformance.gate import gate
from conformance.models import ALL
from conformance.reports.html import html
from conformance.reports.html.documents import documents, folded, lines, state_of
from conformance.rules import RULES
from conformance.specs import Clause
from conformance.specs import documents as sources
from conformance.values import Level, Outcome, Protocol, Run, Verdict

RUN = Run(
    version="kimi-conformance 0",
    target="embedded",
    models=ALL,
    protocols=tuple(Protocol),
    seed=1,
    profile="full",
    started="2026-01-01T00:00:00Z",
)
HOSTILE = '<script>alert("1")</script>\x1b[31m\u202e'


def verdict(rule: str, protocol: Protocol, model: str, outcome: Outcome) -> Verdict:
    return Verdict(rule=rule, protocol=protocol, model=model, outcome=outcome, level=Level.MUST, exercised=1)


def every(outcome: Outcome) -> tuple[Verdict, ...]:
    return tuple(
        verdict(rule.id, protocol, model, outcome)
        for rule in RULES.values()
        for protocol in rule.protocols
        for model in rule.models
    )


def marked(pages, name, words):
    """State and title of the spans that hold the words."""
    page = next(page for page in pages if page.name == name)
    return [(span.state, span.title) for line in page.lines for span in line if words in span.text]


def test_the_lines_are_the_document():
    for page in documents(()):
        assert "\n".join("".join(span.text for span in line) for line in page.lines) == sources.text(page.name)


def test_each_clause_is_counted_once():
    for page in documents(every(Outcome.PASS)):
        assert sum(page.counts.values()) == len(specs.clauses(page.name))
        assert page.counts["covered"] > page.counts["excluded"] > 0
        assert page.counts["failed"] == page.counts["none"] == 0


def test_a_sentence_is_marked_failed_where_its_rule_failed():
    failed = verdict("usage.total-is-sum", Protocol.CHAT, "kimi-k3", Outcome.FAIL)
    pages = documents((failed,))
    assert marked(pages, "chat-all", "Total input and output tokens.") == [("failed", "usage.total-is-sum: fail")]
    assert marked(pages, "chat-all", "Includes reasoning tokens.")[0][0] == "covered"
    assert marked(pages, "chat-k31", '"total_tokens": 123') == [("covered", "usage.total-is-sum")] * 2
    assert {page.name: page.counts["failed"] for page in pages if page.counts["failed"]} == {"chat-all": 1}


def test_a_failed_sentence_over_several_lines_is_marked_on_each():
    failed = verdict("tool.ids", Protocol.CHAT, "kimi-k3.1-pro", Outcome.FAIL)
    pages = documents((failed,))
    for words in ("Tool call ID used to associate", "tool_call_id."):
        assert ("failed", "tool.ids: fail, tool.round-trip") in marked(pages, "chat-all", words)


def test_a_verdict_for_another_surface_or_model_marks_nothing():
    failed = (
        verdict("usage.total-is-sum", Protocol.MESSAGES, "kimi-k3", Outcome.FAIL),
        verdict(HOSTILE, Protocol.CHAT, HOSTILE, Outcome.FAIL),
    )
    assert all(page.counts["failed"] == 0 for page in documents(failed))


def test_an_excluded_sentence_says_why():
    state, title = marked(documents(()), "chat-all", "Writes and reads are billed separately.")[0]
    assert (state, title) == ("excluded", "price, not behaviour")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((), None),
        ((None, None), None),
        ((Outcome.PASS, None, Outcome.FAIL), Outcome.FAIL),
        ((Outcome.FAIL, Outcome.ERROR), Outcome.ERROR),
        ((Outcome.NOT_EXERCISED, Outcome.PASS), Outcome.PASS),
        ((Outcome.NOT_APPLICABLE, Outcome.NOT_EXERCISED), Outcome.NOT_EXERCISED),
    ],
)
def test_the_gravest_outcome_is_told(outcomes, expected):
    assert folded(outcomes) is expected


def test_lines_split_around_clauses():
    clauses = (
        Clause(document="d", place="p", line=1, text="b c", rules=("x.y",), start=2, end=7),
        Clause(document="d", place="p", line=3, text="e", start=10, end=11),
    )
    found = [
        [(s.text, s.state, s.title) for s in line] for line in lines("a b\n  c d\ne", clauses, {"x.y": Outcome.FAIL})
    ]
    assert found == [
        [("a ", "", ""), ("b", "failed", "x.y: fail")],
        [("  ", "", ""), ("c", "failed", "x.y: fail"), (" d", "", "")],
        [("e", "none", "not mapped")],
    ]
    assert state_of(clauses[0], {}) == "covered"


class Text(HTMLParser):
    """What a reader sees in each document, and the spans' classes."""

    def __init__(self):
        super().__init__()
        self.inside, self.shown, self.scripts, self.links = False, [], 0, []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "pre" and attrs.get("class") == "d":
            self.inside = True
            self.shown.append("")
        elif tag == "i" and self.inside:
            self.shown[-1] += "\n"
        self.scripts += tag == "script"
        self.links += [attrs[key] for key in ("src", "href") if key in attrs and not attrs[key].startswith("#")]

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data):
        if self.inside:
            self.shown[-1] += data


@pytest.fixture(scope="module")
def page():
    failed = (verdict("usage.total-is-sum", Protocol.CHAT, "kimi-k3", Outcome.FAIL),)
    verdicts = tuple(v for v in every(Outcome.PASS) if v.rule != "usage.total-is-sum") + failed
    return html(RUN, verdicts, gate(verdicts), {})


def test_the_page_shows_every_document_word_for_word(page):
    parser = Text()
    parser.feed(page)
    assert [text.removeprefix("\n") for text in parser.shown] == [sources.text(row.name) for row in specs.sources()]


def test_the_page_stays_small_and_self_contained(page):
    parser = Text()
    parser.feed(page)
    assert len(page.encode()) < 600_000
    assert parser.links == []
    assert parser.scripts == 1


def test_the_page_marks_the_failed_sentence_and_no_other(page):
    failed = re.findall(r'<span class="d-f" title="([^"]*)">([^<]*)</span>', page)
    assert [(unescape(title), text) for title, text in failed] == [
        ("usage.total-is-sum: fail", "Total input and output tokens.")
    ]


def test_hostile_text_stays_text(monkeypatch):
    monkeypatch.setattr(sources, "text", lambda name: HOSTILE)
    whole = Clause(document="d", place="p", line=1, text="x", excluded=HOSTILE, start=0, end=len(HOSTILE))
    monkeypatch.setattr(specs, "clauses", lambda name: (whole,))
    page = html(RUN, (), gate(()), {})
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(") == 2 * len(specs.sources())
    assert "\x1b" not in page
    assert "\u202e" not in page
