"""The terms of a page: weighted by section, with the phrase's words in all their forms and as pairs.

Pages are term indices and weights, one by one (`TermRow`) or as a sparse matrix (`Matrix`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from thresher.compression import zstd
from thresher.records import ParsedPage
from thresher.text.tokens import adjacent, count, is_bigram, stemmed_as, tokenize

WORD_SEPARATORS = str.maketrans("_-./", "    ")
MAX_PACKED = 1 << 22
"""Upper bound of unpacked bytes: a page has at most some thousand terms."""

Numbers = NDArray[np.int32]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TermVector:
    """The terms of a page and their weights, in the order in which the page has them."""

    names: list[str]
    weights: Weights

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> TermVector:
        """Make a vector of a mapping from term to weight."""
        return cls(list(weights), np.fromiter(weights.values(), dtype=np.float64, count=len(weights)))

    @classmethod
    def of_counts(cls, counts: Mapping[str, float]) -> TermVector:
        """Weigh terms by their counts: ``ln(1 + n)``."""
        return cls(list(counts), np.log1p(np.fromiter(counts.values(), dtype=np.float64, count=len(counts))))

    def pack(self) -> bytes:
        """Serialize with half-precision weights and compression: some 2 KB for a usual page."""
        names = "\n".join(self.names).encode("utf-8", "replace")
        compressor = zstd.FrameCompressor(level=1, checksum=True)
        return compressor.compress(names + b"\0" + self.weights.astype("<f2").tobytes())

    @classmethod
    def unpack(cls, packed: bytes) -> TermVector:
        """Undo `pack`.

        Raises:
            ValueError: The bytes are damaged.
        """
        try:
            content = zstd.decompress(packed, max_bytes=MAX_PACKED)
        except zstd.ZstdError as error:
            raise ValueError(f"packed terms cannot be read: {error}") from error
        names, _, weights = content.partition(b"\0")
        terms = names.decode("utf-8").split("\n") if names else []
        if 2 * len(terms) != len(weights):
            raise ValueError("packed terms cannot be read: names and weights do not match")
        return cls(terms, np.frombuffer(weights, dtype="<f2").astype(np.float64))


@dataclass(frozen=True, slots=True)
class TermRow:
    """A page as term indices and weights, with the vector of its opening."""

    url: str
    numbers: Numbers
    weights: Weights
    opening: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A sparse matrix in compressed rows: page i is `starts[i]` up to `starts[i + 1]`.

    Args:
        pages: The weight of each page: 1, unless some represent more pages than others.
    """

    numbers: NDArray[np.intp]
    weights: Weights
    starts: NDArray[np.int64]
    pages: Weights

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def rows(self, places: Sequence[int]) -> Matrix:
        spans = [slice(self.starts[place], self.starts[place + 1]) for place in places]
        return Matrix(
            numbers=np.concatenate([self.numbers[span] for span in spans] or [np.empty(0, np.intp)]),
            weights=np.concatenate([self.weights[span] for span in spans] or [np.empty(0)]),
            starts=np.cumsum([0, *self.lengths[list(places)]]),
            pages=self.pages[list(places)],
        )

    def sums(self, values: Weights) -> Weights:
        """Sum one value per entry over each page."""
        summed = np.zeros(len(self.starts) - 1)
        filled = self.lengths > 0  # reduceat does not support empty slices
        if len(values):
            summed[filled] = np.add.reduceat(values, self.starts[:-1][filled])
        return summed

    def per_term(self, values: Weights) -> Weights:
        """Repeat one value per page for each of its terms."""
        return np.repeat(values, self.lengths)

    def without(self, terms: Numbers) -> Weights:
        """Return 1 for each page that contains none of the terms, else 0; 0 for all when there are no terms."""
        if not len(terms):
            return np.zeros(len(self.pages))
        held = self.sums(np.isin(self.numbers, terms).astype(np.float64))
        return np.where(held == 0.0, 1.0, 0.0)


