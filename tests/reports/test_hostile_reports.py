"""Whatever a server, a recording or a file name says, reports show it as text and obey none of it."""

from __future__ import annotations

import re
import subprocess
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from conformance.gate import gate
from conformance.reports import write
from conformance.reports.curl import LONGEST_WORD, curl
from conformance.reports.markdown import _code, _fenced
from conformance.values import Basis, Exchange, Finding, Level, Outcome, Protocol, Request, Run, Verdict

MARK = "evil"
WORDS = {
    "terminal": "\x1b[2J\x1b]0;evil\x07\x9b31mevil\x7f",
    "bidi": "\u202eevil\u2066\u200b\u00ad\ufeffevil",
    "entities": "&#x202e;evil&lt;b&gt;evil&amp;",
    "markup": "<script>alert('evil')</script><img src=x onerror=evil><!-- evil",
    "attribute": "\" onmouseover='evil' title=\"evil",
    "links": "[evil](https://evil.example) ![evil](//evil.example) http://evil.io www.evil.io @evil evil@evil.io",
    "emphasis": "**evil** _evil_ ~~evil~~ # evil",
    "ticks": "```\nevil\n```\n`evil` ~~~ evil",
    "table": "evil | evil |\n|---|\n| evil",
    "details": "</details></summary><h1>evil",
    "cdata": "]]>evil<![CDATA[ \x00 \ufffe\uffff evil",
    "template": "{{ evil }} {% evil %} ${evil} $(evil) `evil`",
    "lines": "evil\r\nevil\u2028evil\x85evil\x0bevil",
    "blank": " \t evil",
}


def finding(text: str) -> Finding:
    return Finding(
        message=text,
        rule="usage.total-is-sum",
        level=Level.MUST,
        basis=Basis.DOCUMENTED,
        protocol=Protocol.CHAT,
        model="kimi-k3",
        exchange=text,
        exchanges=(text,),
        pointer=f"/{text}",
        expected={text: [text]},
        actual=text,
    )


def sent(text: str) -> Exchange:
    return Exchange(
        id=text,
        protocol=Protocol.CHAT,
        model="kimi-k3",
        request=Request(
            method="POST",
            url=f"http://h/{text}/v1/chat/completions",
            headers=(("Authorization", f"{text} REDACTED"), ("X-Name", text), (text, text)),
            body=f'{{"model":"{text}"}}'.encode("utf-8", "replace"),
        ),
    )


@pytest.fixture(scope="module", params=WORDS)
def out(request, tmp_path_factory) -> Path:
    text = WORDS[request.param]
    run = Run(
        version=text,
        target=text,
        models=("kimi-k3",),
        protocols=(Protocol.CHAT,),
        seed=1,
        profile="full",
        started="2026-01-01T00:00:00Z",
        partial=text,
    )
    cells = [("usage.total-is-sum", Outcome.FAIL), ("usage.present", Outcome.INCONCLUSIVE)]
    verdicts = tuple(
        Verdict(
            rule=rule,
            protocol=Protocol.CHAT,
            model="kimi-k3",
            outcome=outcome,
            level=Level.MUST,
            findings=(finding(text),) if outcome is Outcome.FAIL else (),
            reason=text,
        )
        for rule, outcome in cells
    )
    folder = tmp_path_factory.mktemp(request.param)
    write(folder, run, verdicts, gate(verdicts, partial=text), [sent(text)])
    return folder


def hidden(text: str) -> set[str]:
    """The characters of a report that a terminal or a reader's eye would obey."""
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return {char for char in text if char not in "\n\t" and unicodedata.category(char) in bad}


def test_what_people_read_has_no_character_that_steers(out):
    for name in ("report.md", "report.html", "junit.xml"):
        text = (out / name).read_text("utf-8")
        assert MARK in text
        assert hidden(text) == set(), name


def test_the_words_of_others_stand_in_code_only_in_markdown(out):
    text = (out / "report.md").read_text("utf-8")
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    loud = [token.content for token in tokens if token.type == "html_block" and MARK in token.content]
    for token in tokens:
        for child in token.children or ():
            assert child.type not in ("link_open", "image", "s_open", "em_open", "strong_open"), child
            if child.type in ("text", "html_inline") and MARK in child.content:
                loud.append(child.content)
    assert loud == []
    assert [token.content for token in tokens if token.type == "heading_open" and token.level > 0] == []
    headings = re.findall(r"^#+ .*$", text, re.MULTILINE)
    inline = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert len(inline) == len(headings)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.handlers, self.links, self.open, self.text = 0, [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.links += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_stays_whole_and_holds_no_markup_of_others(out):
    page = Page()
    page.feed((out / "report.html").read_text("utf-8"))
    assert (page.scripts, page.handlers, page.links, page.open) == (1, [], [], [])


def test_junit_stays_well_formed_and_keeps_its_counts(out):
    root = ET.fromstring((out / "junit.xml").read_bytes())  # noqa: S314 (our own file)
    suite = root.find("testsuite")
    assert (suite.get("failures"), suite.get("skipped"), len(suite.findall("testcase"))) == ("1", "1", 2)
    assert MARK in suite.find(".//failure").get("message")


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_a_fence_and_a_span_end_where_they_should(text):
    fence = MarkdownIt("commonmark").parse("\n".join(_fenced(text, "text")))
    assert [token.type for token in fence] == ["fence"]
    (paragraph,) = (token for token in MarkdownIt("commonmark").parse(f"- {_code(text)}") if token.type == "inline")
    assert [child.type for child in paragraph.children] == ["code_inline"]


def test_a_bar_is_escaped_in_the_cells_of_tables_only():
    assert (_code("a|b"), _code("a|b", cell=True), _code("")) == ("`a|b`", "`a\\|b`", "`an empty string`")


@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_a_curl_line_runs_nothing_but_curl(text, tmp_path):
    line = curl(sent(text))
    assert hidden(line) == set()
    script = f'curl() {{ printf "%s\\0" "$@" > words; }}; {line}'
    subprocess.run(["/bin/bash", "-c", script], cwd=tmp_path, check=True, env={"PATH": "/usr/bin:/bin"})  # noqa: S603 (ours)
    assert [path.name for path in tmp_path.iterdir()] == ["words"]
    words = (tmp_path / "words").read_bytes().split(b"\0")
    value = text.partition("\0")[0].encode("utf-8", "replace")
    assert b"X-Name: " + value in words


def test_a_curl_line_takes_no_option_no_file_and_no_comment_from_a_recording():
    one = sent("x")
    request = Request(
        method="POST",
        url="-oowned/v1/chat/completions",
        headers=(("@/etc/passwd", "x"), ("X-Long", "x" * (LONGEST_WORD + 1)), ("X-Good", "@x")),
        body=b"x" * 30_000,
    )
    line = curl(Exchange(id="7\ntouch owned", protocol=one.protocol, model=one.model, request=request))
    assert "\n" not in line
    assert line.startswith("curl -sS -i --url -oowned/v1/chat/completions -H 'X-Good: @x' --data-binary @body.json  # ")


def test_a_url_with_brackets_is_one_request():
    one = sent("x")
    request = Request(method="GET", url="http://h/[1-100]/v1/chat/completions")
    line = curl(Exchange(id="7", protocol=one.protocol, model=one.model, request=request))
    assert line == "curl -sS -i -X GET -g 'http://h/[1-100]/v1/chat/completions'"
