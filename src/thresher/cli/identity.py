"""thresher identity: the key that signs requests, and what the operator publishes about it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import click

from thresher.cli.output import echo, echo_json, json_option
from thresher.config.identity import (
    AGENT_VARIABLE,
    DIRECTORY_PATH,
    checked_origin,
    directory,
    directory_headers,
    jwk,
    key_path,
    load_key,
    new_key,
    thumbprint,
)
from thresher.config.schema import check_contact
from thresher.engine.download.request import ROBOTS_TOKEN, user_agent
from thresher.errors import ExportError
from thresher.locale.translation import _

HEADERS_FILE = "directory-headers.conf"
PAGE_FILE = "index.html"

_key_option = click.option(
    "--key",
    "key_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The key, such as identity.pem; by default the one that THRESHER_IDENTITY_KEY names, or "
    "thresher/identity.pem in your configuration folder.",
)


@click.group()
def identity() -> None:
    """Sign requests, so that sites can verify who crawls (Web Bot Auth).

    Three steps: make a key with `new`, put the files of `publish` on a web site of yours, and name that site in
    topic.yaml: `identity: https://crawler.example.org`.
    """


@identity.command()
@_key_option
@json_option({"key": "The file of the key.", "key_id": "Its thumbprint, which signatures name."})
def new(key_file: Path | None, as_json: bool) -> None:
    """Make a key.

    The file can be read by you alone. Copy it to each machine that crawls; who has it can sign in your name.

    \b
    Examples:
      thresher identity new
      thresher identity new --key next.pem
    """
    path = key_file or key_path()
    key_id = thumbprint(new_key(path))
    if as_json:
        echo_json({"key": str(path), "key_id": key_id})
        return
    echo(_("The key {key_id} is in {file}.", key_id=key_id, file=path))
    echo(_("Next: thresher identity publish https://YOUR-SITE -o FOLDER --contact YOU"), err=True)


@identity.command()
@_key_option
@json_option({"key": "The file of the key.", "key_id": "Its thumbprint.", "jwk": "The public key as a JSON Web Key."})
def show(key_file: Path | None, as_json: bool) -> None:
    """Show the public part of the key.

    \b
    Examples:
      thresher identity show
      thresher identity show --json
    """
    path = key_file or key_path()
    public = jwk(load_key(path))
    if as_json:
        echo_json({"key": str(path), "key_id": public["kid"], "jwk": public})
        return
    agent = os.environ.get(AGENT_VARIABLE) or "not set; the key `identity` of a topic.yaml counts"
    for name, value in {"key": path, "key id": public["kid"], "public key": public["x"], AGENT_VARIABLE: agent}.items():
        echo(f"{name:<18} {value}")


@identity.command()
@click.argument("origin", metavar="ORIGIN")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="A folder.")
@click.option(
    "--key",
    "key_files",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A key to publish, such as identity.pem; several while you change from one to another.",
)
@click.option("--contact", default="", help="Mail or web address for site operators, as in topic.yaml.")
@click.option("--address", "addresses", multiple=True, metavar="NETWORK", help="Where requests come from; repeatable.")
@click.option("--reverse-dns", default="", metavar="NAME", help="The domain of the names of these addresses.")
@click.option(
    "--days",
    type=click.IntRange(1, 366),
    default=90,
    show_default=True,
    help="How long the signature of the directory is valid; publish again before it ends.",
)
@json_option({"files": "The files that were written.", "headers": "The headers that the directory must be sent with."})
def publish(
    origin: str,
    output: Path,
    key_files: Sequence[Path],
    contact: str,
    addresses: Sequence[str],
    reverse_dns: str,
    days: int,
    as_json: bool,
) -> None:
    """Write what belongs on your web site: the key directory, and a page for site operators.

    ORIGIN is the https address of the site, such as https://crawler.example.org. Nothing is sent anywhere; copy the
    files to the site yourself. Files of an earlier call are replaced.

    \b
    Examples:
      thresher identity publish https://crawler.example.org -o site --contact me@example.org
      thresher identity publish https://crawler.example.org -o site --address 192.0.2.0/28 --reverse-dns example.org
    """
    check_contact(contact)
    agent = checked_origin(origin)
    keys = [load_key(path) for path in key_files or [key_path()]]
    headers = directory_headers(agent, keys, days)
    page = operator_page(agent, [thumbprint(key) for key in keys], contact, addresses, reverse_dns)
    files = {
        DIRECTORY_PATH.lstrip("/"): directory(keys),
        HEADERS_FILE: nginx_location(headers).encode(),
        PAGE_FILE: page.encode(),
    }
    try:
        for name, content in files.items():
            (output / name).parent.mkdir(parents=True, exist_ok=True)
            (output / name).write_bytes(content)
    except OSError as error:
        raise ExportError(
            _("{path} cannot be written: {error}; choose another place", path=output, error=_(str(error.strerror)))
        ) from error
    if as_json:
        echo_json({"files": [str(output / name) for name in files], "headers": headers})
        return
    place = f"{agent}{DIRECTORY_PATH}"
    echo(_("Written to {folder}: {files}", folder=output, files=", ".join(files)))
    echo(_("Serve the directory as {place} with the headers of {file}.", place=place, file=HEADERS_FILE))
    echo(_("Then switch signatures on, in topic.yaml: identity: {agent}", agent=agent))
    echo(_("The directory's own signature ends in {days} days; publish again before.", days=days), err=True)


def nginx_location(headers: Mapping[str, str]) -> str:
    """Return the part of nginx's configuration that sends the directory with its headers."""
    lines = [f"    default_type {headers['Content-Type']};"]
    lines += [f"    add_header {name} '{value}';" for name, value in headers.items() if name != "Content-Type"]
    return "\n".join([f"location = {DIRECTORY_PATH} {{", *lines, "}", ""])


