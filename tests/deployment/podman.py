"""Podman with images of its own, which are made from Debian packages: no image registry is needed.

Everything lies in one folder: images, containers, volumes and logs. ``thresher-deployment`` in the folder for
temporary files by default; THRESHER_DEPLOYMENT names another.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

ROOT = Path(__file__).parents[2]
PROGRAMS = ("podman", "podman-compose", "runc", "netavark", "debootstrap", "nginx", "openssl")
PACKAGES = "ca-certificates,python3,python3-venv,redis-server,prometheus"
SUITE = "bookworm"
COMPILER = "gcc libc6-dev python3-dev"
IMAGES = ("docker.io/valkey/valkey:9.1-alpine", "docker.io/prom/prometheus:v3.5.0")
"""Images by others, which the base with Debian's packages stands in for."""
HEALTH_SECONDS = 3.0


def missing() -> list[str]:
    """Return which programs are not there."""
    beside = Path("/usr/lib/podman")
    return [name for name in PROGRAMS if not shutil.which(name) and not (beside / name).exists()]


def topic(name: str, **more: object) -> dict[str, object]:
    """Return the topic of a crawl of the drill's site, from addresses of container networks."""
    return {
        "name": name,
        "title": {"en": "perovskite solar cells"},
        "languages": ["en"],
        "seeds": ["seeds.txt"],
        "network": {"allow": ["10.0.0.0/8"]},
        "scope": {"traps": "follow"},
        **more,
    }


class Podman:
    """Runs podman with its own configuration and storage."""

    def __init__(self) -> None:
        self.folder = Path(os.environ.get("THRESHER_DEPLOYMENT") or Path(tempfile.gettempdir()) / "thresher-deployment")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "containers.conf").write_text(
            '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=2000:2000"]\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\n[network]\nnetwork_backend = "netavark"\n'
        )
        (self.folder / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/storage"\nrunroot = "{self.folder}/runroot"\n'
        )
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
        }

    def __call__(self, *words: object, seconds: float = 120.0, check: bool = True) -> str:
        """Run a command of podman; return what it printed."""
        return self.run("podman", *words, seconds=seconds, check=check)

    def run(self, *words: object, seconds: float = 120.0, check: bool = True, **environment: str) -> str:
        ran = self.called(*words, program=(), seconds=seconds, **environment)
        assert not check or ran.returncode == 0, f"{' '.join(map(str, words))}: {(ran.stdout + ran.stderr)[-3000:]}"
        return ran.stdout

    def called(
        self, *words: object, program: tuple[str, ...] = ("podman",), seconds: float = 120.0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command; return what it printed, and its exit code."""
        return subprocess.run(
            [*program, *map(str, words)],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def process(self, container: str) -> int:
        return int(self("inspect", "-f", "{{.State.Pid}}", container))

    def state(self, container: str) -> tuple[str, int]:
        """Return the status of a container, and its last exit code."""
        status, code = self("inspect", "-f", "{{.State.Status}} {{.State.ExitCode}}", container).split()
        return status, int(code)

    def logs(self, container: str) -> str:
        ran = self.called("logs", container)
        return ran.stdout + ran.stderr

    @contextmanager
    def health_checks(self, project: str) -> Iterator[None]:
        """Run every container's health check again and again, as systemd's timers do where there is a systemd."""
        over = Event()

        def check_all() -> None:
            while not over.wait(HEALTH_SECONDS):
                for name in self("ps", "-q", "--filter", f"label=io.podman.compose.project={project}").split():
                    self("healthcheck", "run", name, check=False)

        thread = Thread(target=check_all, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def make_images(self) -> None:
        """Make the base images, once, and build the image of the project from its own Dockerfile."""
        if "localhost/base" not in self("images", "--format", "{{.Repository}}"):
            self._make_bases()
        pip = self._pip()
        self(
            "build", "--format", "docker",  # the OCI format has no HEALTHCHECK
            "--network", "host", *pip, "--build-arg", "BUILD_IMAGE=localhost/build",
            "--build-arg", "BASE_IMAGE=localhost/base", "-f", ROOT / "deploy" / "Dockerfile", "-t", "thresher", ROOT,
            seconds=900.0,
        )  # fmt: skip

    def _pip(self) -> list[str]:
        """Mount this machine's settings of pip and its certificates, without a copy of them in any layer."""
        files = [Path("/etc/pip.conf"), Path("/etc/ssl/certs/ca-certificates.crt")]
        mounts = [f"{file}:{file}:ro" for file in files if file.exists()]
        return [word for mount in mounts for word in ("-v", mount)]

    def _make_bases(self) -> None:
        base, build = self.folder / "base", self.folder / "build"
        for folder in (base, build):
            shutil.rmtree(folder, ignore_errors=True)
        mirror = next(
            line.split()[1]
            for file in Path("/etc/apt").rglob("*")
            if file.suffix in (".sources", ".list") and file.is_file()
            for line in file.read_text().splitlines()
            if line.startswith(("URIs:", "deb http"))
        )
        self.run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, base, mirror, seconds=900.0)
        for alias, program in {"python": "python3", "valkey-server": "redis-server", "valkey-cli": "redis-cli"}.items():
            (base / "usr" / "bin" / alias).symlink_to(program)
        for path in ("data", "prometheus"):
            (base / path).mkdir()
        os.chown(base / "data", 999, 1000)
        os.chown(base / "prometheus", 65534, 65534)
        self.run("cp", "-a", base, build)
        self.run("cp", "-aT", "/etc/apt", build / "etc" / "apt")
        self.run("cp", "/etc/ssl/certs/ca-certificates.crt", build / "etc" / "ssl" / "certs")
        self.run("cp", "/etc/resolv.conf", "/etc/hosts", build / "etc")
        install = f"apt-get update -q && apt-get install -q -y --no-install-recommends {COMPILER}"
        self.run("chroot", build, "sh", "-c", install, seconds=600.0)
        path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        prometheus = ['ENTRYPOINT=["/usr/bin/prometheus"]', "WORKDIR=/prometheus", "VOLUME=/prometheus"]
        changes = {
            "localhost/build": [path],
            "localhost/base": [path],
            IMAGES[0]: [path, "WORKDIR=/data", "VOLUME=/data"],
            IMAGES[1]: [path, *prometheus],
        }
        for image, settings in changes.items():
            self._import(build if image == "localhost/build" else base, image, settings)
        for folder in (base, build):
            shutil.rmtree(folder)

    def _import(self, folder: Path, image: str, settings: list[str]) -> None:
        words = [word for setting in settings for word in ("--change", setting)]
        with subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE) as packed:
            subprocess.run(
                ["podman", "import", *words, "-", image],
                env=self.environment,
                stdin=packed.stdout,
                check=True,
                capture_output=True,
            )
        assert not packed.returncode
