"""thresher new: from a phrase to a folder with everything a crawl needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import click

from thresher import registry
from thresher.cli.show import printable
from thresher.config_file import load_config
from thresher.errors import ConfigError, UnknownName
from thresher.folder import CrawlFolder
from thresher.topics.files import topic_yaml
from thresher.topics.topic import Topic
from thresher.urls.addresses import private_network
from thresher.urls.canonical import canonicalize


@click.command()
@click.argument("dir", type=click.Path(path_type=Path))
@click.option("--topic", default="", metavar="TEXT", help='The topic as a phrase; several languages: "phrase; 短语".')
@click.option("--keywords", "keywords", multiple=True, metavar="WORDS", help="Words of the topic, parted by commas.")
@click.option("--seed", "seeds", multiple=True, metavar="URL", help="Where to start; may be given several times.")
@click.option("--seeds-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file of seeds.")
@click.option("--contact", default="", metavar="ADDRESS", help="Mail or web address for site operators.")
@click.option("--strategy", default="best-first", show_default=True, help="The order in which links are followed.")
def new(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    topic: str,
    keywords: Sequence[str],
    seeds: Sequence[str],
    seeds_file: Path | None,
    contact: str,
    strategy: str,
) -> None:
    """Start a crawl: write topic.yaml and seeds.txt into a new folder."""
    folder = CrawlFolder(dir)
    if folder.topic.exists():
        raise ConfigError(f"{folder.topic} is there already; edit it, or choose another folder")
    if strategy not in registry.known("strategy"):
        raise UnknownName("strategy", strategy, registry.known("strategy"))
    words = [word.strip() for group in keywords for word in group.replace("，", ",").split(",") if word.strip()]
    wanted = Topic.from_phrase(topic, keywords=words)
    if not wanted.vectors():
        raise ConfigError('the topic has no words; give --topic "a phrase" or --keywords "some, words"')
    urls = [_checked(seed) for seed in (*seeds, *_lines(seeds_file))]
    dir.mkdir(parents=True, exist_ok=True)
    # whoever names a private seed means it
    allow = list(dict.fromkeys(filter(None, (private_network(urlsplit(url).hostname or "") for url in urls))))
    text = topic_yaml(wanted, name=folder.name, strategy=strategy, contact=contact, allow=allow)
    folder.topic.write_text(text, encoding="utf-8")
    folder.seeds.write_text("".join(f"{url}\n" for url in urls), encoding="utf-8")
    load_config(folder.topic)
    _say_what_next(dir, urls, allow)


def _lines(path: Path | None) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path else []
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _checked(seed: str) -> str:
    canonical = canonicalize(seed)
    if canonical is None:
        guess = f"; did you mean https://{seed}?" if "://" not in seed else ""
        raise ConfigError(f"seed {printable(seed)!r} is not an http or https URL{guess}")
    return canonical


def _say_what_next(folder: Path, urls: Sequence[str], allow: Sequence[str]) -> None:
    click.echo(f"{folder / 'topic.yaml'} and {folder / 'seeds.txt'} are written.", err=True)
    if allow:
        click.echo(f"The seeds are private addresses; network.allow lists {', '.join(allow)}.", err=True)
    if not urls:
        click.echo(f"No seeds yet: write one URL per line into {folder / 'seeds.txt'}.", err=True)
    click.echo(f"Next: thresher run {folder} --pages 100", err=True)
