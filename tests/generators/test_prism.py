"""Prism, which validates requests against an OpenAPI document, agrees with us on every generated request.

Run by the nox session ``prism``; skipped where prism is not installed.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

import httpx
import pytest
from generated_cells import CELLS, NAMES, everything

from conformance import specs
from conformance.generators import Side
from conformance.protocols import BUILDERS

PRISM = os.environ.get("PRISM") or shutil.which("prism")
OURS = {"x-max-bytes": "prism does not know the keyword, which is ours"}
STARTING = 30.0  # seconds

pytestmark = pytest.mark.skipif(PRISM is None, reason="prism is not installed: npm install -g @stoplight/prism-cli")


@contextmanager
def mocking(document, folder):
    """Prism's mock server for a document, as a client."""
    file = folder / "openapi.json"
    file.write_text(json.dumps({**document, "servers": [{"url": "/"}]}), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(PRISM), "mock", "-h", "127.0.0.1", "-p", str(port), "-v", "fatal", str(file)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 (as installed)
    headers = {"Authorization": "Bearer none"}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client:
            deadline = time.monotonic() + STARTING
            while True:
                try:
                    client.get("/")
                    break
                except httpx.TransportError:
                    assert time.monotonic() < deadline, "prism did not start"
                    time.sleep(0.2)
            yield client
    finally:
        server.terminate()
        server.wait()


@pytest.mark.parametrize("cell", CELLS, ids=NAMES)
def test_prism_agrees(cell, tmp_path):
    differing = set()
    with mocking(specs.effective(cell.protocol, cell.model), tmp_path) as client:
        for case in everything(cell):
            status = client.post(BUILDERS[cell.protocol].path, json=case.body).status_code
            assert status in (200, 400, 422), case.words
            if (status == 200) is not (case.mark.side is Side.EDGE):
                differing.add(case.mark.keyword)
    assert differing <= OURS.keys()
