"""The markup of generated pages: what a plain site of some years ago would send.

Nothing is escaped: all words come from our own lists, which hold no markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

from thresher_lab.webs.vocabulary.prose import Prose

WORDS = {
    "en": {"front": "Home", "calendar": "Calendar", "links": "Related pages", "more": "more", "here": "click here"},
    "zh": {"front": "首页", "calendar": "日历", "links": "相关链接", "more": "更多", "here": "点击这里"},
}
"""Common texts of sites, in each language."""

Target = tuple[str, str]
"""The address and the words of a link."""

_SENTENCES_PER_PARAGRAPH = 5
_NOISE_EVERY = 8  # one sentence in this many is about something else
_SHARE_IN_TEXT = 0.4  # of the links; the others are in a list
_MIN_CHARACTERS = 120
_BYTES_PER_CHARACTER = {"en": 1.0, "zh": 3.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The content of a page.

    Args:
        charset: What it declares, and is sent in.
        prose: Writes its text.
        noise: Writes sentences off its subject.
        navigation: Links at its top.
        links: Its other links.
        bytes: About how long it should be.
    """

    title: str
    charset: str
    keywords: Sequence[str]
    prose: Prose
    noise: Prose
    navigation: Sequence[Target]
    links: Sequence[Target]
    bytes: int


def write_page(draft: Draft, random: Random) -> str:
    """Write a page: navigation, text with links in it, and a list of links."""
    language = draft.prose.language
    inside = int(len(draft.links) * _SHARE_IN_TEXT)
    listed = "".join(f"<li>{link_to(target)}</li>\n" for target in draft.links[inside:])
    spent = 400 + sum(len(url) + len(words) + 25 for url, words in draft.links)
    sentences = _sentences(draft, random, int((draft.bytes - spent) / _BYTES_PER_CHARACTER[language]))
    frame = (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="{draft.charset}">\n'
        f"<title>{draft.title}</title>\n"
        f'<meta name="keywords" content="{",".join(draft.keywords)}">\n'
        f'<meta name="description" content="{sentences[0]}">\n</head>\n<body>\n'
        f'<div id="navigation">{" | ".join(map(link_to, draft.navigation))}</div>\n<h1>{draft.title}</h1>\n'
    )
    text = "".join(f"<p>{paragraph}</p>\n" for paragraph in _paragraphs(draft, sentences, draft.links[:inside]))
    return f"{frame}{text}<h2>{WORDS[language]['links']}</h2>\n<ul>\n{listed}</ul>\n</body>\n</html>\n"


def _sentences(draft: Draft, random: Random, characters: int) -> list[str]:
    sentences = draft.prose.text(random, max(_MIN_CHARACTERS, characters))
    astray = len(sentences) // _NOISE_EVERY
    sentences[3 : 3 + astray * _NOISE_EVERY : _NOISE_EVERY] = islice(cycle(draft.noise.text(random, 300)), astray)
    return sentences


def _paragraphs(draft: Draft, sentences: Sequence[str], links: Sequence[Target]) -> list[str]:
    """Split sentences into paragraphs and spread the links over them, each after a sentence."""
    texts = list(sentences)
    for number, target in enumerate(links):
        texts[number * len(texts) // len(links)] += f" {link_to(target)}"
    starts = range(0, len(texts), _SENTENCES_PER_PARAGRAPH)
    return [draft.prose.joined(texts[start : start + _SENTENCES_PER_PARAGRAPH]) for start in starts]


def link_to(target: Target) -> str:
    """Write a link."""
    return f'<a href="{target[0]}">{target[1]}</a>'
