"""A site of known size for the drill, run inside a container: ``python site.py PORT PAGES HOSTS LOG``.

Its pages link to each other and to pages on other hosts. Every request for a page is a line of the log: the path.
"""

import random
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOPIC = ["perovskite", "solar", "cell", "film", "tandem", "efficiency", "module", "silicon", "layer", "energy"]
OTHER = ["recipe", "garden", "football", "castle", "museum", "poem", "railway", "harbour", "violin", "cheese"]


def host_of(page: int, hosts: int) -> str:
    return f"h{1 + page % hosts}.drill-site.org"


def words_of(page: int) -> list[str]:
    """Return the words of a page; every seventh is about the topic."""
    return TOPIC if page % 7 == 0 else OTHER


def body(page: int, pages: int, hosts: int, port: int) -> bytes:
    """Return a page that says something that no other page says: else it would rightly be taken for a trap."""
    rng = random.Random(page)
    words = words_of(page)
    text = " ".join(rng.choice(words) if place % 2 else f"w{page}x{place}" for place in range(300))
    near = [link for link in (2 * page + 1, 2 * page + 2) if link < pages]
    linked = [*near, *(rng.randrange(pages) for _ in range(8))]
    links = "".join(
        f'<li><a href="http://{host_of(link, hosts)}:{port}/p{link}.html">{words_of(link)[link % 10]} {link}</a></li>'
        for link in linked
    )
    title = f"{words[0]} {words[1]} {words[2]} {page}"
    return f"<html><head><title>{title}</title></head><body><p>{text}</p><ul>{links}</ul></body></html>".encode()


def main() -> None:
    port, pages, hosts = map(int, sys.argv[1:4])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.headers.get("Host", "").partition(":")[0]
            number = self.path.removeprefix("/p").removesuffix(".html")
            page = int(number) if number.isdigit() else -1
            found = 0 <= page < pages and host_of(page, hosts) == name
            content = body(page, pages, hosts, port) if found else b"gone"
            if found:
                log.write(f"{self.path}\n")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Write nothing: the log has the pages."""

    with open(sys.argv[4], "a", buffering=1, encoding="utf-8") as log:
        ThreadingHTTPServer(("0.0.0.0", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
