"""Whatever the collection calls relevant, at once or later, has its text."""

import pytest

from tests.unit.pipeline.test_pipeline import SEED, World
from thresher.pipeline.outcomes import MIN_RELEVANCE
from thresher.records import Judgement


class Fixed:
    """A judge that does not learn, and gives every page the same chance."""

    def __init__(self, chance, *, final):
        self.judgement = Judgement(relevance=chance, relevant=False, reward=0.0, final=final)

    def judge(self, page):
        return self.judgement

    def words(self, page):
        return []


class Unsure(Fixed):
    """A judge that learns, and gives every page the same chance."""

    def vector(self, page):
        return b""

    def judge_vector(self, url, language, vector):
        return self.judgement

    def learn(self, page, *, seed=False):
        return []

    def teach(self, reported):
        return []

    def remembers(self, url):
        return False

    def load_state(self, state_store):
        pass

    def save_state(self):
        pass


async def text_by(judge):
    world = World(judge=judge)
    await world.pipeline.seed([SEED])
    return (await world.fetch("<p>tea</p>")).text


@pytest.mark.parametrize("chance", [0.0, 0.4])
async def test_text_is_kept_as_long_as_the_judge_knows_little(chance):
    assert await text_by(Unsure(chance, final=False)) == "tea"


async def test_text_is_kept_of_pages_that_a_second_thought_may_call_relevant():
    assert await text_by(Unsure(MIN_RELEVANCE + 0.01, final=True)) == "tea"


async def test_text_is_not_kept_of_pages_that_are_out_of_the_question():
    assert await text_by(Unsure(MIN_RELEVANCE, final=True)) == ""


async def test_a_judge_that_does_not_learn_has_no_doubtful_pages():
    assert await text_by(Fixed(0.4, final=True)) == ""
