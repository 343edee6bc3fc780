"""The output of ``curl -i`` as a file of one entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from conformance.evidence import curl
from conformance.evidence.scanning import Entry
from conformance.values import Exchange


class CurlScan:
    """One output; ``sent`` names the file with its request."""

    format = "curl"

    def __init__(self, path: str, sent: str | None) -> None:
        self.path, self._sent = path, sent
        self.cut: str | None = None

    def entries(self, file: BinaryIO) -> Iterator[Entry]:
        """The one exchange."""
        found = curl.exchange(file, self.path, self._sent)
        if isinstance(found, Exchange) and found.failure is not None:
            self.cut = found.failure.message
        yield Entry(1, 0, 0, found)

    def load(self, file: BinaryIO, entry: tuple[int, int, int]) -> Exchange | str:
        """The exchange again."""
        file.seek(entry[1])
        return curl.exchange(file, self.path, self._sent)

    def settled(self, exchange: Exchange) -> Exchange:
        """The exchange as it is."""
        return exchange
