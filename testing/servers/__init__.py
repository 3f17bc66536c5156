"""Real stores for tests: each in a process of its own on loopback, started in a blink, killed and brought back at will.

::

    with store_server("redis", folder) as server:        # or "valkey"
        frontier = RedisFrontier(server.url, crawl="c")
        server.kill()                                    # SIGKILL, as a machine that loses power would
        server.restart()                                 # the same folder and port, so the same URL
        server.stop(); server.cont()                     # SIGSTOP and SIGCONT: alive, but silent

    with cluster_servers(folder) as cluster:             # three nodes, every slot served
        RedisFrontier(cluster.url, crawl="c")

    with chaos(server.port) as proxy:                    # a bad network in front of a store
        RedisFrontier(proxy.url, crawl="c")
        proxy.set(latency_seconds=0.5, reset_share=0.05)
        proxy.set(cut="both")                            # or "to", "from": one way only

Suites that share a server import its fixtures: ``from testing.servers.fixtures import …``.
"""

from testing.servers.chaos import ChaosProxy, chaos
from testing.servers.cluster import Cluster, cluster_servers
from testing.servers.store import KINDS, ServerMissing, StoreServer, store_server

__all__ = ["KINDS", "ChaosProxy", "Cluster", "ServerMissing", "StoreServer", "chaos", "cluster_servers", "store_server"]
