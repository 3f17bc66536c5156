"""XML is read as events, without entities, within limits."""

import pytest

from thresher.parsing.xml_events import XmlFlaw, cut, read_xml


def events(source, *, max_depth=5, encoding=None):
    found = []
    read_xml(
        cut(source),
        start=lambda name, attributes: found.append((name, attributes)),
        end=lambda name: found.append(f"/{name}"),
        text=found.append,
        max_depth=max_depth,
        encoding=encoding,
    )
    return found


def test_elements_attributes_and_text_come_in_order_without_prefixes():
    assert events(b'<a:b c:d="1">x<e/></a:b>') == [("b", {"d": "1"}), "x", ("e", {}), "/e", "/b"]


def test_another_encoding_replaces_the_declared_one():
    source = '<?xml version="1.0" encoding="gb2312"?><a>太阳</a>'.encode()
    assert events(source, encoding="utf-8")[1] == "太阳"


@pytest.mark.parametrize(
    ("source", "flaw"),
    [
        (b"<a", "not XML"),
        (b"<a></b>", "not XML"),
        (b"<a>" * 6, "nested too deeply"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares a document type"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "declares a document type"),
        (b'<?xml version="1.0" encoding="no-such"?><a/>', "not XML"),
    ],
)
def test_a_flaw_is_named(source, flaw):
    with pytest.raises(XmlFlaw, match=flaw):
        events(source)
