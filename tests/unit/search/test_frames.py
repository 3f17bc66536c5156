"""Pages are compared by their main text, so another frame around it makes no other page."""

from tests.unit.search.conftest import page


def test_pages_with_the_same_main_text_in_different_frames_are_alike(world):
    body = " ".join(f"word{number}" for number in range(60))
    frames = [" ".join(f"{site}{number}" for number in range(200)) for site in ("red", "blue")]
    world.keep(*(page(frame[:4], f"{frame} {body}", main=body) for frame in frames))
    assert len(world.find("word7")) == 1
