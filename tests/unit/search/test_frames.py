"""Pages are compared by their main text, so another frame around it makes no other page."""

import pytest

from tests.unit.search.conftest import page
from thresher.errors import StoreError
from thresher.parsing import main_content


def test_pages_with_the_same_main_text_in_different_frames_are_alike(world):
    body = " ".join(f"word{number}" for number in range(60))
    frames = [" ".join(f"{site}{number}" for number in range(200)) for site in ("red", "blue")]
    world.keep(*(page(frame[:4], f"{frame} {body}", main=body) for frame in frames))
    assert len(world.find("word7")) == 1


def test_the_main_text_is_extracted_from_the_markup_when_it_is_indexed(world):
    body = " ".join(f"word{number}" for number in range(60))
    for site in ("red", "blue"):
        menu = "".join(f'<li><a href="/{number}">{site}{number}</a></li>' for number in range(200))
        markup = f"<html><body><ul>{menu}</ul><article><p>{body}</p></article></body></html>"
        frame = " ".join(f"{site}{number}" for number in range(200))
        world.keep(page(site, f"{frame} {body}", markup=markup))
    assert len(world.find("word7")) == 1


def test_no_main_text_is_extracted_of_a_page_that_was_fetched_again(world, monkeypatch):
    extracted = []
    extract = main_content.content_of_markup
    monkeypatch.setattr(
        main_content, "content_of_markup", lambda url, source: extracted.append(source) or extract(url, source)
    )
    world.keep(page("1", "old text", markup="old"), page("1", "new text", at=2.0, markup="new"))
    assert world.find("text") == ["1"]
    assert extracted == ["new"]


def test_damaged_markup_is_reported_with_its_file(world):
    world.keep(page("1", "tidal power", markup="<p>tidal power</p>"))
    world.writers["w1"]._db.execute("UPDATE page SET markup = x'00'")
    with pytest.raises(StoreError, match=r"w1\.db cannot be read: .*thresher verify --repair"):
        world.find("tidal")
