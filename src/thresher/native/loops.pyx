# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loops of `thresher.native`; see there. Arrays come in with the types of their owners, and are not checked."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.math cimport sqrt, sqrtf
from libc.stdint cimport int32_t, int64_t, int8_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    str PyUnicode_DecodeASCII(const char* text, Py_ssize_t size, const char* errors)

cdef object numpy = None


cdef object _numpy():
    global numpy
    if numpy is None:  # a command that only counts words does not need it
        import numpy as imported
        numpy = imported
    return numpy


cdef enum:
    BLANK = 32
    STEM_BITS = 17
    NO_TERM = 0
    END = -1
    OTHER = -2

cdef bytes PADDING = b" " * 8
cdef uint64_t FACTOR = 0x9E3779B97F4A7C15ULL


cdef inline uint64_t mixed(uint64_t value) noexcept nogil:
    value = value * FACTOR
    return (value ^ (value >> 29)) * FACTOR


cdef inline uint64_t first_bytes(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """Return up to eight bytes as an integer; eight bytes must be readable."""
    cdef uint64_t value
    memcpy(&value, at, 8)
    return value if size >= 8 else value & ((<uint64_t>1 << 8 * size) - 1)


cdef uint64_t hash_of(const uint8_t* word, Py_ssize_t size) noexcept nogil:
    """Return the hash of `thresher.text.term_ids.find_words`; words of up to eight bytes never collide."""
    cdef uint64_t hashed = mixed(first_bytes(word, size))
    cdef Py_ssize_t done = 8
    if size > 8:
        hashed ^= <uint64_t>size
        while size > done and done < 64:
            hashed = mixed(hashed ^ first_bytes(word + done, size - done))
            done += 8
    return hashed


cdef struct Stem:
    uint64_t hashed
    int32_t size
    int32_t number     # of its term, from 0; -1 for a word that is no term
    uint8_t* word


cdef class WordCounter:
    """Counts the terms of texts, and remembers the term of each word.

    Args:
        term_of: Returns the term of a lower-case ASCII word; empty for one that is no term.
        most: How many words are remembered; then it starts again.
    """

    cdef Stem* slots
    cdef object term_of
    cdef list terms
    cdef dict numbers
    cdef int32_t* counts
    cdef int32_t* order
    cdef Py_ssize_t room, most, words

    def __cinit__(self, term_of, Py_ssize_t most):
        self.slots = <Stem*>calloc(1 << STEM_BITS, sizeof(Stem))
        self.room = 1 << 12
        self.counts = <int32_t*>calloc(self.room, sizeof(int32_t))
        self.order = <int32_t*>malloc(self.room * sizeof(int32_t))
        if self.slots == NULL or self.counts == NULL or self.order == NULL:
            raise MemoryError
        self.term_of, self.most, self.words = term_of, min(most, 1 << (STEM_BITS - 1)), 0
        self.terms, self.numbers = [], {}

    def __dealloc__(self):
        self._clear()
        free(self.slots)
        free(self.counts)
        free(self.order)

    cdef void _clear(self) noexcept:
        cdef Py_ssize_t slot
        for slot in range(1 << STEM_BITS):
            if self.slots[slot].word != NULL:
                free(self.slots[slot].word)
        memset(self.slots, 0, (1 << STEM_BITS) * sizeof(Stem))
        self.words = 0

    cdef int32_t _number(self, const uint8_t* word, Py_ssize_t size) except -2:
        """Return the number of a word's term, or -1."""
        cdef uint64_t hashed = hash_of(word, size)
        cdef Py_ssize_t slot = hashed >> (64 - STEM_BITS)
        cdef Stem* stem
        while self.slots[slot].word != NULL:
            stem = &self.slots[slot]
            if stem.hashed == hashed and stem.size == size and (size <= 8 or memcmp(stem.word, word, size) == 0):
                return stem.number
            slot = (slot + 1) & ((1 << STEM_BITS) - 1)
        return self._remember(slot, hashed, word, size)

    cdef int32_t _remember(self, Py_ssize_t slot, uint64_t hashed, const uint8_t* word, Py_ssize_t size) except -2:
        cdef str term = self.term_of(PyBytes_FromStringAndSize(<const char*>word, size))
        cdef int32_t number = -1
        if self.words >= self.most:  # one text may have more words than there are slots
            self._clear()
            slot = hashed >> (64 - STEM_BITS)
        cdef uint8_t* copied = <uint8_t*>malloc(size)
        if copied == NULL:
            raise MemoryError
        memcpy(copied, word, size)
        if term:
            number = self.numbers.setdefault(term, len(self.terms))
            if number == len(self.terms):
                self.terms.append(term)
                if number >= self.room:
                    self._grow()
        self.slots[slot] = Stem(hashed=hashed, size=size, number=number, word=copied)
        self.words += 1
        return number

    cdef int _grow(self) except -1:
        cdef int32_t* counts = <int32_t*>realloc(self.counts, 2 * self.room * sizeof(int32_t))
        if counts == NULL:
            raise MemoryError
        self.counts = counts
        memset(counts + self.room, 0, self.room * sizeof(int32_t))
        cdef int32_t* order = <int32_t*>realloc(self.order, 2 * self.room * sizeof(int32_t))
        if order == NULL:
            raise MemoryError
        self.order = order
        self.room *= 2
        return 0

    def count(self, bytes text):
        """Count the terms of the ASCII words of a text, in the order of their first occurrence.

        Args:
            text: Words in lower case, separated by blanks.

        Returns:
            The counts, and the words that are not all ASCII, joined by blanks.
        """
        cdef bytes padded = text + PADDING
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(padded)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(text)
        cdef const uint8_t* start
        cdef uint8_t bits
        cdef Py_ssize_t found = 0, place
        cdef int32_t number
        cdef list others = []
        if len(self.terms) > self.most:
            self._clear()
            self.terms, self.numbers = [], {}
        try:
            while at < end:
                if at[0] == BLANK:
                    at += 1
                    continue
                start, bits = at, 0
                while at < end and at[0] != BLANK:
                    bits |= at[0]
                    at += 1
                if bits > 127:
                    others.append(PyBytes_FromStringAndSize(<const char*>start, at - start))
                    continue
                number = self._number(start, at - start)
                if number >= 0:
                    if self.counts[number] == 0:
                        self.order[found] = number
                        found += 1
                    self.counts[number] += 1
            counts = {self.terms[self.order[place]]: self.counts[self.order[place]] for place in range(found)}
        finally:
            for place in range(found):
                self.counts[self.order[place]] = 0
        return counts, b" ".join(others)


    def adjacent(self, bytes text, dict words):
        """Return the wanted terms of a text that stand beside each other, as pairs of words, in order.

        Args:
            text: As for `count`; all ASCII.
            words: From the wanted terms to the words that they stand for.
        """
        cdef bytes padded = text + PADDING
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(padded)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(text)
        cdef const uint8_t* start
        cdef int32_t number
        cdef list pairs = []
        cdef object before = None, word
        cdef set wanted = {self.numbers[term] for term in words if term in self.numbers}
        cdef Py_ssize_t known = len(self.terms)
        cdef uint8_t* is_wanted = <uint8_t*>calloc(known + 1, 1)
        if is_wanted == NULL:
            raise MemoryError
        try:
            for number in wanted:
                is_wanted[number] = 1
            while at < end:
                if at[0] == BLANK:
                    at += 1
                    continue
                start = at
                while at < end and at[0] != BLANK:
                    at += 1
                number = self._number(start, at - start)
                if number < 0:
                    continue  # no term: those beside it are adjacent
                word = words.get(self.terms[number]) if number >= known or is_wanted[number] else None
                if before is not None and word is not None:
                    pairs.append((before, word))
                before = word
        finally:
            free(is_wanted)
        return pairs


def number_words(bytes text, uint64_t[::1] hashes, int64_t[::1] remembered, int slot_shift, number_word):
    """Do `TermNumbers._look_up` for words; words of other scripts have the number -2 and are listed.

    Returns:
        The number of each word, and the words of other scripts.
    """
    cdef bytes padded = text + PADDING
    cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(padded)
    cdef const uint8_t* end = at + PyBytes_GET_SIZE(text)
    cdef const uint8_t* start
    cdef Py_ssize_t found = 0, slot
    cdef uint64_t hashed
    cdef int64_t number
    cdef list others = []
    array = _numpy().empty(PyBytes_GET_SIZE(text) // 2 + 1, dtype="i8")
    cdef int64_t[::1] numbers = array
    while at < end:
        if at[0] == BLANK:
            at += 1
            continue
        start = at
        while at < end and at[0] != BLANK:
            at += 1
        hashed = hash_of(start, at - start)
        slot = hashed >> slot_shift
        if hashes[slot] == hashed:
            number = remembered[slot]
        else:
            number = number_word(PyBytes_FromStringAndSize(<const char*>start, at - start))
            hashes[slot], remembered[slot] = hashed, number
        if number == OTHER:
            others.append(PyBytes_FromStringAndSize(<const char*>start, at - start))
        numbers[found] = number
        found += 1
    return array[:found], others


def split_by_text(int64_t[::1] numbers):
    """Return the numbers of terms, and the index of the text of each; a text ends with -1."""
    cdef Py_ssize_t size = numbers.shape[0], place, found = 0
    cdef int64_t text = 0
    terms_array, texts_array = _numpy().empty(size, dtype="i8"), _numpy().empty(size, dtype="i8")
    cdef int64_t[::1] terms = terms_array, texts = texts_array
    for place in range(size):
        if numbers[place] > NO_TERM:
            terms[found], texts[found] = numbers[place], text
            found += 1
        elif numbers[place] == END:
            text += 1
    return terms_array[:found], texts_array[:found]


def rows_of(int64_t[::1] words, int64_t[::1] at, int64_t[::1] widths):
    """Do `term_model.rows_of`."""
    cdef Py_ssize_t place, before, width = 0, row, filled
    for row in range(widths.shape[0]):
        width = max(width, widths[row])
    array = _numpy().zeros((widths.shape[0], width), dtype="i4")
    cdef int32_t[:, ::1] rows = array
    row, filled = -1, 0
    for place in range(words.shape[0]):
        if at[place] != row:
            row, filled = at[place], 0
        if filled >= widths[row]:
            continue
        for before in range(filled):
            if rows[row, before] == words[place]:
                break
        else:
            rows[row, filled] = <int32_t>words[place]
            filled += 1
    return array


def similarities(int64_t[::1] numbers, int64_t[::1] at, Py_ssize_t texts, is_topic, double[:, ::1] topics):
    """Do `LinkTable._similarities`: the cosine of each second text and the topic."""
    cdef uint8_t[::1] of_topic = is_topic.view("u1")
    array = _numpy().zeros(texts)
    cdef double[::1] cosines = array
    cdef Py_ssize_t place = 0, first, size = numbers.shape[0], found, k, topic
    cdef double length, product, best
    cdef bint is_selected
    cdef int64_t* words = <int64_t*>malloc((size + 1) * sizeof(int64_t))
    cdef double* counts = <double*>malloc((size + 1) * sizeof(double))
    if words == NULL or counts == NULL:
        free(words)
        free(counts)
        raise MemoryError
    try:
        while place < size:
            first, is_selected = place, False
            while place < size and at[place] == at[first]:
                is_selected |= of_topic[numbers[place]]
                place += 1
            if not is_selected or at[first] % 2:
                continue
            found, length, best = _sorted_counts(numbers, first, place, words, counts), 0.0, 0.0
            for k in range(found):
                length += counts[k] * counts[k]
            for topic in range(topics.shape[0]):
                product = 0.0
                for k in range(found):
                    product += counts[k] * topics[topic, words[k]]
                best = max(best, product)
            length = sqrt(length)
            cosines[at[first]] = best / (length if length > 1 else 1.0)
    finally:
        free(words)
        free(counts)
    return array


cdef Py_ssize_t _sorted_counts(
    int64_t[::1] numbers, Py_ssize_t first, Py_ssize_t end, int64_t* words, double* counts
) noexcept:
    """Write the distinct words of a text in ascending order, and their counts; return how many there are."""
    cdef Py_ssize_t found = 0, place, k, low
    cdef int64_t word
    for place in range(first, end):
        word, low = numbers[place], found
        while low > 0 and words[low - 1] > word:
            low -= 1
        if low > 0 and words[low - 1] == word:
            counts[low - 1] += 1
            continue
        for k in range(found, low, -1):
            words[k], counts[k] = words[k - 1], counts[k - 1]
        words[low], counts[low] = word, 1.0
        found += 1
    return found


def term_features(float[:, ::1] table, int32_t[:, :] ids):
    """Do `TermModel.features` for one kind of words: the sum of weights over the root of their number, and means."""
    cdef Py_ssize_t row, place, k, width = table.shape[1]
    cdef float many, root
    array = _numpy().zeros((ids.shape[0], width), dtype="f4")
    cdef float[:, ::1] combined = array
    for row in range(ids.shape[0]):
        many = 0
        for place in range(ids.shape[1]):
            if ids[row, place]:
                many += 1
                for k in range(width):
                    combined[row, k] += table[ids[row, place], k]
        if many > 1:
            root = sqrtf(many)
            combined[row, 0] /= root
            for k in range(1, width):
                combined[row, k] /= many
    return array


def embed(int8_t[:, ::1] vectors, float[::1] scales, int32_t[:, ::1] rows):
    """Return the weighted sum of the vectors of each line of rows; `WordVectors.embed` scales it to length 1."""
    cdef Py_ssize_t line, place, k, width = vectors.shape[1]
    cdef float scale
    cdef int32_t row
    array = _numpy().zeros((rows.shape[0], width), dtype="f4")
    cdef float[:, ::1] summed = array
    for line in range(rows.shape[0]):
        for place in range(rows.shape[1]):
            row = rows[line, place]
            if row:
                scale = scales[row]
                for k in range(width):
                    summed[line, k] += vectors[row, k] * scale
    return array


def places_of(list urls, directory_of, dict numbers, number, slow):
    """Do `SiteRates.of` for some URLs.

    Args:
        urls: The URLs.
        directory_of: Returns the `UrlDirectory` of the part before the last slash.
        numbers: The numbers of known places, by name.
        number: Returns the number of a new place, by its name and the number above it.
        slow: Returns the places of a URL; for those with a query, years, keys or other scripts.

    Returns:
        The places of each URL; how many slashes are in its path; whether it has a query.
    """
    cdef Py_ssize_t url_at, size, slash, query, place, hexadecimal, digits, count = len(urls), depth, end
    cdef str url, name, pattern
    cdef Py_UCS4 character
    cdef bint is_plain, has_digit
    places_array, depths_array = _numpy().empty((count, 4), dtype="i4"), _numpy().empty(count, dtype="f4")
    queries_array = _numpy().empty(count, dtype="f4")
    cdef int32_t[:, ::1] places = places_array
    cdef float[::1] depths = depths_array, queries = queries_array
    for url_at in range(count):
        url = urls[url_at]
        size, slash, query, depth = len(url), -1, -1, -3  # two slashes before the host, one after it
        for place in range(size):
            character = url[place]
            if character == u"/" and query < 0:
                slash = place
            elif character == u"?" and query < 0:
                query = place
        end = size
        while end > 0 and url[end - 1] == u"/":
            end -= 1
        for place in range(end):
            depth += url[place] == u"/"
        depths[url_at], queries[url_at] = max(depth, 0), query >= 0
        is_plain, has_digit, hexadecimal, digits = query < 0 and slash > 7, False, 0, 0
        for place in range(slash + 1, size if is_plain else slash + 1):
            character = url[place]
            if character > 127:
                is_plain = False
                break
            if u"0" <= character <= u"9":
                has_digit = True
                digits += 1
                if digits == 4 and (url[place - 3] == u"1" and url[place - 2] == u"9"
                                    or url[place - 3] == u"2" and url[place - 2] <= u"1"):
                    is_plain = False  # a year
                    break
            else:
                digits = 0
            if (u"0" <= character <= u"9" or u"a" <= character <= u"f" or u"A" <= character <= u"F"
                    or character == u"-"):
                hexadecimal += 1
                if hexadecimal == 8:
                    is_plain = False  # a key
                    break
            else:
                hexadecimal = 0
        if is_plain:
            around = directory_of(url[:slash])
            is_plain = not around.varies_much
        if not is_plain:
            places[url_at, 0], places[url_at, 1], places[url_at, 2], places[url_at, 3] = slow(url)
            continue
        places[url_at, 0], places[url_at, 1], places[url_at, 2] = around.numbers
        places[url_at, 3] = places[url_at, 1]
        if has_digit or around.varies:
            pattern = around.pattern + _without_digits(url[slash + 1 :])
            known = numbers.get(pattern)
            places[url_at, 3] = number(pattern, places[url_at, 1]) if known is None else known
    return places_array, depths_array, queries_array


cdef str _without_digits(str name):
    """Replace each run of ASCII digits by ``#``."""
    cdef list kept = []
    cdef Py_ssize_t place, start = 0
    cdef bint is_digit, was_digit = False
    for place in range(len(name)):
        is_digit = u"0" <= name[place] <= u"9"
        if is_digit and not was_digit:
            kept.append(name[start:place] + "#")
        elif was_digit and not is_digit:
            start = place
        was_digit = is_digit
    if not was_digit:
        kept.append(name[start:])
    return "".join(kept)


def connect(
    dict urls, dict links, Py_ssize_t first, int64_t[::1] children, Py_ssize_t most_parents, double[::1] kernel
):
    """Do the part of `LinkTable._connect` that concerns single links; `first` is the row of the first.

    Returns:
        How many children are fetched, and the sum of their relevance.
    """
    cdef int32_t[::1] parents = urls["parents"], known = urls["known"]
    cdef int32_t[:, ::1] to = urls["to"]
    cdef float[:, ::1] sums = urls["facts"], facts = links["facts"]
    cdef float[::1] anchor = urls["anchor"], relevance = urls["relevance"]
    cdef float[::1] near = links["near"], near_success = links["near_success"]
    cdef uint8_t[::1] fetched = urls["fetched"].view("u1"), kept = links["kept"].view("u1")
    cdef Py_ssize_t place, other, child, row, k, size = children.shape[0], reach = kernel.shape[0] // 2
    cdef double tried = 0.0, succeeded = 0.0, weight, done, success
    for place in range(size):
        if fetched[children[place]]:
            tried += 1
            succeeded += relevance[children[place]]
    for place in range(size):
        child, row = children[place], first + place
        if tried:
            done = success = 0.0
            for other in range(max(0, place - reach), min(size, place + reach + 1)):
                if fetched[children[other]]:
                    weight = kernel[place - other + reach]
                    done += weight
                    success += weight * relevance[children[other]]
            near[row], near_success[row] = done, success
        parents[child] += 1
        kept[row] = known[child] < most_parents
        if kept[row]:
            to[child, known[child]] = row
            known[child] += 1
            for k in range(facts.shape[1]):
                sums[child, k] += facts[row, k]
            anchor[child] = max(anchor[child], facts[row, 0])
    return tried, succeeded


def link_texts(links, Py_ssize_t anchor_characters, Py_ssize_t context_characters, Py_ssize_t most_ending, end_of):
    """Return the texts of links, four of each, in the order of `link_table.TEXTS`."""
    cdef list texts = []
    cdef str anchor, context, heading
    for link in links:
        anchor, context, heading = link.anchor, link.context, link.heading
        texts.append(anchor if len(anchor) <= anchor_characters else anchor[:anchor_characters])
        texts.append(_end_of(link.url, most_ending, end_of))
        texts.append(context if len(context) <= context_characters else context[:context_characters])
        texts.append(heading if len(heading) <= anchor_characters else heading[:anchor_characters])
    return texts


cdef str _end_of(str url, Py_ssize_t most_ending, slow):
    """Do `term_model.end_of`."""
    cdef Py_ssize_t size = url.find("?"), last, before
    cdef str end
    if size < 0:
        size = len(url)
    last = url.rfind("/", 0, size)
    before = url.rfind("/", 0, last) if last > 0 else -1
    if before < 0:
        return slow(url)
    end = url[last + 1 : size] if last == before + 1 else f"{url[before + 1 : last]} {url[last + 1 : size]}"
    last = end.rfind(".")
    if last >= 0 and len(end) - last - 1 <= most_ending:
        end = end[:last]
    return slow(url) if "%" in end else end


def links_to(int32_t[:, ::1] to, int32_t[::1] known, int64_t[::1] numbers):
    """Do `LinkTable.all_links_to`."""
    cdef Py_ssize_t url, place, number, found = 0
    for url in range(numbers.shape[0]):
        found += known[numbers[url]]
    rows_array, at_array = _numpy().empty(found, dtype="i8"), _numpy().empty(found, dtype="i8")
    cdef int64_t[::1] rows = rows_array, at = at_array
    found = 0
    for url in range(numbers.shape[0]):
        number = numbers[url]
        for place in range(known[number]):
            rows[found], at[found] = to[number, place], url
            found += 1
    return rows_array, at_array


def link_sums(
    int64_t[::1] rows, int64_t[:] at, Py_ssize_t size, dict links, dict urls, float[::1] focus,
    double[::1] path, double rate, double trust,
):
    """Sum the features of links over the URLs they lead to, as `model.link_sums` does.

    Returns:
        Twelve rows: their number; sums of relevance, siblings, promise, focus, path, near, near_success and tries;
        maxima of relevance, siblings and promise.
    """
    cdef int32_t[::1] page_of = links["page"]
    cdef float[::1] near = links["near"], near_success = links["near_success"]
    cdef float[::1] relevance = urls["relevance"], promise = urls["promise"]
    cdef float[::1] tries = urls["tries"], successes = urls["successes"]
    array = _numpy().zeros((12, size))
    cdef double[:, ::1] summed = array
    summed[9:12, :] = -1e300
    cdef Py_ssize_t k, row, to, page
    cdef float siblings, level = <float>(trust * rate), prior = <float>trust
    for k in range(rows.shape[0]):
        row, to = rows[k], at[k]
        page = page_of[row]
        siblings = (successes[page] + level) / (tries[page] + prior)
        summed[0, to] += 1
        summed[1, to] += relevance[page]
        summed[2, to] += siblings
        summed[3, to] += promise[page]
        summed[4, to] += focus[k]
        summed[5, to] += path[k]
        summed[6, to] += near[row]
        summed[7, to] += near_success[row]
        summed[8, to] += tries[page]
        summed[9, to] = max(summed[9, to], relevance[page])
        summed[10, to] = max(summed[10, to], siblings)
        summed[11, to] = max(summed[11, to], promise[page])
    return array


def place_rates(int32_t[:, :] places, double[::1] tries, double[::1] successes, double rate, double kappa):
    """Return the shrunk success rates of the domain, host, directory and template of URLs, a row for each kind."""
    cdef Py_ssize_t k, size = places.shape[0]
    array = _numpy().empty((4, size))
    cdef double[:, ::1] rates = array
    for k in range(size):
        rates[0, k] = (successes[places[k, 0]] + kappa * rate) / (tries[places[k, 0]] + kappa)
        rates[1, k] = (successes[places[k, 1]] + kappa * rates[0, k]) / (tries[places[k, 1]] + kappa)
        rates[2, k] = (successes[places[k, 2]] + kappa * rates[1, k]) / (tries[places[k, 2]] + kappa)
        rates[3, k] = (successes[places[k, 3]] + kappa * rates[1, k]) / (tries[places[k, 3]] + kappa)
    return array


def nearest(float[:, :] products, float[::1] lengths, Py_ssize_t start, Py_ssize_t end):
    """Return the mean of the three largest cosines of each row, among the columns from `start` to `end`."""
    cdef Py_ssize_t row, column
    cdef float a, b, c, value
    array = _numpy().empty(products.shape[0], dtype="f4")
    cdef float[::1] means = array
    for row in range(products.shape[0]):
        a = b = c = <float>-1e30  # in ascending order
        for column in range(start, end):
            value = products[row, column]
            if value > a:
                if value > b:
                    a = b
                    if value > c:
                        b, c = c, value
                    else:
                        b = value
                else:
                    a = value
        means[row] = (a / lengths[row] + b / lengths[row] + c / lengths[row]) / 3
    return array


cdef inline bint is_blank(uint8_t character) noexcept nogil:
    """Return whether `str.split` splits at an ASCII character."""
    return character == 32 or 9 <= character <= 13 or 28 <= character <= 31


cdef str _folded(str text):
    """Collapse the white space of a text: ``" ".join(text.split())``."""
    cdef Py_ssize_t size = 0, place, kept = 0
    cdef const uint8_t* read
    cdef uint8_t* written
    cdef bint was_blank = True
    if not text.isascii():
        return " ".join(text.split())
    read = <const uint8_t*>PyUnicode_AsUTF8AndSize(text, &size)
    written = <uint8_t*>malloc(size + 1)
    if written == NULL:
        raise MemoryError
    for place in range(size):
        if not is_blank(read[place]):
            written[kept] = read[place]
            kept, was_blank = kept + 1, False
        elif not was_blank:
            written[kept] = BLANK
            kept, was_blank = kept + 1, True
    if kept and was_blank:
        kept -= 1
    try:
        return PyUnicode_DecodeASCII(<const char*>written, kept, NULL)
    finally:
        free(written)


def folded(list pieces, Py_ssize_t start, Py_ssize_t end):
    """Do `Walk.text`: join some pieces of text, and collapse their white space."""
    if end - start == 1:
        return _folded(pieces[start])
    return _folded("".join(pieces[start:end]))


def ascii_context(list block, Py_ssize_t start, Py_ssize_t end, Py_ssize_t pieces, Py_ssize_t characters, int tokens):
    """Do `html._context` where all characters around a link are ASCII; return None where they are not."""
    cdef str before = "".join(block[max(0, start - pieces) : start])[-characters:]
    cdef str after = "".join(block[end : end + pieces])[:characters]
    if not before.isascii() or not after.isascii():
        return None
    cdef Py_ssize_t size = 0, place, found = 0
    cdef const uint8_t* text = <const uint8_t*>PyUnicode_AsUTF8AndSize(before, &size)
    place = size
    while place > 0 and found < tokens:
        while place > 0 and is_blank(text[place - 1]):
            place -= 1
        found += place > 0
        while place > 0 and not is_blank(text[place - 1]):
            place -= 1
    before = before[place:]
    text, found, place = <const uint8_t*>PyUnicode_AsUTF8AndSize(after, &size), 0, 0
    while place < size and found < tokens:
        while place < size and is_blank(text[place]):
            place += 1
        found += place < size
        while place < size and not is_blank(text[place]):
            place += 1
    return _folded(f"{before} {after[:place]}")


def find_pairs(str text, uint8_t[::1] unspaced, uint8_t[::1] function):
    """Do `bigrams.find_pairs`: return positions and bigrams of unspaced scripts, in order."""
    cdef Py_ssize_t size = len(text), place, found = 0
    places_array, pairs_array = _numpy().empty(size, dtype="i8"), _numpy().empty(size, dtype="u8")
    cdef int64_t[::1] places = places_array
    cdef uint64_t[::1] pairs = pairs_array
    cdef Py_UCS4 character, following
    cdef bint is_before = False, is_here = size > 0 and unspaced[<Py_ssize_t>text[0]], is_next
    for place in range(size):
        is_next = place + 1 < size and unspaced[<Py_ssize_t>text[place + 1]]
        if is_here and (is_next or not is_before):
            character, following = text[place], text[place + 1] if is_next else 0
            if not (function[<Py_ssize_t>character] and function[<Py_ssize_t>following]):
                places[found], pairs[found] = place, <uint64_t>character | (<uint64_t>following << 32)
                found += 1
        is_before, is_here = is_here, is_next
    return places_array[:found], pairs_array[:found]
