"""Clients that record: httpx and httpx2, the official SDKs, the fixture, and the README's own words."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("httpcore2")  # before pytester, which forgets what its runs import: a second import differs
pytest.importorskip("httpx2")
pytest.importorskip("openai")
pytest.importorskip("anthropic")

import httpx
import httpx2

import conformance
from conformance import AsyncConformanceTransport, ConformanceTransport
from conformance.evidence import Journal, read
from conformance.evidence.entries import MARKER
from conformance.reference import DEFAULT_KEY, Running, running
from conformance.reference.faults import FAULTS
from conformance.values import Level, Outcome

pytest_plugins = ["pytester"]

LIBRARIES = [httpx, httpx2]
URL = "http://upstream.local/v1/chat/completions"
OK = [{"role": "user", "content": "Reply with OK."}]
BODY = {"model": "kimi-k3", "messages": OK}
FAULT = "usage-total-off-by-one"
EVENTS = [b'data: {"id":"1"}\n\n', b"data: [DONE]\n\n"]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def wrong() -> Iterator[Running]:
    with running(hooks=FAULTS[FAULT].hooks()) as found:
        yield found


def answering(library: ModuleType, chunks: list[bytes], error: str | None = None, **headers: str) -> object:
    """A transport that answers with a stream of chunks, then breaks where an error is named."""

    class Stream(library.SyncByteStream, library.AsyncByteStream):
        def __iter__(self):
            yield from chunks
            if error is not None:
                raise getattr(library, error)("it broke")

        async def __aiter__(self):
            for chunk in self:
                yield chunk

    return library.MockTransport(lambda _: library.Response(200, headers=headers, stream=Stream()))


@pytest.mark.parametrize("library", LIBRARIES)
def test_stream_passes_untouched_and_is_kept_with_its_chunks(library: ModuleType):
    transport = ConformanceTransport(answering(library, EVENTS, **{"Content-Type": "text/event-stream"}))
    with library.Client(transport=transport) as client, client.stream("POST", URL, json=BODY) as response:
        parts = response.iter_raw()
        assert next(parts) == EVENTS[0]
        assert transport.exchanges == []
        assert list(parts) == EVENTS[1:]
    (exchange,) = transport.exchanges
    assert [chunk.data for chunk in exchange.response.chunks] == EVENTS
    assert json.loads(exchange.request.body) == BODY
    assert (exchange.failure, exchange.model, exchange.live) == (None, "kimi-k3", True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_asynchronous_streams_too(library: ModuleType, tmp_path: Path):
    async def work() -> list[bytes]:
        inner = answering(library, EVENTS, **{"Content-Type": "text/event-stream"})
        transport = AsyncConformanceTransport(inner, journal=tmp_path / "journal.jsonl")
        async with (
            library.AsyncClient(transport=transport) as client,
            client.stream("POST", URL, json=BODY) as response,
        ):
            return [part async for part in response.aiter_raw()]

    assert asyncio.run(work()) == EVENTS
    (exchange,) = read(str(tmp_path / "journal.jsonl")).exchanges
    assert [chunk.data for chunk in exchange.response.chunks] == EVENTS


@pytest.mark.parametrize("library", LIBRARIES)
def test_coded_answer_reaches_the_client_coded_and_the_record_decoded(library: ModuleType):
    packed = gzip.compress(b'{"id": "x"}')
    inner = answering(library, [packed[:10], packed[10:]], **{"Content-Encoding": "gzip"})
    transport = ConformanceTransport(inner)
    with library.Client(transport=transport) as client:
        assert client.post(URL, json=BODY).json() == {"id": "x"}
    (exchange,) = transport.exchanges
    assert b"".join(chunk.data for chunk in exchange.response.chunks) == b'{"id": "x"}'


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("error", "kind"), [("ReadTimeout", "timeout"), ("ReadError", "reset"), ("RemoteProtocolError", "protocol")]
)
def test_break_in_a_stream_reaches_the_client_and_the_record(library: ModuleType, error: str, kind: str):
    transport = ConformanceTransport(answering(library, EVENTS[:1], error))
    with library.Client(transport=transport) as client, pytest.raises(getattr(library, error)):
        client.post(URL, json=BODY)
    (exchange,) = transport.exchanges
    assert (exchange.failure.kind, exchange.response.status) == (kind, 200)


@pytest.mark.parametrize("library", LIBRARIES)
def test_refused_connection_is_kept(library: ModuleType):
    transport = ConformanceTransport()
    with library.Client(transport=transport) as client, pytest.raises(library.ConnectError):
        client.post("http://127.0.0.1:9/v1/messages", json=BODY)
    (exchange,) = transport.exchanges
    assert (exchange.failure.kind, exchange.response) == ("refused", None)


@pytest.mark.parametrize("seen", [1, 2])
def test_leaving_early_cuts_the_record_unless_the_last_event_had_come(seen: int):
    events = [
        b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"OK"},"finish_reason":"stop"}]}\n\n',
        b"data: [DONE]\n\n",
    ]
    transport = ConformanceTransport(answering(httpx, [*events, b""], **{"Content-Type": "text/event-stream"}))
    body = {**BODY, "stream": True}
    with httpx.Client(transport=transport) as client, client.stream("POST", URL, json=body) as response:
        parts = response.iter_raw()
        for _ in range(seen):
            next(parts)
    (exchange,) = transport.exchanges
    assert (exchange.failure is None) == (seen == 2)


def test_other_requests_pass_without_a_record():
    transport = ConformanceTransport(answering(httpx, [b"{}"]))
    with httpx.Client(transport=transport) as client:
        assert client.get("http://upstream.local/v1/models").json() == {}
    assert transport.exchanges == []


def test_answer_that_the_proxy_made_up_is_not_the_upstreams():
    inner = answering(httpx, [b'{"error": {}}'], **{MARKER: "upstream-unreachable"})
    transport = ConformanceTransport(inner)
    with httpx.Client(transport=transport) as client:
        client.post(URL, json=BODY)
    (exchange,) = transport.exchanges
    assert (exchange.response, exchange.failure.kind) == (None, "refused")


def test_keys_are_hidden_in_list_and_journal(tmp_path: Path):
    canary = "sk-canary-0123456789"
    with Journal(tmp_path / "journal.jsonl") as journal:
        for transport in (
            ConformanceTransport(answering(httpx, [canary.encode()])),
            ConformanceTransport(answering(httpx, [canary.encode()]), journal=journal),
        ):
            with httpx.Client(transport=transport) as client:
                client.post(URL, json=BODY, headers={"Authorization": f"Bearer {canary}"})
            assert canary not in repr(transport.exchanges)
    assert canary not in (tmp_path / "journal.jsonl").read_text("utf-8")
    assert len(read(str(tmp_path / "journal.jsonl")).exchanges) == 1


def test_something_else_than_a_request_is_named():
    with pytest.raises(TypeError, match="expected a request or response of httpx or httpx2"):
        ConformanceTransport().handle_request(object())


def test_public_names_cost_nothing_until_they_are_used():
    code = (
        "import sys, conformance\n"
        "assert [name for name in sys.modules if name.startswith('conformance.')] == []\n"
        "assert {'judge', 'ConformanceTransport', 'AsyncConformanceTransport'} <= set(dir(conformance))\n"
        "assert conformance.judge([]).findings == ()\n"
        "import conformance.judge\n"
        "assert conformance.judge([], rules=[]).verdicts == ()\n"
        "from conformance.judge import judge\n"
        "assert judge([]) == conformance.judge([])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)  # noqa: S603 (ours)
    with pytest.raises(AttributeError, match="judges"):
        conformance.judges  # noqa: B018 (it must raise)


FAILING = """
    import openai

    def test_client(kimi_conformance):
        transport = kimi_conformance.transport()
        with openai.OpenAI(
            api_key={key!r}, base_url={url!r}, http_client=openai.DefaultHttpxClient(transport=transport)
        ) as client:
            {first}
            client.chat.completions.create(model="kimi-k3", messages=[{{"role": "user", "content": "Reply with OK."}}])
            assert len(kimi_conformance.exchanges) == 1
