"""``python -m conformance`` is ``kimi-conformance``."""

from conformance.cli import main

main(prog_name="kimi-conformance")
