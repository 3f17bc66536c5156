"""XML from strangers, read as events within limits: no document type, no entities, bounded depth and size.

Only what the handlers keep is held in memory, so a large file needs no more than a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from xml.parsers import expat

PIECE_BYTES = 1 << 16


class XmlFlaw(Exception):
    """Why a file cannot be read to its end."""


def read_xml(
    pieces: Iterable[bytes],
    *,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
    max_depth: int,
    encoding: str | None = None,
) -> None:
    """Parse a file in pieces; the names of elements and attributes come without their prefixes, as written.

    Args:
        start: Called with the name and the attributes of an element.
        end: Called with its name.
        text: Called with its text, in pieces.
        max_depth: Nested elements at most.
        encoding: Replaces the declared encoding.

    Raises:
        XmlFlaw: It is not XML, is nested too deeply, or declares a document type; what came before was read.
    """
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    depth = 0

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > max_depth:
            raise XmlFlaw("nested too deeply")
        start(_local(name), {_local(key): value for key, value in attributes.items()})

    def finish(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(_local(name))

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, finish, text
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise XmlFlaw(f"not XML: {error}") from error
    except (ValueError, LookupError) as error:  # such as an unknown encoding
        raise XmlFlaw("not XML") from error


def cut(body: bytes) -> Iterable[bytes]:
    """Yield a file in pieces."""
    return (body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES))


def _refuse(*_: object) -> None:
    raise XmlFlaw("declares a document type")  # needed for entities only


def _local(name: str) -> str:
    return name.rpartition(":")[2]
