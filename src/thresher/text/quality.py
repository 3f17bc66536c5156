"""Quality of a text by the rules of published filters, for people who train language models on a corpus.

The rules are those for whole documents of Gopher (Rae et al., Scaling Language Models, 2021, appendix A.1.1), C4
(Raffel et al., Exploring the Limits of Transfer Learning, 2020, section 2.2) and FineWeb (Penedo et al., The FineWeb
Datasets, 2024, section 3.6), with the numbers of these sections. C4 also removes single lines: here they only leave
fewer sentences. The code of FineWeb allows 1 % of repeated characters, not the 10 % of that section, which count here.

Words are what white space separates. In Chinese, Japanese and Thai two characters count as a word, as in the bigrams of
the tokenizer; so do two words of other scripts there, and punctuation is none. A rule that makes no sense in a language
is left out: it is neither passed nor failed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from thresher.text.char_ranges import UNSPACED, UNSPACED_IN, inside
from thresher.text.stopwords import stop_words

MAX_WORDS = 100_000
"""A longer text fails the rule for length; repetitions are searched in this much of it."""
CHARACTERS_PER_WORD = 2
"""In scripts without spaces."""
UNSPACED_LANGUAGES = ("zh", "ja", "th")

_UNSPACED = inside((*UNSPACED, *UNSPACED_IN["th"]))
_UNITS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ELLIPSIS = re.compile(r"\.{3,}|…+")
_SENTENCE_END = re.compile(r"[.!?؟۔।]+(?=[\s\"'”’»)\]]|$)|[。！？｡]+")
_TERMINAL = tuple(".!?\"'”’»。！？｡」』؟۔।")
_AROUND_WORDS = ".,;:!?\"'()[]“”‘’«»"
_BULLETS = tuple("•‣▪●○◦■□·*-")  # no dashes, which begin direct speech
_GOPHER_STOP_WORDS = frozenset(["the", "be", "to", "of", "and", "that", "have", "with"])
_TOP_NGRAMS = {2: 0.20, 3: 0.18, 4: 0.16}
_REPEATED_NGRAMS = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}
_SHORT_LINE, _SHORT_UNSPACED_LINE = 30, 10


@dataclass(frozen=True, kw_only=True)
class MeasuredText:
    """A text, and what the rules measure of it.

    Args:
        text: The text; paragraphs are separated by blank lines.
        language: Its code; empty when it is not known.
        items: How many of its lines are items of lists whose bullets are not in the text.
    """

    text: str
    language: str = ""
    items: int = 0

    @cached_property
    def is_unspaced(self) -> bool:
        return self.language in UNSPACED_LANGUAGES

    @cached_property
    def units(self) -> Sequence[str]:
        """The words; in scripts without spaces, the characters, and the words of other scripts."""
        return _UNITS.findall(self.text) if self.is_unspaced else self.text.split()

    @cached_property
    def words(self) -> int:
        return len(self.units) // self._per_word

    @cached_property
    def lines(self) -> Sequence[str]:
        return [line for written in self.text.splitlines() if (line := written.strip())]

    @cached_property
    def word_length(self) -> float | None:
        """Mean number of characters in a word; None in Korean and in scripts without spaces."""
        if self.is_unspaced or self.language == "ko" or not self.units:
            return None
        return sum(map(len, self.units)) / len(self.units)

    @cached_property
    def symbols(self) -> float:
        """Number of hash signs or of ellipses, whichever are more, per word."""
        return max(self.text.count("#"), len(_ELLIPSIS.findall(self.text))) / max(self.words, 1)

    @cached_property
    def stop_words(self) -> float | None:
        """Share of the words that are stop words; None for a language without a list."""
        known = stop_words(self.language)
        return share(self.units, lambda unit: _bare(unit) in known) if known else None

    @cached_property
    def ended_lines(self) -> float | None:
        """Share of the lines that end with punctuation; None in Thai, which has none."""
        return None if self.language == "th" else share(self.lines, _is_ended)

    @cached_property
    def repeated_lines(self) -> float:
        """Share of the characters in lines that occurred before."""
        return repeated_characters(self.lines)

    @cached_property
    def repeated_words(self) -> float:
        """Share of the characters in sequences of five words that occurred before."""
        return self.repeated_ngrams(5)

    def repeated_ngrams(self, n: int) -> float:
        return repeated_ngrams(self.units[: self._limit], n * self._per_word)

    def top_ngram(self, n: int) -> float:
        """Return the share of the characters in the most frequent sequence of n words."""
        return top_ngram(self.units[: self._limit], n * self._per_word)

    @property
    def _per_word(self) -> int:
        return CHARACTERS_PER_WORD if self.is_unspaced else 1

    @property
    def _limit(self) -> int:
        return MAX_WORDS * self._per_word


def _bare(word: str) -> str:
    return word.lower().strip(_AROUND_WORDS)


def _is_ended(line: str) -> bool:
    return line.endswith(_TERMINAL) and not line.endswith("...")


def share(parts: Collection[str], is_counted: Callable[[str], bool]) -> float:
    """Return the share of the parts that are counted."""
    return sum(map(is_counted, parts)) / max(len(parts), 1)


def repeated(parts: Collection[str]) -> float:
    """Return the share of the parts that are equal to an earlier one."""
    return (len(parts) - len(set(parts))) / max(len(parts), 1)


def repeated_characters(parts: Collection[str]) -> float:
    """Return the share of characters in parts that are equal to an earlier one."""
    return (_characters(parts) - _characters(set(parts))) / max(_characters(parts), 1)


def top_ngram(units: Sequence[str], n: int) -> float:
    """Return the share of characters in the most frequent sequence of n units; 0 when each occurs once."""
    counts = Counter(zip(*(units[start:] for start in range(n)), strict=False))
    for ngram, times in counts.most_common(1):
        if times > 1:
            return times * _characters(ngram) / _characters(units)
    return 0.0


def repeated_ngrams(units: Sequence[str], n: int) -> float:
    """Return the share of characters in sequences of n units that occurred before, each character counted once."""
    seen: set[tuple[str, ...]] = set()
    covered = end = 0
    ngrams = zip(*(units[start:] for start in range(n)), strict=False)
    for start, ngram in enumerate(ngrams):
        if ngram in seen:
            covered += _characters(units[max(start, end) : start + n])
            end = start + n
        seen.add(ngram)
    return covered / max(_characters(units), 1)


def _characters(parts: Iterable[str]) -> int:
    return sum(map(len, parts))


def gopher_words(text: MeasuredText) -> bool:
    """Gopher: 50 to 100,000 words."""
    return 50 <= text.words <= MAX_WORDS


def gopher_word_length(text: MeasuredText) -> bool | None:
    """Gopher: a mean of 3 to 10 characters in a word."""
    return None if text.word_length is None else 3 <= text.word_length <= 10


def gopher_symbols(text: MeasuredText) -> bool:
    """Gopher: at most one hash sign, and one ellipsis, in ten words."""
    return text.symbols <= 0.1


def gopher_bullets(text: MeasuredText) -> bool:
    """Gopher: at most 90 % of the lines begin with a bullet."""
    written = sum(line.startswith(_BULLETS) for line in text.lines)
    return written + text.items <= 0.9 * len(text.lines)


def gopher_ellipses(text: MeasuredText) -> bool:
    """Gopher: at most 30 % of the lines end with an ellipsis."""
    return share(text.lines, lambda line: line.endswith(("...", "…"))) <= 0.3


def gopher_letters(text: MeasuredText) -> bool | None:
    """Gopher: 80 % of the words have a letter; not in Thai, where many characters are vowel signs."""
    if text.language == "th":
        return None
    return share(text.units, lambda unit: any(map(str.isalpha, unit))) >= 0.8


def gopher_stop_words(text: MeasuredText) -> bool | None:
    """Gopher: two of eight stop words; in other languages than English, two of their stop words."""
    known = _GOPHER_STOP_WORDS if text.language == "en" else stop_words(text.language)
    return len(known.intersection(map(_bare, text.units))) >= 2 if known else None


def gopher_lines(text: MeasuredText) -> bool:
    """Gopher: at most 30 % of the lines occurred before."""
    return repeated(text.lines) <= 0.3


def gopher_paragraphs(text: MeasuredText) -> bool:
    """Gopher: at most 30 % of the paragraphs occurred before."""
    return repeated(_paragraphs(text)) <= 0.3


def gopher_line_characters(text: MeasuredText) -> bool:
    """Gopher: at most 20 % of the characters are in lines that occurred before."""
    return text.repeated_lines <= 0.2


def gopher_paragraph_characters(text: MeasuredText) -> bool:
    """Gopher: at most 20 % of the characters are in paragraphs that occurred before."""
    return repeated_characters(_paragraphs(text)) <= 0.2


def _paragraphs(text: MeasuredText) -> Sequence[str]:
    return re.split(r"\n{2,}", text.text.strip())


def gopher_top_ngrams(text: MeasuredText) -> bool:
    """Gopher: at most 20, 18 and 16 % of the characters are in the most frequent sequence of 2, 3 and 4 words."""
    return all(text.top_ngram(n) <= most for n, most in _TOP_NGRAMS.items())


def gopher_repeated_ngrams(text: MeasuredText) -> bool:
    """Gopher: at most 15 to 10 % of the characters are in sequences of 5 to 10 words that occurred before.

    Longer sequences are within shorter ones, so most texts are decided by those of five words.
    """
    if text.repeated_words <= min(_REPEATED_NGRAMS.values()):
        return True
    return all(text.repeated_ngrams(n) <= most for n, most in _REPEATED_NGRAMS.items())


def c4_sentences(text: MeasuredText) -> bool | None:
    """C4: three sentences, in lines of five words or more that end with punctuation."""
    if text.ended_lines is None:
        return None
    ended = filter(_is_ended, text.lines)
    kept = (line for line in ended if MeasuredText(text=line, language=text.language).words >= 5)
    return sum(max(1, len(_SENTENCE_END.findall(line))) for line in kept) >= 3


def c4_placeholder(text: MeasuredText) -> bool:
    """C4: no “lorem ipsum”."""
    return "lorem ipsum" not in text.text.lower()


def c4_bracket(text: MeasuredText) -> bool:
    """C4: no curly bracket, which is the sign of source code."""
    return "{" not in text.text


def fineweb_line_ends(text: MeasuredText) -> bool | None:
    """FineWeb: more than 12 % of the lines end with punctuation."""
    return None if text.ended_lines is None else text.ended_lines > 0.12


def fineweb_line_characters(text: MeasuredText) -> bool:
    """FineWeb: less than 10 % of the characters are in lines that occurred before."""
    return text.repeated_lines < 0.1


def fineweb_short_lines(text: MeasuredText) -> bool:
    """FineWeb: less than 67 % of the lines are shorter than 30 characters; in scripts without spaces, than 10."""
    most = _SHORT_UNSPACED_LINE if text.is_unspaced else _SHORT_LINE
    return share(text.lines, lambda line: len(line) < most) < 0.67


RULES: Mapping[str, Callable[[MeasuredText], bool | None]] = {
    "gopher-words": gopher_words,
    "gopher-word-length": gopher_word_length,
    "gopher-symbols": gopher_symbols,
    "gopher-bullets": gopher_bullets,
    "gopher-ellipses": gopher_ellipses,
    "gopher-letters": gopher_letters,
    "gopher-stop-words": gopher_stop_words,
    "gopher-lines": gopher_lines,
    "gopher-paragraphs": gopher_paragraphs,
    "gopher-line-characters": gopher_line_characters,
    "gopher-paragraph-characters": gopher_paragraph_characters,
    "gopher-top-ngrams": gopher_top_ngrams,
    "gopher-repeated-ngrams": gopher_repeated_ngrams,
    "c4-sentences": c4_sentences,
    "c4-placeholder": c4_placeholder,
    "c4-bracket": c4_bracket,
    "fineweb-line-ends": fineweb_line_ends,
    "fineweb-line-characters": fineweb_line_characters,
    "fineweb-short-lines": fineweb_short_lines,
}
"""The rules by name: whether a text passes, or None where the rule makes no sense in its language."""


def verdicts(text: MeasuredText) -> dict[str, bool]:
    """Return which of the rules that apply a text passes."""
    found = {name: passes(text) for name, passes in RULES.items()}
    return {name: verdict for name, verdict in found.items() if verdict is not None}
