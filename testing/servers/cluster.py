"""A cluster of servers on loopback, put together by its own commands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from testing.servers.ports import ADDRESS
from testing.servers.store import StoreServer, store_server

SLOTS = 16_384
READY_SECONDS = 30.0
OPTIONS = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-config-file", "nodes.conf")


@dataclass(frozen=True)
class Cluster:
    """Servers that share the slots among them."""

    nodes: Sequence[StoreServer]

    @property
    def url(self) -> str:
        """Where it is found, by its first node."""
        return f"redis+cluster://{ADDRESS}:{self.nodes[0].port}"

    def await_ready(self, seconds: float = READY_SECONDS) -> None:
        """Wait until every node knows all others and serves.

        Raises:
            TimeoutError: It took longer.
        """
        deadline = time.monotonic() + seconds
        while not all(map(self._is_ready, self.nodes)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the cluster was not whole after {seconds:.0f} s")
            time.sleep(0.02)

    def flush(self) -> None:
        """Forget all data."""
        for node in self.nodes:
            with node.client() as client:
                client.flushall()

    def _is_ready(self, node: StoreServer) -> bool:
        with node.client() as client:
            reported = client.execute_command("CLUSTER INFO")
        facts = dict(reported) if isinstance(reported, dict) else dict(line.split(":", 1) for line in reported.split())
        return facts["cluster_state"] == "ok" and int(facts["cluster_known_nodes"]) == len(self.nodes)


@contextmanager
def cluster_servers(folder: Path, nodes: int = 3, *, kind: str = "redis") -> Iterator[Cluster]:
    """Run a cluster without replicas for as long as the block lasts."""
    with ExitStack() as stack:
        names = [folder / f"node{number}" for number in range(nodes)]
        cluster = Cluster([stack.enter_context(store_server(kind, name, options=OPTIONS)) for name in names])
        _introduce(cluster)
        cluster.await_ready()
        yield cluster


def _introduce(cluster: Cluster) -> None:
    """Give each node its slots, and tell all of them where the first one is."""
    count = len(cluster.nodes)
    for number, node in enumerate(cluster.nodes):
        first, last = SLOTS * number // count, SLOTS * (number + 1) // count - 1
        with node.client() as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            if number:
                client.execute_command("CLUSTER MEET", ADDRESS, cluster.nodes[0].port)
