"""The verdict on a page in words: one sentence, the words for and against the topic, and the nearest example.

`verdict_of` computes it and `PageVerdict.lines` renders it, for every command that explains a judgement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thresher.judges.base import Judge, is_certain, reasons_of
from thresher.locale.translation import AND, COMMA, ENGLISH, SEMICOLON, Translatable, _, joined, translated
from thresher.records import (
    LABEL_PART,
    LANGUAGE_PART,
    TOPIC_PART,
    UNLABELLED_PART,
    Judgement,
    ParsedPage,
    ScoreBreakdown,
    TermWeight,
)
from thresher.text.surface_forms import written
from thresher.text.terminal import columns as width

WORDS_SHOWN = 5
"""Number of words for, and against, in a short explanation."""
WORDS_KEPT = 12
"""Number of words for, and against, in a long one."""
COLUMNS = 100
"""Width of a short explanation."""
TITLE_COLUMNS = 40
PART_MEANINGS = {
    "similarity": _("similarity to the topic"),
    "background level": _("similarity of an ordinary page"),
    "topic level": _("similarity of a good page"),
    "titled": _("share of a phrase's words in title, first heading or address"),
    "label correction": _("change of the similarity by labels"),
    LABEL_PART: _("label: 1 yes, 0 no, between them that of a model"),
    UNLABELLED_PART: _("relevance without the label"),
}
"""What the parts of a relevance are called in an explanation."""
_PIECES = re.compile(r"[^ ，。；：]+[，。；：]* ?|[，。；：]+ ?")
"""What stays in one line: a word; of a Chinese sentence what is between two signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedWord:
    """A word or phrase that counted.

    Args:
        written: The form in the page.
        weight: Positive for the topic, negative against it.
        share: The absolute weight, as a share of that of all words that the judge reports; 0 to 1.
    """

    written: str
    weight: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestPage:
    """The seed or labelled page that a page is most similar to.

    Args:
        similarity: From 0 to 1.
        kind: ``seed``, ``labelled yes`` or ``labelled no``.
    """

    url: str
    title: str
    similarity: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVerdict:
    """The verdict on a page.

    Args:
        threshold: The cut: the relevance from which a page is relevant.
        rank: Its place by relevance among the pages of the crawl; 0 when it has none, as a duplicate.
        pages: Number of these pages.
        note: What else was recorded with it: a duplicate, a part of a page, a certificate.
        words: Those for the topic first, each side by descending weight.
    """

    judgement: Judgement
    threshold: float
    language: str = ""
    rank: int = 0
    pages: int = 0
    note: str = ""
    words: Sequence[CountedWord] = ()
    nearest: NearestPage | None = None

    @property
    def words_for(self) -> list[CountedWord]:
        return [word for word in self.words if word.weight > 0][:WORDS_SHOWN]

    @property
    def words_against(self) -> list[CountedWord]:
        return [word for word in self.words if word.weight < 0][:WORDS_SHOWN]

    @property
    def sentence(self) -> Translatable:
        """The verdict, the relevance and the cut, and the rank."""
        rank = [_("rank {rank:,} of {pages:,}", rank=self.rank, pages=self.pages)] if self.rank else []
        facts = joined(SEMICOLON, [self._comparison(), *rank, *([self.note] if self.note else [])])
        return _("{verdict}: {facts}.", verdict=_word(self.judgement), facts=facts)

    def _comparison(self) -> Translatable:
        judgement, cut = self.judgement, self.threshold
        if LANGUAGE_PART in judgement.breakdown:
            return _("its language, {code}, is not a wanted one (languages in topic.yaml)", code=self.language)
        label = judgement.breakdown.get(LABEL_PART)
        if label is not None and is_certain(label):
            own, by_person = judgement.breakdown.get(UNLABELLED_PART), _("labelled by a person")
            unlabelled = _("{own:.2f} without the label, where the cut is {cut:.2f}", own=own or 0.0, cut=cut)
            return by_person if own is None else joined(SEMICOLON, [by_person, unlabelled])
        relevance = _("{relevance:.2f}", relevance=judgement.relevance)
        if label is not None:
            relevance = _("{relevance} with the label of a model", relevance=relevance)
        if judgement.relevant != (judgement.relevance >= cut):
            return _("{relevance}, by another cut than the present one of {cut:.2f}", relevance=relevance, cut=cut)
        if judgement.relevant:
            return _("{relevance}, above the cut of {cut:.2f}", relevance=relevance, cut=cut)
        return _("{relevance}, below the cut of {cut:.2f}", relevance=relevance, cut=cut)

    def lines(self, language: str = ENGLISH) -> Iterator[str]:
        """Yield the sentence, the words and the nearest example, at most `COLUMNS` wide."""
        yield from wrapped(translated(self.sentence, language))
        if self.words:
            words_for, words_against = _shares(self.words_for), _shares(self.words_against)
            yield fit(translated(_("For:      {words}", words=words_for or _("no word")), language))
            yield fit(translated(_("Against:  {words}", words=words_against or _("no word")), language))
        if self.nearest:
            kind, similarity = _(self.nearest.kind), self.nearest.similarity
            about = _(" ({kind}, similarity {similarity:.2f})", kind=kind, similarity=similarity)
            before, after = translated(_("Nearest:  "), language), translated(about, language)
            yield titled(before, self.nearest.title, self.nearest.url, after)

    def detail_lines(self, language: str = ENGLISH) -> Iterator[str]:
        """Return all numbers behind the verdict, one per line."""
        return (translated(line, language) for line in self._detail_lines(language))

    def _detail_lines(self, language: str) -> Iterator[str]:
        judgement = self.judgement
        yield _(
            "  Relevance: {relevance:.3f}, threshold (cut): {cut:.3f}",
            relevance=judgement.relevance,
            cut=self.threshold,
        )
        if judgement.topics:
            yield _("  Relevance by topic:")
            yield from listed({name: own.relevance for name, own in judgement.topics.items()}, language)
        if judgement.breakdown:
            yield _("  The relevance was computed from (not a sum):")
            meanings = {PART_MEANINGS.get(name, name): part for name, part in judgement.breakdown.items()}
            yield from listed(meanings, language)
        if self.words:
            yield _("  Words, with their weight and share:")
            yield from (f"    {word.written}  {word.weight:+.4f}  {percent(word.share)}" for word in self.words)

    def as_json(self) -> dict[str, Any]:
        return {
            "relevance": self.judgement.relevance,
            "relevant": self.judgement.relevant,
            "threshold": self.threshold,
            "rank": self.rank or None,
            "pages": self.pages or None,
            "words_for": [{"word": word.written, "share": round(word.share, 4)} for word in self.words_for],
            "words_against": [{"word": word.written, "share": round(word.share, 4)} for word in self.words_against],
            "nearest": asdict(self.nearest) if self.nearest else None,
        }


