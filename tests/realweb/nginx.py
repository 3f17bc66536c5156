"""nginx on loopback with TLS and HTTP/2, with certificates that are valid, expired, for another host or self-signed."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
HOSTS = ("good.test", "plain.test", "shop.test", "www.shop.test", "expired.test", "wrong.test", "own.test")
PAGE = """<!doctype html><title>{host}</title><p>{host}: a layer of perovskite turns sunlight into current, and solar
cells of this kind are made at low heat. <a href="/second.html">Solar cells, part two</a></p>"""
CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 200; }}
http {{
  log_format one '$host $server_protocol $ssl_protocol $status $request_uri $sent_http_content_encoding';
  log_format signed escape=json '{{"url":"$scheme://$host$request_uri","protocol":"$server_protocol","headers":{{'
    '"signature":"$http_signature","signature-input":"$http_signature_input",'
    '"signature-agent":"$http_signature_agent"}}}}';
  access_log {folder}/access.log one; access_log {folder}/signed.log signed;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  types {{ text/html html; }} default_type text/plain; gzip on; gzip_min_length 20; etag on; root {folder}/html/$host;
  ssl_certificate_key {folder}/key.pem; ssl_protocols TLSv1.2 TLSv1.3;
  server {{ listen 127.0.0.1:{http}; return 301 https://$host$request_uri; }}
  server {{ listen 127.0.0.1:{https} ssl http2 default_server; ssl_certificate {folder}/good.pem; }}
  server {{ listen 127.0.0.1:{https} ssl http2; server_name shop.test; ssl_certificate {folder}/good.pem;
    return 301 https://www.shop.test$request_uri; }}
  server {{ listen 127.0.0.1:{https} ssl http2; server_name expired.test; ssl_certificate {folder}/expired.pem; }}
  server {{ listen 127.0.0.1:{https} ssl http2; server_name wrong.test; ssl_certificate {folder}/wrong.pem; }}
  server {{ listen 127.0.0.1:{https} ssl http2; server_name own.test; ssl_certificate {folder}/own.pem; }}
  server {{ listen 127.0.0.1:{tls12} ssl; ssl_protocols TLSv1.2; ssl_certificate {folder}/good.pem; }}
  server {{ listen 127.0.0.1:{tls10} ssl; ssl_protocols TLSv1 TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;
    ssl_certificate {folder}/good.pem; }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx; `authorities` is the file that makes a client trust its valid certificates."""

    folder: Path
    ports: dict[str, int]

    @property
    def authorities(self) -> Path:
        return self.folder / "authority.pem"

    @property
    def connect_to(self) -> dict[str, str]:
        places = {
            "*:80": "http",
            "*:443": "https",
            "tls12.test:443": "tls12",
            "tls10.test:443": "tls10",
        }
        return {pattern: f"127.0.0.1:{self.ports[name]}" for pattern, name in places.items()}

    def requests(self) -> list[list[str]]:
        """Host, protocol, version of TLS, status, path and coding of each request."""
        return [line.split(" ") for line in (self.folder / "access.log").read_text().splitlines()]

    def signed(self) -> list[dict[str, Any]]:
        """URL, protocol and the headers of the signature of each request."""
        return [json.loads(line) for line in (self.folder / "signed.log").read_text().splitlines()]


@contextmanager
def serving() -> Iterator[Nginx]:
    """Run nginx for the duration of the block."""
    with tempfile.TemporaryDirectory(prefix="thresher-nginx-") as folder, _serving(Path(folder)) as server:
        yield server


@contextmanager
def _serving(folder: Path) -> Iterator[Nginx]:
    assert NGINX
    ports = {name: _free_port() for name in ("http", "https", "tls12", "tls10")}
    _write_certificates(folder)
    for host in (*HOSTS, "tls12.test", "tls10.test"):
        (folder / "html" / host).mkdir(parents=True)
        (folder / "html" / host / "index.html").write_text(PAGE.format(host=host))
        (folder / "html" / host / "second.html").write_text(PAGE.format(host=f"{host}, part two"))
    (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, **ports))
    for path in (folder, *folder.rglob("*")):  # its worker has a user of its own
        path.chmod(0o755 if path.is_dir() else 0o644)
    process = subprocess.Popen([NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        _wait_for(ports["https"])
        yield Nginx(folder, ports)
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(10)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return int(unused.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(100):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError("nginx did not start")


def _write_certificates(folder: Path) -> None:
    key, authority = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    valid = ("good.test", "plain.test", "shop.test", "www.shop.test", "tls12.test", "tls10.test")
    certificates = {
        "authority": _certificate("authority", authority, "authority", authority, is_authority=True),
        "good": _certificate("good", key, "authority", authority, names=valid),
        "expired": _certificate("expired", key, "authority", authority, names=("expired.test",), first_day=-30),
        "wrong": _certificate("wrong", key, "authority", authority, names=("other.test",)),
        "own": _certificate("own", key, "own", key, names=("own.test",)),
    }
    for name, certificate in certificates.items():
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    names: tuple[str, ...] = (),
    first_day: int = -1,
    is_authority: bool = False,
) -> x509.Certificate:
    """Return a certificate that is valid for ten days from its first one, counted from today."""
    begin = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=first_day)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_common_name(name))
        .issuer_name(_common_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=10))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if names:
        listed = x509.SubjectAlternativeName([x509.DNSName(host) for host in names])
        builder = builder.add_extension(listed, critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"Thresher test {name}")])
