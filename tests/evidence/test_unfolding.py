"""Codings undone chunk by chunk: times stay with what arrived, and nothing unfolds without bound."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from conformance.evidence.unfolding import unfolded
from conformance.values import Chunk

TEXT = b"".join(b'data: {"n": %d}\n\n' % number for number in range(2_000))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CODINGS = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, identity": raw_deflate,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "gzip, br": lambda data: brotli.compress(gzip.compress(data)),
    "": bytes,
    "identity": bytes,
}


def chunks(data: bytes, size: int) -> list[Chunk]:
    return [Chunk(ms=float(start), data=data[start : start + size]) for start in range(0, len(data), size)]


def headers(coding: str) -> list[tuple[str, str]]:
    return [("content-encoding", coding)] if coding else []


@pytest.mark.parametrize("size", [1, 7, 1_000_000])
@pytest.mark.parametrize("coding", CODINGS)
def test_body_comes_out_whole_however_it_was_split(coding: str, size: int):
    found, problem = unfolded(chunks(CODINGS[coding](TEXT), size), headers(coding))
    assert problem is None
    assert b"".join(chunk.data for chunk in found) == TEXT
    assert [chunk.ms for chunk in found] == sorted(chunk.ms for chunk in found)


def test_each_event_keeps_the_time_at_which_it_was_flushed():
    packer = zlib.compressobj(wbits=31)
    parts = [packer.compress(b"data: %d\n\n" % number) + packer.flush(zlib.Z_SYNC_FLUSH) for number in range(3)]
    coded = [Chunk(ms=number * 100.0, data=part) for number, part in enumerate([*parts, packer.flush()])]
    found, problem = unfolded(coded, headers("gzip"))
    assert problem is None
    assert [(chunk.ms, chunk.data) for chunk in found] == [(n * 100.0, b"data: %d\n\n" % n) for n in range(3)]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, br"])
def test_cut_body_is_told_and_its_start_is_kept(coding: str):
    packed = CODINGS[coding](TEXT)
    found, problem = unfolded(chunks(packed[: len(packed) - 5], 64), headers(coding))
    assert "cut off" in problem
    assert TEXT.startswith(b"".join(chunk.data for chunk in found))


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_body_that_is_not_coded_is_told(coding: str):
    assert "and is not" in unfolded(chunks(TEXT, 64), headers(coding))[1]


def test_unknown_coding_is_named():
    assert unfolded(chunks(TEXT, 64), headers("snappy"))[1] == "the body is coded as snappy, which is not known"


def test_empty_body_needs_no_coding():
    assert unfolded([], headers("gzip")) == ((), None)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, br"])
def test_bomb_is_stopped_early(coding: str):
    packed = CODINGS[coding](bytes(64 * 1024**2))
    found, problem = unfolded(chunks(packed, 4096), headers(coding), largest=1024**2)
    assert "unfolds to more than" in problem
    assert sum(len(chunk.data) for chunk in found) <= 34 * 1024**2