def verdict_of(
    judge: Judge | None,
    page: ParsedPage,
    judgement: Judgement,
    *,
    vector: bytes,
    threshold: float,
    title_of: Callable[[str], str],
    rank: tuple[int, int] = (0, 0),
    note: str = "",
) -> PageVerdict:
    """Explain the judgement of a page.

    Args:
        judge: The judge as it is now; without one there are no words.
        page: Its text, or where that was not kept other text of the page, gives the words their written forms.
        judgement: As it was stored.
        vector: The term vector that the judge stored with the page; empty when there is none.
        title_of: Returns the title of a page by its URL.
    """
    words: Sequence[CountedWord] = ()
    nearest = None
    if judge is not None and LANGUAGE_PART not in judgement.breakdown:
        reasons = reasons_of(judge, page, vector)
        words = counted(page, reasons.words)
        if reasons.nearest:
            nearest = NearestPage(
                url=reasons.nearest.url,
                title=title_of(reasons.nearest.url),
                similarity=reasons.nearest.similarity,
                kind=_kind(reasons.nearest.label),
            )
    return PageVerdict(
        judgement=judgement,
        threshold=threshold,
        language=page.language,
        rank=rank[0],
        pages=rank[1],
        note=note,
        words=words,
        nearest=nearest,
    )


