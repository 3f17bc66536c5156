"""What is installed, and what is missing; the list of extras is that of pyproject.toml."""

import json
import tomllib
from pathlib import Path

from testing.commands import called
from thresher.cli import doctor

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def declared():
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return set(extras) - doctor.NOT_FOR_USERS


def test_every_extra_has_a_purpose():
    assert set(doctor.EXTRAS) == declared()


def test_every_extra_is_listed_as_installed_or_not(tmp_path):
    done = called("doctor", "--json", folder=tmp_path)
    listed = {each["what"].strip("[]"): each for each in json.loads(done.stdout) if each["what"].startswith("[")}
    assert set(listed) == declared()
    for extra, each in listed.items():
        assert each["found"].startswith("installed" if each["ok"] else "not installed: ")
        assert each["found"].endswith(f"for {doctor.EXTRAS[extra]}")
        assert bool(each["remedy"]) is not each["ok"]


def test_a_missing_package_of_an_included_extra_is_missing(monkeypatch, tmp_path):
    """The extra lab includes learn, which needs scikit-learn."""
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda package: "" if package == "scikit-learn" else real(package))
    done = called("doctor", folder=tmp_path)
    assert done.returncode == 0
    lines = {line.split()[1]: line for line in done.stdout.splitlines()}
    for extra in ("lab", "learn"):
        assert "not installed: scikit-learn" in lines[f"[{extra}]"]
        assert f'pip install "thresher-crawler[{extra}]"' in lines[f"[{extra}]"]


def test_only_the_extra_for_contributors_is_left_out():
    assert {"dev"} == doctor.NOT_FOR_USERS


def test_the_compiled_loops_are_in_use_or_not(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor.native, "compiled", object())
    assert loops(tmp_path) == "ok  compiled loops   in use"
    monkeypatch.setattr(doctor.native, "compiled", None)
    assert "--  compiled loops   not in use; a page takes more processor time  → install a C compiler" in loops(
        tmp_path
    )
    monkeypatch.setenv("THRESHER_NATIVE", "0")
    assert loops(tmp_path).endswith("→ unset THRESHER_NATIVE")


def loops(folder):
    done = called("doctor", folder=folder)
    assert done.returncode == 0
    [line] = [line.strip() for line in done.stdout.splitlines() if "compiled loops" in line]
    return line
