"""The log of a crawl, `crawl.log.jsonl`: warnings, errors, and one line per failed URL and per event of a run."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thresher.text.terminal import printable_json

_events = logging.getLogger("thresher.events")


class JsonLines(logging.Formatter):
    """A log record as one JSON object per line."""

    def __init__(self, worker: str) -> None:
        super().__init__()
        self._worker = worker

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "worker": self._worker,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return printable_json(entry)


def log_event(event: str, **fields: object) -> None:
    """Log an event; its fields are keys of its line."""
    _events.info(event, extra={"fields": fields})


def log_to(path: Path, worker: str) -> None:
    """Log events, warnings and errors of this process to the crawl's log file, and nothing to standard error."""
    root = logging.getLogger()
    root.setLevel(logging.WARNING)
    root.handlers[:] = [_handler(path, worker)]


@contextmanager
def logging_to(path: Path, worker: str) -> Iterator[None]:
    """Log to the crawl's log file as long as the block lasts, besides where this process logs already."""
    logger, handler = logging.getLogger("thresher"), _handler(path, worker)
    printer = None if logger.hasHandlers() else logging.lastResort  # it prints warnings only where nothing else does
    added = [handler, printer] if printer else [handler]
    for each in added:
        logger.addHandler(each)
    try:
        yield
    finally:
        for each in added:
            logger.removeHandler(each)
        handler.close()


def _handler(path: Path, worker: str) -> logging.Handler:
    _events.setLevel(logging.INFO)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(JsonLines(worker))
    return handler
