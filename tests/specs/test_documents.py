import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import specs
from conformance.models import ALL, K31
from conformance.specs import documents
from conformance.values import Protocol

RECEIVED = Path(__file__).resolve().parents[3] / "shared" / "docs"


def test_five_documents_cover_every_surface():
    covered = {(row.name, row.protocol, row.models) for row in specs.sources()}
    assert covered == {
        ("messages-all", Protocol.MESSAGES, ALL),
        ("responses", Protocol.RESPONSES, ALL),
        ("chat-k31", Protocol.CHAT, K31),
        ("messages-k31", Protocol.MESSAGES, K31),
        ("chat-all", Protocol.CHAT, ALL),
    }


@pytest.mark.parametrize("row", specs.sources(), ids=lambda row: row.name)
def test_a_document_has_the_recorded_bytes_and_title(row):
    data = (documents.root() / row.file).read_bytes()
    assert hashlib.sha256(data).hexdigest() == row.sha256 == specs.spec_hashes()[row.name]
    assert row.title in documents.text(row.name)
    assert documents.text(row.name).encode() == data


@pytest.mark.skipif(not RECEIVED.is_dir(), reason="the documents as received are not beside the repository")
@pytest.mark.parametrize("row", specs.sources(), ids=lambda row: row.name)
def test_a_document_is_vendored_as_received(row):
    assert (documents.root() / row.file).read_bytes() == (RECEIVED / Path(row.file).name).read_bytes()


@pytest.mark.parametrize(("name", "file"), [("chat-all", "chat-completions.yaml"), ("messages-k31", "messages.yaml")])
def test_the_openapi_part_is_extracted_byte_for_byte(name, file):
    block = documents.openapi_block(name)
    assert block.text.encode() == (documents.root() / file).read_bytes()
    lines = documents.text(name).split("\n")
    assert lines[block.line - 1] == "openapi: 3.1.0"
    assert lines[block.line - 2].startswith("````yaml")


@pytest.mark.parametrize("name", ["messages-all", "responses", "chat-k31"])
def test_a_document_without_an_openapi_part_has_no_block(name):
    assert documents.openapi_block(name) is None


def test_an_unknown_document_is_refused_with_the_known_names():
    with pytest.raises(LookupError, match=r"chat-everything.*chat-all"):
        documents.document("chat-everything")


def test_an_installed_package_finds_its_own_documents_first(tmp_path, monkeypatch):
    package = tmp_path / "conformance"
    monkeypatch.setattr(documents, "__file__", str(package / "specs" / "documents.py"))
    uncached = documents.root.__wrapped__
    assert uncached() == tmp_path / "openapi"
    (package / "_data" / "openapi").mkdir(parents=True)
    assert uncached() == package / "_data" / "openapi"


def test_importing_the_package_reads_nothing_and_loads_no_heavy_library():
    code = (
        "import sys, builtins, io\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "import conformance.specs\n"
        "assert not {'yaml', 'jsonschema', 'jsonschema_rs'} & set(sys.modules), 'a heavy library was loaded'\n"
        "assert not [name for name in opened if name.endswith(('.yaml', '.toml', '.txt'))], opened\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 (the code above)
