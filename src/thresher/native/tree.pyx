# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Does `parsing.dom.walk` on the nodes of lexbor itself, by the layout that selectolax publishes in ``lexbor.pxd``.

selectolax gives the address of a node (`LexborNode.mem_id`), but its functions are not exported. So the layout is
declared here, and `probe` compares it with what selectolax says about a small document before it is used. The range of
versions in ``pyproject.toml`` ends before the next major one.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uintptr_t


cdef struct Node:
    void* events
    uintptr_t local_name
    uintptr_t prefix
    uintptr_t ns
    void* owner_document
    Node* next
    Node* prev
    Node* parent
    Node* first_child
    Node* last_child
    void* user
    int type

cdef struct Text:
    unsigned char* data
    size_t length

cdef struct CharacterData:
    Node node
    Text data

cdef struct Attribute:
    Node node
    uintptr_t upper_name
    uintptr_t qualified_name
    Text* value
    Node* owner
    Attribute* next
    Attribute* prev

cdef struct Element:
    Node node
    uintptr_t upper_name
    uintptr_t qualified_name
    void* is_value
    Attribute* first_attribute
    Attribute* last_attribute

cdef enum:
    ELEMENT = 1
    TEXT = 3
    TAGS = 256
    INLINE = 0
    LINE = 1
    BLOCK = 2
    HEADING = 3
    HIDDEN = 4
    LINK = 5
    FRAME = 6
    IMAGE = 7
    NOSCRIPT = 8

cdef unsigned char kinds[TAGS]
cdef unsigned char is_inline[TAGS]
cdef uintptr_t text_tag, comment_tag, href_id, src_id, rel_id, alt_id, title_id
cdef list tag_names = [None] * TAGS
cdef object LinkElement, HeadingElement
cdef Py_ssize_t max_links, max_path


class NotSupported(Exception):
    """A document that the walk in Python must read."""


def probe(list mem_ids, str text):
    """Compare the layout with a document ``<div><p>text</p><a href=1 src=2 rel=3 alt=4 title=5></a></div>``.

    Args:
        mem_ids: Of div, p, the text and a.

    Returns:
        The ids of the attributes; None when the layout is another one.
    """
    cdef Node* div = <Node*><uintptr_t>mem_ids[0]
    cdef Node* p = <Node*><uintptr_t>mem_ids[1]
    cdef Node* inner = <Node*><uintptr_t>mem_ids[2]
    cdef Node* a = <Node*><uintptr_t>mem_ids[3]
    if div.first_child != p or div.last_child != a or p.next != a or a.prev != p or p.parent != div:
        return None
    if p.first_child != inner or inner.parent != p or inner.next != NULL or a.first_child != NULL:
        return None
    if div.type != ELEMENT or inner.type != TEXT or inner.owner_document != div.owner_document:
        return None
    cdef Text* data = &(<CharacterData*>inner).data
    if data.length != <size_t>len(text) or data.data == NULL or data.data[:data.length] != text.encode():
        return None
    cdef Attribute* attribute = (<Element*>a).first_attribute
    cdef list ids = []
    cdef int place
    for place in range(5):
        if attribute == NULL or attribute.owner != a or attribute.node.owner_document != a.owner_document:
            return None
        if attribute.value == NULL or attribute.value.length != 1 or attribute.value.data[0] != 49 + place:
            return None
        ids.append(attribute.node.local_name)
        attribute = attribute.next
    return ids if attribute == NULL and len(set(ids)) == 5 else None


def prepare(dict kind_of, inline, dict names, tags, attributes, classes, limits):
    """Set the tables: kinds of elements by tag id, names of elements, ids, the two classes, limits."""
    global text_tag, comment_tag, href_id, src_id, rel_id, alt_id, title_id, LinkElement, HeadingElement
    global max_links, max_path
    cdef int tag
    for tag in range(TAGS):
        kinds[tag] = kind_of.get(tag, LINE)
        is_inline[tag] = tag in inline
        tag_names[tag] = names.get(tag)
    text_tag, comment_tag = tags
    href_id, src_id, rel_id, alt_id, title_id = attributes
    LinkElement, HeadingElement = classes
    max_links, max_path = limits


cdef str value_of(Node* node, uintptr_t name):
    cdef Attribute* attribute = (<Element*>node).first_attribute
    while attribute != NULL:
        if attribute.node.local_name == name and attribute.node.prefix == 0:
            if attribute.value == NULL or attribute.value.data == NULL or attribute.value.length == 0:
                return None
            return PyUnicode_DecodeUTF8(<char*>attribute.value.data, attribute.value.length, "replace")
        attribute = attribute.next
    return None


cdef bint is_no_address(str target):
    """Return whether `dom._add_link` looks for the address of a link in other attributes."""
    return not target or target.startswith("#") or target.startswith("javascript:")


cdef str name_of(Node* node):
    cdef str name = tag_names[node.local_name] if node.local_name < TAGS else None
    if name is None or (<Element*>node).qualified_name != 0:
        raise NotSupported
    return name


