"""Commands called as a shell would call them."""

import sys

import pytest

from thresher import cli


@pytest.fixture
def shell(monkeypatch, capsys):
    """Run a command: exit code, standard output, standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["thresher", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return run
