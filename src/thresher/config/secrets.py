"""Secrets of a crawl: read from environment variables when a worker starts, never stored and never printed."""

from __future__ import annotations

import os
from typing import NoReturn

from thresher.errors import ConfigError
from thresher.locale.translation import _

REDACTED = "[redacted]"
"""Stands in the place of a secret wherever a request or a response is kept."""


class Secret:
    """A value that appears in no text by accident: only `reveal` returns it, and it cannot be serialised."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value, to be sent."""
        return self._value

    def __repr__(self) -> str:
        return REDACTED

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be serialised")


def read_secret(variable: str, purpose: str) -> Secret:
    """Return the value of an environment variable of this machine.

    Args:
        purpose: The setting that names the variable, for the error.

    Raises:
        ConfigError: It is not set, or its value could not be sent; the message names the variable, not the value.
    """
    value = os.environ.get(variable, "")
    if not value:
        raise ConfigError(
            _(
                "{purpose} needs the environment variable {variable}, which is not set or empty on this machine; "
                "set it where workers are started",
                purpose=purpose,
                variable=variable,
            )
        )
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise ConfigError(
            _(
                "{purpose}: the value of the environment variable {variable} has a character that cannot be sent; "
                "expected printable ASCII without spaces or line breaks at either end",
                purpose=purpose,
                variable=variable,
            )
        )
    return Secret(value)
