"""Content codings are undone where a recorder kept them, and left where it did not."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from conformance.evidence import codings
from conformance.evidence.codings import decoded

PLAIN = b'{"text":"\xe5\x8c\x97\xe4\xba\xac"}' * 50
CODED = {
    "gzip": gzip.compress(PLAIN),
    "x-gzip": gzip.compress(PLAIN),
    "deflate": zlib.compress(PLAIN),
    "br": brotli.compress(PLAIN),
    "zstd": zstandard.ZstdCompressor().compress(PLAIN),
}


def headers(coding: str) -> tuple[tuple[str, str], ...]:
    return (("Content-Encoding", coding),)


@pytest.mark.parametrize("coding", CODED)
def test_each_coding_is_undone(coding):
    assert decoded(CODED[coding], headers(coding.upper())) == (PLAIN, None)


def test_deflate_without_a_frame_and_codings_upon_one_another():
    bare = zlib.compressobj(wbits=-15)
    assert decoded(bare.compress(PLAIN) + bare.flush(), headers("deflate")) == (PLAIN, None)
    assert decoded(gzip.compress(CODED["br"]), headers("br, gzip")) == (PLAIN, None)


@pytest.mark.parametrize("body", [PLAIN, b"data: {}\n\n", b": comment\n\n", b"event: x\ndata: 1\n\n", b"", b"<html>"])
def test_a_body_that_is_decoded_already_stays(body):
    assert decoded(body, headers("gzip")) == (body, None)
    assert decoded(body, ()) == (body, None)


@pytest.mark.parametrize("coding", CODED)
def test_a_coded_body_that_breaks_off_is_told(coding):
    data, problem = decoded(CODED[coding][:-9], headers(coding))
    assert PLAIN.startswith(data)
    assert "cut off" in problem or "is not" in problem


@pytest.mark.parametrize("coding", CODED)
def test_a_body_that_is_not_what_its_header_says_is_told(coding):
    assert decoded(b"\xfe\xfd not coded at all" * 3, headers(coding)) == (
        b"",
        f"the response body is marked {coding} and is not",
    )


def test_an_unknown_coding_is_told():
    assert decoded(b"\x00\x01", headers("compress"))[1] == "the response body is coded as compress, which is not known"


@pytest.mark.parametrize("coding", CODED)
def test_a_small_body_cannot_unfold_into_a_large_one(coding, monkeypatch):
    monkeypatch.setattr(codings, "LARGEST_BODY", 10_000)
    large = b"\x00" * 40_000_000
    coded = {
        "gzip": gzip.compress,
        "x-gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": lambda data: brotli.compress(data, quality=1),
        "zstd": zstandard.ZstdCompressor().compress,
    }[coding](large)
    data, problem = decoded(coded, headers(coding))
    assert len(data) < len(large) or coding == "zstd"
    assert "too large" in problem
