"""Make the table of stop words of the package: ``python -m bench.effectiveness.stop_word_table``.

Needs the package stopwordsiso (MIT), which contains the lists of stopwords-iso. English and Chinese have lists of their
own. Words are kept as the tokenizer splits them; phrases, numbers and words with signs inside are left out.
"""

from __future__ import annotations

import json
import re
from importlib import metadata, resources
from pathlib import Path

from thresher.text.languages import RECOGNISED
from thresher.text.stopwords import TABLE
from thresher.text.tokens import STEMMERS

BY_BIGRAMS = {"ja", "ko", "th", "zh"}
HEAD = """\
# Stop words, one line per language: its code, then the words in lower case.
# Source:   stopwordsiso {version} by Arthit Suriyawongkul, the lists of stopwords-iso by Gene Diaz.
# Licence:  MIT, Copyright (c) 2020 Gene Diaz:
#           Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
#           documentation files (the "Software"), to deal in the Software without restriction, including without
#           limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of
#           the Software, and to permit persons to whom the Software is furnished to do so, subject to the following
#           conditions: The above copyright notice and this permission notice shall be included in all copies or
#           substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
#           EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
#           PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
#           DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
#           CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
# Changes:  only languages that are recognised or stemmed; only single words of two letters or more.
# Script:   python -m bench.effectiveness.stop_word_table
"""


def words_of(words: list[str]) -> list[str]:
    """Return the words of a list that the tokenizer can return."""
    lower = {word.lower().replace("’", "'").strip("'") for word in words}
    return sorted(word for word in lower if re.fullmatch(r"[^\W\d_]{2,}", word))


def main() -> None:
    lists = json.loads(resources.files("stopwordsiso").joinpath("stopwords-iso.json").read_text(encoding="utf-8"))
    codes = sorted((RECOGNISED | STEMMERS.keys()) & lists.keys() - BY_BIGRAMS - {"en"})
    lines = [f"{code} {' '.join(words_of(lists[code]))}\n" for code in codes]
    Path(str(TABLE)).write_text(
        HEAD.format(version=metadata.version("stopwordsiso")) + "".join(lines), encoding="utf-8"
    )
    print(f"{len(lines)} languages, {Path(str(TABLE)).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