TITLE, HEADINGS, LEAD = 4.0, 1.0, 4.0
"""Additional count of an occurrence in these sections; every occurrence in the text counts 1."""
MAX_CHARACTERS = 50_000
"""Text beyond this is ignored."""
LEAD_CHARACTERS = 500
"""Length of the lead, besides the title."""
MAX_OTHERS = 1 << 17
"""Terms that are remembered because they are no forms of the phrases' words."""
MIN_LETTERS = 5
"""Shorter stems are prefixes of too many other words."""
TITLED, TITLED_WEIGHT = "title:", 0.001
"""Beginning and weight of the term for a word of the phrase that names a page; too light to change its similarities."""


def term_weights(page: ParsedPage) -> TermVector:
    """Weigh the terms of a page: ``ln(1 + n)``, n counting each occurrence by its section."""
    n: dict[str, float] = dict(count(page.text[:MAX_CHARACTERS], page.language))
    places = [
        (page.title, TITLE),
        (" ; ".join(page.headings), HEADINGS),
        (page.text[: len(page.title) + LEAD_CHARACTERS], LEAD),  # the text begins with the title
    ]
    for text, times in places:
        for term, found in count(text, page.language).items():
            n[term] = n.get(term, 0.0) + times * found
    return TermVector.of_counts(n)