_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>About this crawler</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 1rem/1.5 sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }}</style></head>
<body>
<h1>About this crawler</h1>
<p>It collects pages about one topic at a time. It sends one request at a time to a host, pauses after each, and obeys
robots.txt. The program is Thresher, a focused web crawler.</p>
<h2>How to recognise it</h2>
<dl>
<dt>User agent</dt><dd><code>{user_agent}</code>; the version changes</dd>
<dt>Signatures</dt><dd>Requests by https are signed: HTTP Message Signatures (RFC 9421), tag <code>web-bot-auth</code>,
<code>Signature-Agent: {agent}</code>. The keys are in
<a href="{path}">the key directory</a>: {key_ids}. A request without a valid signature may be from somebody else.</dd>
{network}</dl>
<h2>How to stop it</h2>
<pre>User-agent: {token}
Disallow: /</pre>
<p>in your robots.txt. It is read again after a day. An answer of 429 or 503, with Retry-After or without, slows the
crawler down at once.</p>
<h2>Contact</h2>
<p>{contact}</p>
</body>
</html>
"""


def operator_page(agent: str, key_ids: Sequence[str], contact: str, addresses: Sequence[str], reverse_dns: str) -> str:
    """Return a page for the operators of crawled sites; it states only what the operator of the crawler gave."""
    stated = {
        "Addresses": ", ".join(f"<code>{escape(address)}</code>" for address in addresses),
        "Reverse DNS": f"names below <code>{escape(reverse_dns)}</code>, which resolve to the address again"
        if reverse_dns
        else "",
    }
    return _PAGE.format(
        user_agent=escape(user_agent(contact)),
        agent=escape(agent),
        path=DIRECTORY_PATH,
        key_ids=", ".join(f"<code>{key_id}</code>" for key_id in key_ids),
        network="".join(f"<dt>{name}</dt><dd>{value}</dd>\n" for name, value in stated.items() if value),
        token=ROBOTS_TOKEN,
        contact=_linked(contact) if contact else "No contact is given here.",
    )


def _linked(contact: str) -> str:
    is_mail = "@" in contact and not contact.startswith(("http://", "https://"))
    target = f"mailto:{contact.removeprefix('mailto:')}" if is_mail else contact
    return f'<a href="{escape(target)}">{escape(contact)}</a>'
