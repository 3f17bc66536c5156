"""The public names: there, documented, and imported only when they are asked for."""

import subprocess
import sys

import pytest

import thresher


def test_every_public_name_is_there_and_documented():
    for name in thresher.__all__:
        assert name == "__version__" or getattr(thresher, name).__doc__
        assert name in dir(thresher)


def test_importing_thresher_imports_nothing_heavy():
    script = "import sys, thresher\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scrapy", "twisted", "numpy", "pydantic", "pyarrow", "thresher.api"} & set(loaded)


def test_a_name_that_does_not_exist_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'Craw'"):
        thresher.Craw  # noqa: B018 - the look is the test
