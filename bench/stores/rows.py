"""The rows of the store's measurement: kept in a file, printed as tables, boiled down to constants."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import thresher.capacity
from bench.stores.memory import solve
from bench.stores.world import Shape
from testing.machine import hardware, today

Row = dict[str, Any]
ROWS = Path(__file__).parents[1] / "results" / "store.jsonl"
CONSTANTS = Path(thresher.capacity.__file__).parent / "constants.json"
NAME = ("part", "kind", "shape")
COMMAND = "python -m bench.stores.store"


class Rows:
    """What was measured so far, one JSON object per line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.rows: list[Row] = [json.loads(line) for line in lines]

    def has(self, name: Row) -> bool:
        """Tell whether this was measured."""
        return any(all(row[key] == name[key] for key in NAME) for row in self.rows)

    def add(self, row: Row) -> None:
        """Keep a row at once, so that an interrupted run goes on from here; it replaces an older one of its name."""
        row = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
        row |= {"on": today(), "machine": hardware()}
        was_there = self.has(row)
        self.rows = [old for old in self.rows if any(old[key] != row[key] for key in NAME)] + [row]
        if was_there:
            self._write()
        else:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def forget(self, parts: Sequence[str]) -> None:
        """Let these parts be measured anew."""
        also = {"order"} if "cluster" in parts else set()
        self.rows = [row for row in self.rows if row["part"] not in {*parts, *also}]
        self._write()

    def of(self, part: str, kind: str | None = None) -> list[Row]:
        """Return the rows of a part."""
        return [row for row in self.rows if row["part"] == part and kind in (None, row["kind"])]

    def _write(self) -> None:
        self.path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")


def print_tables(rows: Rows) -> None:
    """Print each part as a table."""
    for part in dict.fromkeys(row["part"] for row in rows.rows):
        listed = rows.of(part)
        columns = [name for name in listed[0] if name not in ("part", "on", "machine")]
        print(f"\n{part} ({listed[0]['on']}, {listed[0]['machine']})\n")
        print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
        for row in listed:
            print("| " + " | ".join(_cell(row.get(name, "")) for name in columns) + " |")
    for line in flatness(rows):
        print(line)


def flatness(rows: Rows) -> Iterator[str]:
    """Say how much more a cycle costs at the largest size than at the smallest, for both ways to grow."""
    for kind in dict.fromkeys(row["kind"] for row in rows.of("cycle")):
        shapes = {shape_of(row["shape"]): row for row in rows.of("cycle", kind)}
        steady = {max(shape.hosts for shape in shapes if shape.size == min(each.size for each in shapes))}
        for curve, chosen in (
            ("100 URLs per host", [shape for shape in shapes if shape.urls_per_host == 100]),
            ("the same hosts", [shape for shape in shapes if shape.hosts in steady]),
        ):
            if len(chosen) > 1:
                first, last = (shapes[pick(chosen, key=lambda shape: shape.size)] for pick in (min, max))
                ratios = {
                    name: last[name] / first[name] for name in ("server_cpu_us", "server_cpu_us_least", "client_ms_p50")
                }
                printed = ", ".join(f"{name} × {ratio:.2f}" for name, ratio in ratios.items())
                yield f"{kind}, {curve}, {first['urls']:,} to {last['urls']:,}: {printed}"


def shape_of(name: str) -> Shape:
    """Read a shape's name."""
    hosts, urls = name.split("x")
    return Shape(int(hosts), int(urls))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def constants_of(rows: Rows, kind: str = "redis") -> dict[str, tuple[float, dict[str, Any]]]:
    """Return what `thresher plan` computes with, from the rows of one kind of server: each value and its row."""
    memory = {shape_of(row["shape"]): row for row in rows.of("memory", kind)}
    size = min(shape.size for shape in memory if shape.urls_per_host == 100)
    pair = [(shape, memory[shape]["bytes_per_url"]) for shape in memory if shape.size == size]
    per_url, per_host = solve([each for each in pair if each[0].urls_per_host in (10, 100)])
    grown = memory[max((shape for shape in memory if shape.size <= size), key=lambda shape: shape.urls_per_host)]
    busiest = max(rows.of("load", kind), key=lambda row: row["clients"])
    [log], [worker] = rows.of("log", kind), rows.of("worker", kind)
    [cluster] = rows.of("cluster", kind)
    cycle = max(rows.of("cycle", kind), key=lambda row: row["urls"])
    done = rows.of("done", kind)[0]
    return {
        "kept_bytes_per_page_byte": (worker["kept_bytes_per_page_byte_store"], worker),
        "store_cycles_per_second": (1e6 / busiest["server_cpu_us"], busiest),
        "cluster_cycles_per_second": (1e6 / cluster["server_cpu_us"], cluster),
        "store_waiting_url_bytes": (per_url, grown),
        "store_host_bytes": (per_host, grown),
        "store_done_url_bytes": (done["done_url_bytes"], done),
        "store_resident_share": (grown["resident_share"], grown),
        "store_log_bytes_per_cycle": (cycle["log_bytes_per_cycle"], cycle),
        "store_restart_seconds_per_gigabyte": (log["restart_seconds"] / (log["used_bytes"] / 1e9), log),
    }


def write_constants(rows: Rows, path: Path = CONSTANTS) -> None:
    """Put the constants of the store into the plan's file."""
    put_constants(constants_of(rows), COMMAND, path)


def put_constants(values: Mapping[str, tuple[float, Mapping[str, Any]]], command: str, path: Path) -> None:
    """Put values, each with its row, into the plan's file, and leave those that other commands measured."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    for name, (value, row) in values.items():
        measured = {"measured_by": command, "on": row["on"], "machine": row["machine"]}
        kept[name] = {"value": float(f"{value:.3g}"), **measured}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
