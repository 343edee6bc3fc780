"""The judging proxy: forwards every byte to one upstream as it comes, and has each exchange judged beside the path."""

from conformance.proxy.addresses import BadAddress, Listen, Upstream, listen, upstream
from conformance.proxy.desk import Desk
from conformance.proxy.frames import Orders, Told
from conformance.proxy.server import Running, running

__all__ = ["BadAddress", "Desk", "Listen", "Orders", "Running", "Told", "Upstream", "listen", "running", "upstream"]