class PhraseWords:
    """The words of a topic's phrases, to be found on pages in other forms and side by side.

    A stem that begins with a word of a phrase, or is a prefix of one, is a form of that word: "volcanic" has another
    stem than "volcano", but means the same topic. So is the stem of the word in the language of the page. Two adjacent
    words of a phrase are an additional term where they are adjacent on a page: "French Revolution" is more specific
    than "French" here and "revolution" there. Bigrams of scripts without spaces are not changed. A word of a phrase in
    title, first heading or path of the URL is a term of its own, in whichever language the phrase is.

    Args:
        phrases: As the user wrote them.
        languages: Those of the topic; the stem of a word in the first of them stands for the word.
    """

    def __init__(self, phrases: Iterable[str], languages: Iterable[str] = ()) -> None:
        codes = list(dict.fromkeys(map(stemmed_as, languages))) or [""]
        self._written = {word: _first(word, codes) for phrase in phrases for word in phrase.split()}
        self._forms_by_language: dict[str, dict[str, str]] = {}
        self._words: dict[str, list[str]] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._others: set[str] = set()  # terms that are no forms of the words
        self._named = [[terms for word in phrase.split() if (terms := self._written[word])] for phrase in phrases]
        for phrase in phrases:
            terms = [term for word in phrase.split() for term in self._written[word]]
            for term in terms:
                if len(term) >= MIN_LETTERS and not is_bigram(term):
                    self._words.setdefault(term[:MIN_LETTERS], []).append(term)
            self._pairs.update(pair for pair in pairwise(terms) if not any(map(is_bigram, pair)))

    @property
    def pairs(self) -> list[str]:
        """The terms for two adjacent words."""
        return sorted(map(" ".join, self._pairs))

    @property
    def titles(self) -> list[list[str]]:
        """The terms for words that name a page, by phrase."""
        return [[TITLED + " ".join(terms) for terms in words] for words in self._named]

    def unified(self, vector: Mapping[str, float], language: str) -> dict[str, float]:
        """Return a vector of the topic with the terms that stand for the words."""
        forms = self._forms(stemmed_as(language))
        return {forms.get(term, term): weight for term, weight in vector.items()}

    def mark(self, page: ParsedPage, terms: TermVector) -> TermVector:
        """Merge the forms of the phrases' words in the terms of a page, and add its pairs and words that name it."""
        titled = self._titled(page)
        marked = self._unified(page, terms)
        if not titled:
            return marked
        return TermVector(marked.names + titled, np.append(marked.weights, np.full(len(titled), TITLED_WEIGHT)))

    def _titled(self, page: ParsedPage) -> list[str]:
        path = unquote(urlsplit(page.url).path).translate(WORD_SEPARATORS)
        names = " ; ".join([page.title, *page.headings[:1], path])
        found = set(tokenize(names, page.language))
        found |= {form for term in found if term[:MIN_LETTERS] in self._words and (form := self._of(term))}
        found |= {form for term, form in self._forms(stemmed_as(page.language)).items() if term in found}
        words = {tuple(terms) for phrase in self._named for terms in phrase if found.issuperset(terms)}
        return [TITLED + " ".join(terms) for terms in sorted(words)]

    def _unified(self, page: ParsedPage, terms: TermVector) -> TermVector:
        names = set(terms.names)
        forms = self._forms_among(names)
        if stems := self._forms(stemmed_as(page.language)):
            forms |= {name: stems[name] for name in names & stems.keys()}
        names.update(forms.values())
        pairs = self._count_pairs(page, names, forms)
        if not (forms or pairs):
            return terms
        merged, times = _merged(terms.names, np.expm1(terms.weights), forms)
        counts = np.concatenate([times, np.fromiter(pairs.values(), dtype=np.float64, count=len(pairs))])
        return TermVector([*merged, *pairs], np.log1p(counts))

    def _forms_among(self, names: set[str]) -> dict[str, str]:
        """Return the terms that are other forms of the phrases' words, with these words."""
        if len(self._others) > MAX_OTHERS:
            self._others.clear()
        forms = {}
        for name in names - self._others:
            if name[:MIN_LETTERS] in self._words and (word := self._of(name)):
                forms[name] = word
            else:
                self._others.add(name)
        return forms

    def _forms(self, language: str) -> dict[str, str]:
        """Return the words' stems in a language that differ from the terms that stand for them, with these terms."""
        if language not in self._forms_by_language:
            self._forms_by_language[language] = self._forms_in(language)
        return self._forms_by_language[language]

    def _forms_in(self, language: str) -> dict[str, str]:
        both = [(tokenize(word, language), terms) for word, terms in self._written.items()]
        return {
            stem: term
            for stems, terms in both
            if len(stems) == len(terms)
            for stem, term in zip(stems, terms, strict=True)
            if stem != term
        }

    def _of(self, name: str) -> str | None:
        """Return the word that a term is another form of."""
        words = self._words[name[:MIN_LETTERS]]
        if name in words:
            return None
        return next((word for word in words if word.startswith(name) or name.startswith(word)), None)

    def _count_pairs(self, page: ParsedPage, names: set[str], forms: dict[str, str]) -> dict[str, float]:
        possible = {pair for pair in self._pairs if names.issuperset(pair)}
        if not possible:  # most pages; only the others are tokenized
            return {}
        wanted = {**{word: word for pair in possible for word in pair}, **forms}
        found = Counter(filter(possible.__contains__, adjacent(page.text[:MAX_CHARACTERS], wanted, page.language)))
        return {" ".join(pair): float(times) for pair, times in found.items()}


def _first(word: str, languages: Sequence[str]) -> list[str]:
    """Return the terms of a word in the first language in which it has any."""
    return next(filter(None, (tokenize(word, code) for code in languages)), [])


def _merged(names: list[str], times: Weights, forms: Mapping[str, str]) -> tuple[list[str], Weights]:
    """Add the counts of other forms to those of their words, at the first of them; the order of all others stays."""
    if not forms:
        return names, times
    names, places = [*names], {name: place for place, name in enumerate(names)}
    affected = sorted(places[name] for name in {*forms, *forms.values()} if name in places)
    first: dict[str, int] = {}
    again = []
    for place in affected:
        word = forms.get(names[place], names[place])
        if word in first:
            times[first[word]] += times[place]
            again.append(place)
        else:
            first[word], names[place] = place, word
    for place in reversed(again):
        del names[place]
    return names, np.delete(times, again)
