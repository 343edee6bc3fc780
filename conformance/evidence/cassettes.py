"""Cassettes of vcrpy (YAML and JSON) and of go-vcr (versions 1 and 2, YAML and JSON).

vcrpy names the address ``uri``, the status ``{code, message}`` and the body ``{string}`` (bytes as ``!!binary``) or,
with some serializers, ``{base64_string}``; go-vcr names them ``url``, ``code`` and ``body`` and keeps a duration. Both
hold a coded body as it came over the wire. Both are often told to take keys, headers and bodies away, and what
was taken away is not held against anybody. Our own are vcrpy's and hold more: see ``replayable``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import yaml

from conformance.evidence import beside, broken, entries, quick_yaml, replayable
from conformance.evidence.bodies import bounded, unread_of
from conformance.evidence.entries import get, part
from conformance.evidence.recording import Recording, Unreadable
from conformance.values import Exchange, Failure, Request, Response

_YAML = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?interactions:[ \t]*(?:\[\][ \t]*)?\r?$")
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{(?:\s*"[^"\\]{1,40}"\s*:\s*[\w".-]{1,80}\s*,)*\s*"interactions"\s*:\s*\[')
_DEEPEST = 64  # levels of YAML; a cassette has six
_MOST_DROPPED = 3  # entries at the end of a file that a cut may have broken
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)")
_UNITS = {"h": 3.6e6, "m": 6e4, "s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}
_BASE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without its C part


class _Loader(_BASE):  # type: ignore[misc,valid-type]
    """Safe YAML with the few Python tags that vcrpy writes."""


def _buffer(loader: Any, node: Any) -> Any:
    state = loader.construct_mapping(node, deep=True).get("state")
    return state[0] if isinstance(state, list | tuple) and state else b""


def _iterated(loader: Any, node: Any) -> Any:
    arguments = loader.construct_mapping(node, deep=True).get("args")
    parts = arguments[0] if isinstance(arguments, list | tuple) and arguments else []
    return b"".join(entries.body_bytes(item) or b"" for item in parts) if isinstance(parts, list | tuple) else b""


_TAG = "tag:yaml.org,2002:"
_Loader.add_constructor(f"{_TAG}python/str", lambda loader, node: loader.construct_scalar(node))
_Loader.add_constructor(f"{_TAG}python/unicode", lambda loader, node: loader.construct_scalar(node))
_Loader.add_constructor(f"{_TAG}python/tuple", lambda loader, node: tuple(loader.construct_sequence(node)))
_Loader.add_constructor(f"{_TAG}python/object/new:_io.BytesIO", _buffer)
_Loader.add_constructor(f"{_TAG}python/object/apply:builtins.iter", _iterated)
_Loader.add_constructor(f"{_TAG}timestamp", lambda loader, node: loader.construct_scalar(node))


def is_cassette(data: bytes) -> bool:
    """Whether the file, or its beginning, names a list of interactions, as both recorders write it."""
    return bool(_JSON.match(data) or _YAML.search(data[:65_536]))


def parse(data: bytes, path: str) -> Recording:
    """The exchanges of a cassette; ids are numbers counted from 1. Raises ``Unreadable``."""
    document, cut = load(data, path)
    items: list[Any] = document["interactions"]
    ours = replayable.is_ours(document)
    kept = replayable.kept_beside(document, path) if ours else None
    model = replayable.model_of(document)
    family = "go-vcr" if any("url" in part(item, "request") for item in items) else "vcrpy"
    exchanges: list[Exchange] = []
    skipped: Counter[str] = Counter()
    for number, item in enumerate(items, 1):
        result = exchange(item, number, path, kept=kept, model=model)
        if isinstance(result, str):
            skipped[result] += 1
        else:
            exchanges.append(result)
    found = tuple(exchanges) if ours else entries.with_keys(exchanges)
    return Recording(path=path, format=family, exchanges=found, skipped=dict(skipped), cut=cut or unread_of(exchanges))


def load(data: bytes, path: str) -> tuple[dict[str, Any], str | None]:
    """The document of a cassette, which has interactions, and where it breaks off. Raises ``Unreadable``."""
    document, cut = _document(data, path)
    items = get(document, "interactions")
    if not isinstance(items, list):
        raise Unreadable(path, "a cassette without a list of interactions")
    if not items:
        raise Unreadable(path, "empty: the cassette has no interaction")
    return document, cut


def _document(data: bytes, path: str) -> tuple[Any, str | None]:
    """The value of the file, and where it breaks off."""
    text = data.decode("utf-8-sig", "surrogateescape")
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text), None
        except json.JSONDecodeError as error:
            items = broken.whole_items(text, "interactions") if broken.ends_inside(text, error) else []
            if items:
                return {"interactions": items}, cut_at(len(data), len(items))
            where = len(text[: error.pos].encode("utf-8", "surrogatepass"))
            raise Unreadable(path, f"a cassette whose JSON is broken at byte {where} ({error.msg})") from None
        except (ValueError, RecursionError):
            raise Unreadable(path, "a cassette whose JSON cannot be read") from None
    document, problem = loaded(text)
    if problem is None and not lacks_its_end(document, text):
        return document, None
    whole = _before_the_cut(text)
    if whole is None:
        raise Unreadable(path, f"a cassette whose YAML is broken ({problem or 'it ends before its first interaction'})")
    return whole, cut_at(len(data), len(whole["interactions"]))


def cut_at(size: int, count: int) -> str:
    """Where a cassette breaks off after so many whole interactions."""
    return f"cut off at byte {size}; {count} whole interaction{'s' * (count != 1)} stand before it"


def loaded(text: str) -> tuple[Any, str | None]:
    """The value of YAML, and what is wrong with it."""
    with suppress(quick_yaml.Uncommon):
        return quick_yaml.load(text), None
    try:
        _bound(text)
        return yaml.load(text, Loader=_Loader), None  # noqa: S506 (a safe loader and a few plain tags)
    except yaml.YAMLError as error:
        return None, " ".join(str(error).split())[:160]
    except UnicodeError:
        return None, "it is no text in UTF-8"
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


def _bound(text: str) -> None:
    """Refuse what no recorder writes and what costs more than its length: aliases and deep nesting."""
    depth = 0
    for event in yaml.parse(text, Loader=_BASE):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("an alias, which no cassette has")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise yaml.YAMLError("nested too deeply")


def lacks_its_end(document: Any, text: str) -> bool:
    """Whether YAML that reads well is only the beginning of what a recorder wrote.

    vcrpy writes the version last, go-vcr the code of each response; an entry without its status was cut.
    """
    items = get(document, "interactions")
    if not isinstance(items, list) or not items:
        return False
    answer = part(items[-1], "response")
    status = answer.get("status")
    answered = answer.get("code") or (status.get("code") if isinstance(status, dict) else status)
    return answered is None or not text.endswith("\n")


def _before_the_cut(text: str) -> dict[str, Any] | None:
    """The interactions that stand whole before the text breaks off; None where there is none."""
    lines = re.search(r"(?m)^interactions:[^\n]*\n( *)- ", text)
    if lines is None:
        return None
    starts = [match.start() for match in re.finditer(rf"(?m)^{lines.group(1)}- ", text)]
    for start in reversed(starts[-_MOST_DROPPED:]):
        document, problem = loaded(text[:start])
        items = get(document, "interactions")
        if problem is None and isinstance(items, list) and items and not lacks_its_end(document, text[:start]):
            return {"interactions": items}
    return None


def exchange(
    item: object, number: int, path: str, *, kept: Mapping[int, beside.Line] | None, model: str | None
) -> Exchange | str:
    """One exchange, or the reason why the interaction is none.

    ``kept`` is what lies beside a cassette of our own, and ``model`` the one that it was recorded for.
    """
    if kept is not None:
        found = replayable.exchange(item, kept.get(number), str(number), path, model)
        return found if isinstance(found, str) else bounded(found)
    sent, got = part(item, "request"), part(item, "response")
    method, url = sent.get("method"), sent.get("uri", sent.get("url"))
    if not isinstance(method, str) or not isinstance(url, str):
        return "not an interaction: no request with a method and an address"
    response, failure = _received(got)
    headers, body = entries.headers(sent.get("headers")), _body(sent.get("body")) or b""
    left_out = entries.left_out(method, headers, body, sent.get("content_length"))
    request = Request(method=method.upper(), url=url, headers=(*headers, *left_out), body=body)
    return entries.exchange(str(number), path, request, response, failure, started=_started(item))


def _received(got: Mapping[str, Any]) -> tuple[Response | None, Failure | None]:
    status = entries.status_code(get(got.get("status"), "code") or got.get("code") or got.get("status"))
    if status is None:
        return None, None
    held = got.get("body")
    body = _body(held)
    missing = None if body is not None or held is None else "the response body cannot be read"
    ms = _duration(got.get("duration"))
    headers = entries.headers(got.get("headers")) or ((entries.media_type(body),) if body else ())
    return entries.received(status, headers, body or b"", ms=ms, missing=missing)


def _body(value: object) -> bytes | None:
    """A body as bytes or text, below ``string``, or as base64 below ``base64_string``; other objects are JSON."""
    if isinstance(value, dict):
        coded = value.get("base64_string", value.get("base64"))
        if isinstance(coded, str | bytes) and len(value) <= 2:
            return entries.unbase64(coded if isinstance(coded, str) else coded.decode("latin-1"))
        if "string" in value and len(value) <= 2:
            text = value["string"]
            if isinstance(text, str) and str(value.get("encoding", "")).lower() == "base64":
                return entries.unbase64(text)
            return entries.body_bytes(text)
    return entries.body_bytes(value)


def _started(item: object) -> str | None:
    value = get(item, "recorded_at")
    return entries.moment(value) if isinstance(value, str) else None


def _duration(value: object) -> float:
    """Milliseconds of ``1.5s`` or ``1m3s``, or of a number of nanoseconds, as Go writes durations."""
    if isinstance(value, str):
        parts = _DURATION.findall(value)
        return entries.milliseconds(sum(float(number) * _UNITS[unit] for number, unit in parts))
    return entries.milliseconds(value) / 1e6
