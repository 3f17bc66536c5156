"""The units of deploy/systemd are understood by systemd, and keep to the contract of exit codes."""

import configparser
import re
import shutil
import subprocess

import pytest

from tests.unit.deploy.files import DEPLOY, text
from thresher.errors import ConfigError
from thresher.runner.limits import NOTHING_FETCHED, StopReason

UNITS = sorted(path.name for path in (DEPLOY / "systemd").glob("*.service"))
CRAWL = "thresher@.service"


def unit(name):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(text(f"systemd/{name}"))
    return parser


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("name", UNITS)
def test_systemd_understands_it(name, tmp_path):
    """Programs and other units that this machine lacks are replaced: only what is written here is checked."""
    written = re.sub(r"/(opt|usr)/\S+/(thresher|docker)\b", "/bin/true", text(f"systemd/{name}"))
    written = written.replace("docker.service", "").replace("User=thresher\nGroup=thresher\n", "")
    file = tmp_path / name.replace("@", "@solar")
    file.write_text(written)
    ran = subprocess.run(["systemd-analyze", "verify", "--man=no", file], capture_output=True, text=True)
    assert not [line for line in ran.stderr.splitlines() if name.partition("@")[0] in line], ran.stderr


def test_a_crawl_is_started_again_unless_it_has_ended_was_stopped_or_needs_a_person():
    service = unit(CRAWL)["Service"]
    assert service["Restart"] == "on-failure"
    stopped = {str(reason.exit_code) for reason in StopReason if reason.exit_code}
    assert set(service["SuccessExitStatus"].split()) == stopped
    assert set(service["RestartPreventExitStatus"].split()) == {str(ConfigError.exit_code), str(NOTHING_FETCHED)}


@pytest.mark.parametrize("name", UNITS)
def test_it_starts_after_a_reboot(name):
    assert unit(name)["Install"]["WantedBy"] == "multi-user.target"


@pytest.mark.parametrize("name", [name for name in UNITS if "compose" not in name])
def test_it_may_write_to_its_folder_alone_and_gains_nothing(name):
    service = unit(name)["Service"]
    assert service["User"] == "thresher"
    assert service["ProtectSystem"] == "strict"
    assert service["ReadWritePaths"] == "/srv/thresher"
    assert (service["NoNewPrivileges"], service["CapabilityBoundingSet"]) == ("yes", "")