cdef str path_of(Node* node, dict paths):
    """Return the path of the elements around the children of a node, each with a slash after it."""
    cdef uintptr_t key = <uintptr_t>node
    known = paths.get(key)
    if known is not None:
        return known
    cdef list climbed = []
    cdef Node* up = node
    cdef str path = ""
    while up != NULL and up.parent != NULL:  # the document has no parent
        known = paths.get(<uintptr_t>up)
        if known is not None:
            path = known
            break
        climbed.append(<uintptr_t>up)
        up = up.parent
    cdef uintptr_t each
    for each in reversed(climbed):
        if path.count("/") < max_path - 1:
            path += name_of(<Node*>each) + "/"
        paths[each] = path
    return path


def walk(uintptr_t root_id, found, dict other_targets):
    """Do `dom.walk`.

    Args:
        root_id: The address of the document's root.
        found: An empty `Walk`.
        other_targets: Addresses that links have in other attributes, by the element.

    Returns:
        The addresses of the elements for browsers without scripts.

    Raises:
        NotSupported: The walk in Python must read the document; `found` is of no use.
    """
    cdef Node* root = <Node*>root_id
    cdef Node* node = root
    cdef list pieces = found.pieces, blocks = found.blocks, outer_blocks = found.outer_blocks
    cdef list headings = found.headings, links = found.links, waiting = found.waiting
    cdef list block = blocks[0], own
    cdef list stack = [], noscripts = []
    cdef dict paths = {}
    cdef tuple place = (0, block, None, None, 0), inside
    cdef uintptr_t line = 0, tag
    cdef int kind
    cdef Py_ssize_t here, within, number, end
    cdef Text* data
    cdef unsigned char first
    cdef str text, target
    cdef object link, heading, above
    while True:
        tag, inside = node.local_name, None
        if tag == text_tag and node.type == TEXT:
            data = &(<CharacterData*>node).data
            if data.data == NULL:
                raise NotSupported
            text = PyUnicode_DecodeUTF8(<char*>data.data, data.length, "replace")
            first = data.data[0] if data.length else 0
            if (first <= 32 or first > 126) and text.isspace():
                pieces.append(" ")
                block.append(" ")
            elif place is not None:
                if <uintptr_t>place[0] != line:
                    line, block = place[0], place[1]
                    pieces.append(" ")
                    block.append(" ")
                pieces.append(text)
                block.append(text)
                link, heading = place[2], place[3]
                if link is not None or heading is not None or waiting:
                    own, number, end = place[1], place[4], len(pieces)
                    if heading is not None:
                        heading.end = end
                        if number == heading.block:
                            heading.block_end = len(own)
                    else:
                        for above in waiting:
                            above.next_block, above.next_start = number, len(own) - 1
                        waiting.clear()
                    if link is not None:
                        link.end = end
                        if own is link.block:
                            link.block_end = len(own)
        elif node.type == ELEMENT:
            inside = place
            if place is not None:
                kind = kinds[tag] if tag < TAGS else LINE
                if kind == LINE:
                    inside = (<uintptr_t>node, place[1], place[2], place[3], place[4])
                elif kind == BLOCK:
                    own = []
                    blocks.append(own)
                    outer_blocks.append(place[4])
                    inside = (<uintptr_t>node, own, place[2], place[3], len(blocks) - 1)
                elif kind == HEADING:
                    here, within, number = len(pieces), len(<list>place[1]), place[4]
                    heading = HeadingElement(here, here, number, within, within, number, within)
                    headings.append(heading)
                    waiting.append(heading)
                    inside = (<uintptr_t>node, place[1], place[2], heading, number)
                elif kind == HIDDEN:
                    inside = None
                elif kind == NOSCRIPT:
                    noscripts.append(<uintptr_t>node)
                    inside = None
                elif kind == LINK or kind == FRAME:
                    target = value_of(node, href_id if kind == LINK else src_id)
                    link = None
                    if other_targets and kind == LINK and is_no_address(target):
                        target = other_targets.get(<uintptr_t>node, target)
                    if target and not target.startswith("#") and len(links) < max_links:
                        here, within = len(pieces), len(<list>place[1])
                        attributes = {"rel": value_of(node, rel_id), "alt": value_of(node, alt_id),
                                      "title": value_of(node, title_id)}
                        link = LinkElement(None, attributes, target, here, here, place[1], place[4], within, within,
                                           len(headings), place[3], "", path_of(node.parent, paths) + name_of(node))
                        links.append(link)
                    if kind == FRAME:
                        inside = None
                    elif link is not None:
                        inside = (place[0], place[1], link, place[3], place[4])
                elif kind == IMAGE:
                    link = place[2]
                    if link is not None and not link.picture:
                        link.picture = value_of(node, alt_id) or ""
                if kind != INLINE and not (tag < TAGS and is_inline[tag]):
                    line = 0
        elif tag != comment_tag:
            raise NotSupported
        if node.first_child != NULL:
            stack.append(place)
            place, node = inside, node.first_child
            continue
        while node != root and node.next == NULL:
            node = node.parent
            if stack:
                place = stack.pop()
        if node == root:
            return noscripts
        node = node.next
