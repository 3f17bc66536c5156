"""The rows of crawls whose frontier is on a store; those that end in a store's name are there without one too."""

from __future__ import annotations

from tests.faults.entry import Entry

STORE_ROWS = [
    Entry(
        "R1-redis",
        "R1 on a store: kill -9 of one of 4 workers, 20 times at random",
        "no URL lost; no page counted twice; fetched twice at most 16 pages per kill",
        "tests.faults.store:r1",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R2-redis",
        "R2 on a store: kill -9 of the run and its 4 workers, 5 times, same command again",
        "the crawl ends with the URLs of an undisturbed one; fetched twice at most 16 pages per killed worker",
        "tests.faults.store:r2",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R3",
        "SIGTERM once, twice, and once while the store is silent",
        "once: open requests finish within 30 s, exit code 11; twice: at once, leases returned, exit code 13",
        "tests.faults.endings:r3",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R4",
        "kill -9 of the store (AOF, fsync every second), down for 5 s; also with the last 2 s of its log cut off",
        "workers wait and go on; by a kill nothing is lost; what a loss of power costs, 2 s at most, is found again",
        "tests.faults.store:r4",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R5",
        "the store stands still (SIGSTOP) for 60 s, twice",
        "workers begin nothing new and go on afterwards; nothing lost, hosts are left alone",
        "tests.faults.store:r5",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R6",
        "workers are cut off from the store for 18 s with leases of 8 s: one, all, on and off; both ways or one",
        "no page lost or counted twice; a late settlement is refused; hosts are left alone",
        "tests.faults.store:r6",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R6-machine",
        "the cable of one of two machines is pulled for 18 s, 3 times: it reaches neither the store nor the web",
        "no page lost or counted twice; a late settlement is refused; hosts are left alone",
        "tests.faults.partition:r6_machine",
        "tests/servers/test_island.py",
    ),
    Entry(
        "R7",
        "500 ms to the store and back, and a reset at every twentieth request, half of them after it was carried out",
        "slower, but nothing lost or counted twice; hosts are left alone",
        "tests.faults.store:r7",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R10",
        "the wall clocks of workers or store step by 1 s, an hour back and an hour ahead",
        "waits may lengthen, never shorten",
        "tests.faults.clocks:r10",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R10-sqlite",
        "R10 without a store: the one wall clock steps by 1 s, an hour back and an hour ahead",
        "waits may lengthen, never shorten",
        "tests.faults.clocks:r10_sqlite",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R11",
        "a worker stands still (SIGSTOP) for 18 s with leases of 8 s, 5 times",
        "its late results are refused; one open request per host; no page lost or counted twice",
        "tests.faults.store:r11",
        "tests/faults/test_store.py",
    ),
    Entry(
        "R13",
        "random histories of add, lease, commit, crash, restart and time; the same with faults planted in SQL and Lua",
        "every frontier does what the model does; every planted fault is found",
        "tests.faults.histories:r13",
        "tests/contract/test_frontier_machine.py",
    ),
    Entry(
        "R14",
        "8 processes ask one store for 100,000 leases on 200 hosts as fast as they can",
        "no URL, fence or host is given to two at a time",
        "tests.faults.hammer:r14",
        "tests/faults/test_store.py",
    ),
    Entry(
        "P1-redis",
        "P1 on a store: none; 4 workers, 200 hosts, delay 0.2 s",
        "one open request per host, gap at least the delay",
        "tests.faults.store:p1",
        "tests/faults/test_store.py",
    ),
    Entry(
        "P2-redis",
        "P2 on a store: workers, run and store killed and stopped, network cut, one after another",
        "one open request per host, gap at least the delay",
        "tests.faults.store:p2",
        "tests/faults/test_store.py",
    ),
    Entry(
        "S6-redis",
        "S6 on a store: URLs, strategy data, notes and reasons with quotes, line breaks, commands of Redis, Lua",
        "stored as data: no key outside the schema, no script but ours",
        "tests.faults.store_smuggling:s6",
        "tests/faults/test_store.py",
    ),
]
