"""Names of URLs, compared with the titles of judged pages by word vectors."""

import numpy as np
import pytest

from thresher.strategies.link_model.term_model import NAME_FEATURES, NameModel, TermModel
from thresher.text.word_vectors import load_word_vectors

ON = ["volcano", "lava", "volcanic eruption", "magma"]
OFF = ["string quartet", "opera singer", "violin concerto", "tax law", "football club", "parliament", "novel", "bread"]
OTHERS = ["river", "city", "painter", "train", "king", "war", "algebra", "protein", "island", "tennis", "bird", "ship"]


class Names:
    """A model of names with some examples."""

    def __init__(self, *, phrase="", table=True):
        self.words = TermModel()
        self.model = NameModel(load_word_vectors() if table else None, self.words, phrase)

    def vectors(self, *texts):
        return np.concatenate([self.model.embed(self.words.of([text])[0][None, :]) for text in texts])

    def learn(self, on=ON, off=OFF, *, seeds=()):
        for key, (title, relevance) in enumerate([*((t, 1.0) for t in on), *((t, 0.0) for t in off)]):
            self.model.add(key, self.vectors(title)[0], relevance, is_seed=title in seeds)
        self.model.estimate_spread(self.vectors(*ON, *OFF, *OTHERS).astype(np.float16))
        self.model.fit()
        return self

    def feature(self, name, *texts):
        features = self.model.features(self.vectors(*texts).astype(np.float16))
        return features[:, NAME_FEATURES.index(name)].tolist()


def test_names_similar_to_relevant_titles_are_on_the_right_side_of_the_discriminant():
    similar, other = Names().learn().feature("vec_line", "geyser and hot spring", "piano sonata")
    assert similar > 0.5 > 0 > other


def test_names_near_relevant_titles_and_names_near_others_have_features_of_their_own():
    names = Names().learn()
    near_similar, near_other = names.feature("vec_near", "pumice", "cello")
    far_similar, far_other = names.feature("vec_far", "pumice", "cello")
    assert near_similar > near_other
    assert far_other > far_similar


def test_the_phrase_and_the_seeds_have_features_of_their_own():
    names = Names(phrase="classical music").learn(seeds=("volcano",))
    assert np.argmax(names.feature("vec_phrase", "cello", "lava")) == 0
    assert np.argmax(names.feature("vec_seeds", "cello", "lava")) == 1


def test_features_are_standardised_over_known_names():
    features = Names().learn().feature("vec_line", *ON, *OFF, *OTHERS)
    assert np.mean(features) == pytest.approx(0.0, abs=0.1)
    assert np.std(features) == pytest.approx(1.0, abs=0.1)


def test_a_name_without_a_known_word_has_no_features():
    assert Names().learn().feature("vec_near", "qwxyz 海豹") == [0.0]


@pytest.mark.parametrize("names", [Names(), Names().learn(on=()), Names(table=False).learn()])
def test_without_a_table_or_relevant_pages_all_features_are_0(names):
    assert not names.model.features(names.vectors("lava", "cello").astype(np.float16)).any()


def test_a_revised_verdict_moves_the_names():
    names = Names().learn()
    before = names.feature("vec_line", "cello", "lava")
    for key in range(len(ON)):
        names.model.revise(key, 0.0)
    for key in range(3):
        names.model.revise(len(ON) + key, 1.0)
    names.model.fit()
    after = names.feature("vec_line", "cello", "lava")
    assert before[0] < before[1]
    assert after[0] > after[1]


def test_examples_are_restored():
    names, again = Names().learn(seeds=("volcano",)), Names()
    again.model.restore(names.model.state())
    again.learn(on=(), off=())
    for name in NAME_FEATURES:
        assert again.feature(name, "pumice", "cello") == pytest.approx(names.feature(name, "pumice", "cello"), abs=0.02)


def test_the_state_of_a_version_without_names_is_read():
    names = Names()
    names.model.restore({})
    assert not names.model.state()["name_keys"].size


def test_memory_for_examples_is_bounded():
    names = Names()
    vector = names.vectors("lava")[0]
    for key in range(5_000):
        names.model.add(key, vector, float(key % 2))
    assert len(names.model.state()["name_keys"]) == 512