def counted(page: ParsedPage, words: Sequence[TermWeight]) -> list[CountedWord]:
    """Return the words with the largest weights for and against the topic, in the forms of the page."""
    ordered = sorted(words, key=lambda word: -abs(word.weight))
    whole = sum(abs(word.weight) for word in words) or 1.0
    positive = [word for word in ordered if word.weight > 0][:WORDS_KEPT]
    negative = [word for word in ordered if word.weight < 0][:WORDS_KEPT]
    return [*_written(page, positive, whole), *_written(page, negative, whole)]


def _written(page: ParsedPage, words: Sequence[TermWeight], whole: float) -> list[CountedWord]:
    weights = {word.term: word.weight for word in words}
    forms = written(page.text, list(weights), page.language)
    sums = {form: sum(weights[term] for term in terms) for form, terms in forms}
    found = [CountedWord(written=form, weight=weight, share=abs(weight) / whole) for form, weight in sums.items()]
    return sorted(found, key=lambda word: -abs(word.weight))


def _kind(label: float | None) -> str:
    if label is None:
        return _("seed")
    return _("labelled no") if label < 0.5 else _("labelled yes")


def _word(judgement: Judgement) -> Translatable:
    """Return whether a page is relevant, and of several topics to which."""
    topics = [name for name, own in judgement.topics.items() if own.relevant]
    if not judgement.relevant:
        return _("Not relevant")
    return _("Relevant to {topics}", topics=joined(AND, topics)) if topics else _("Relevant")


def _shares(words: Sequence[CountedWord]) -> str:
    return joined(COMMA, [f"{fit(word.written, 24)} {percent(word.share)}" for word in words])


def percent(share: float) -> str:
    """Return a share as text, with a decimal below ten percent."""
    return f"{100 * share:.{0 if share >= 0.1 else 1}f} %"


def listed(breakdown: ScoreBreakdown, language: str = ENGLISH, *, signed: bool = False) -> Iterator[str]:
    """Yield the parts of a score, one per line."""
    columns = max(width(translated(_(name), language)) for name in breakdown)
    for name, value in breakdown.items():
        part = _("for {topic}", topic=name.removeprefix(TOPIC_PART)) if name.startswith(TOPIC_PART) else _(name)
        label = translated(part, language)
        yield f"    {label}{' ' * (columns - width(label))}  {value:{'+' if signed else ''}.3f}"


def titled(before: str, title: str, url: str, after: str = "") -> str:
    """Return a line with a title and as much of a URL as there is room for."""
    start = f"{before}{fit(title, TITLE_COLUMNS)} " if title else before
    return start + fit(url, COLUMNS - width(start) - width(after)) + after


def wrapped(sentence: str) -> Iterator[str]:
    """Yield a sentence in lines of at most `COLUMNS` columns; words that are longer are shortened.

    A line may also end behind Chinese punctuation, for Chinese has no spaces.
    """
    line = ""
    for piece in _PIECES.findall(" ".join(sentence.split())):
        word = piece.rstrip()
        if line and width(line) + width(word) > COLUMNS:
            yield line.rstrip()
            line = ""
        line += piece if width(word) <= COLUMNS else f"{fit(word)} "
    yield line.rstrip()


def fit(text: str, columns: int = COLUMNS) -> str:
    """Return a text with its middle left out, where it is too wide."""
    if width(text) <= columns:
        return text
    half = (max(columns, 3) - 1) // 2
    start = _cut(text, max(columns, 3) - 1 - half)
    return f"{start}…{_cut(text[::-1], half)[::-1]}"


def _cut(text: str, columns: int) -> str:
    total = 0
    for place, character in enumerate(text):
        total += width(character)
        if total > columns:
            return text[:place]
    return text