"""


def run(pytester: pytest.Pytester, url: str, first: str = "pass") -> pytest.RunResult:
    pytester.makepyfile(FAILING.format(key=DEFAULT_KEY, url=f"{url}/v1", first=first))
    return pytester.runpytest_inprocess("-p", "no:schemathesis", "-p", "no:cacheprovider", "-q")


def test_fixture_fails_a_test_whose_server_breaks_a_must(pytester: pytest.Pytester, wrong: Running):
    result = run(pytester, wrong.base_url)
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "of level must in what the client got" in text
    assert any(f"  {rule}: " in text for rule in FAULTS[FAULT].caught_by)
    assert DEFAULT_KEY not in text.replace(f"api_key='{DEFAULT_KEY}'", "")


def test_fixture_lets_a_test_pass_where_nothing_is_broken_or_it_is_allowed(
    pytester: pytest.Pytester, server: Running, wrong: Running
):
    run(pytester, server.base_url).assert_outcomes(passed=1)
    run(pytester, wrong.base_url, 'kimi_conformance.allow("usage.*")').assert_outcomes(passed=1)


def test_fixture_names_a_pattern_that_matches_nothing(pytester: pytest.Pytester, server: Running):
    result = run(pytester, server.base_url, 'kimi_conformance.allow("usage.totol-is-sum")')
    result.assert_outcomes(failed=1)
    assert "no rule matches 'usage.totol-is-sum'; nearest: usage.total-is-sum" in result.stdout.str()


README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
SNIPPETS = [part.partition("```")[0] for part in README.split("```python\n")[1:]]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda text: text.split("\n", 1)[0][:40])
def test_snippet_of_the_readme_works(
    snippet: str, pytester: pytest.Pytester, server: Running, monkeypatch: pytest.MonkeyPatch
):
    assert sum(bool(line.strip()) for line in snippet.splitlines()) <= 12
    code = snippet.replace("http://127.0.0.1:8788", server.base_url)
    assert code != snippet
    if "def test_" in code:
        pytester.makepyfile(code)
        result = pytester.runpytest_inprocess("-p", "no:schemathesis", "-p", "no:cacheprovider", "-q")
        result.assert_outcomes(passed=code.count("def test_"))
    else:
        monkeypatch.chdir(pytester.path)
        found: dict[str, object] = {}
        exec(compile(code, "README.md", "exec"), found)  # noqa: S102 (our own README)
        judgement = found["judgement"]
        assert judgement.findings == ()
        assert any(verdict.outcome is Outcome.PASS for verdict in judgement.verdicts)


def test_readme_shows_each_way():
    text = "\n".join(SNIPPETS)
    for word in ("ConformanceTransport(", "AsyncConformanceTransport(", "conformance.judge(", "kimi_conformance"):
        assert word in text
    assert Level.MUST.value in README
