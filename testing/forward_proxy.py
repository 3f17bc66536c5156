"""An HTTP proxy on loopback that records what it is asked, and a certificate that a test can trust."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass
class ForwardProxy:
    """A running proxy.

    Args:
        password: ``user:password`` that requests must have; empty for none.
        places: Where names lead; other hosts must be addresses of loopback.
        heads: The head of each request, tunnels included.
    """

    password: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        user = f"{self.password}@" if self.password else ""
        return f"http://{user}127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        """The methods and targets of all requests."""
        return [" ".join(head.split(" ", 2)[:2]) for head in self.heads]

    def serve(self, client: socket.socket) -> None:
        """Serve the requests of one connection."""
        while head := _head(client):
            self.heads.append(head)
            expected = f"Proxy-Authorization: Basic {base64.b64encode(self.password.encode()).decode()}\r\n"
            method, target, _ = head.split(" ", 2)
            if self.password and expected not in head:
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            elif method == "CONNECT":
                with self._connect(f"//{target}") as server:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
                    _pump(client, server)
                return
            else:
                with self._connect(target) as server:
                    server.sendall(_for_server(head).encode("latin-1"))
                    while data := server.recv(65_536):
                        client.sendall(data)
                return

    def _connect(self, target: str) -> socket.socket:
        parts = urlsplit(target)
        host = self.places.get(parts.hostname or "", parts.hostname or "")
        assert ipaddress.ip_address(host).is_loopback, host
        return socket.create_connection((host, parts.port or 80), timeout=10)


def _for_server(head: str) -> str:
    method, target, rest = head.split(" ", 2)
    parts = urlsplit(target)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in rest.split("\r\n") if not line.lower().startswith(("proxy-", "connection:"))]
    return f"{method} {path} " + "\r\n".join([kept[0], "Connection: close", *kept[1:]])


def _head(client: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            return ""
        data += byte
    return data.decode("latin-1")


def _pump(client: socket.socket, server: socket.socket) -> None:
    while True:
        for source in select.select([client, server], [], [], 10)[0]:
            data = source.recv(65_536)
            if not data:
                return
            (server if source is client else client).sendall(data)


@contextmanager
def forward_proxy(password: str = "", places: Mapping[str, str] | None = None) -> Iterator[ForwardProxy]:
    """Run a proxy for the duration of the block."""
    proxy = ForwardProxy(password, places or {})

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                proxy.serve(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close, request_queue_size = True, False, 100

    with Server(("127.0.0.1", 0), Handler) as server:
        proxy.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield proxy
        server.shutdown()


def trusted_certificate(folder: Path, *names: str) -> tuple[ssl.SSLContext, Path]:
    """Return a server's TLS context for names and addresses, and the file that makes a client trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Thresher test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path, private = folder / "certificate.pem", folder / "key.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, private)
    return context, path


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
