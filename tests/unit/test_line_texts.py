"""Whatever the collection calls relevant, at once or later, has its text."""

import pytest

from tests.unit.test_line import SEED, World
from thresher.line import LEAST_RELEVANCE
from thresher.records import Judgement


class Unsure:
    """A judge that learns, and gives every page the same chance."""

    def __init__(self, chance, *, final):
        self.judgement = Judgement(relevance=chance, relevant=False, reward=0.0, final=final)

    def judge(self, page):
        return self.judgement

    def words(self, page):
        return []

    def vector(self, page):
        return b""

    def judge_vector(self, url, language, vector):
        return self.judgement

    def learn(self, page, *, seed=False):
        return []

    def teach(self, told):
        return []

    def remembers(self, url):
        return False

    def keep_in(self, notebook):
        pass

    def write_down(self):
        pass


async def text_by(judge):
    world = World()
    world.line._judge = judge
    await world.line.seed([SEED])
    return (await world.fetch("<p>tea</p>")).text


@pytest.mark.parametrize("chance", [0.0, 0.4])
async def test_text_is_kept_as_long_as_the_judge_knows_little(chance):
    assert await text_by(Unsure(chance, final=False)) == "tea"


async def test_text_is_kept_of_pages_that_a_second_thought_may_call_relevant():
    assert await text_by(Unsure(LEAST_RELEVANCE + 0.01, final=True)) == "tea"


async def test_text_is_not_kept_of_pages_that_are_out_of_the_question():
    assert await text_by(Unsure(LEAST_RELEVANCE, final=True)) == ""


async def test_a_judge_that_never_thinks_again_has_no_doubtful_pages(world):
    world.line._judge = type("Settled", (), {"judge": Unsure(0.4, final=True).judge})()
    assert (await world.fetch("<p>tea</p>")).text == ""


@pytest.fixture
async def world():
    world = World()
    await world.line.seed([SEED])
    return world
