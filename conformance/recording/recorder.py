"""A finished run's exchanges, written as cassettes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from conformance import specs
from conformance.recording.cassette import Provenance, name_of, save
from conformance.values import Exchange, Protocol


def record(folder: str | Path, exchanges: Iterable[Exchange], shared: Provenance) -> list[Path]:
    """Write the exchanges of probes, redacted already, one cassette a probe, surface and model; where they went.

    ``shared`` says where they come from; probe, surface and model are each cassette's own. Raises ``OSError``.
    """
    groups: dict[tuple[str, Protocol, str], list[tuple[int, Exchange]]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.probe is not None:
            step = int(exchange.id.rpartition("/")[2].partition(".")[0])
            groups[exchange.probe, exchange.protocol, exchange.model].append((step, exchange))
    paths = []
    for (probe, protocol, model), members in groups.items():
        path = Path(folder) / name_of(probe, protocol, model)
        documents = {row.name for row in specs.sources() if row.protocol is protocol}
        hashes = {name: value for name, value in shared.specs.items() if name in documents}
        own = replace(shared, probe=probe, protocol=protocol, model=model, specs=hashes)
        save(path, own, members)
        paths.append(path)
    return paths
