"""The ranked dump of the layers."""

from thresher_lab.reproduce.ranking import ranked_hits


class Scorer:
    """Thinks that tea is a target."""

    def probabilities(self, counts):
        return {0: 0.9 if "tea" in counts else 0.1, 1: 0.1}


class Model:
    scorer = Scorer()


def test_pages_that_look_like_targets_come_first():
    found = [("coal", False)] * 9 + [("tea", True)]
    assert ranked_hits(Model, found, lambda text: 0.0) == {"1": [1, 1], "10": [1, 1]}


def test_ties_go_by_likeness():
    found = [("tea", False), ("tea leaf", True)]
    assert ranked_hits(Model, found, lambda text: float("leaf" in text)) == {"1": [1, 1]}


def test_there_are_at_best_as_many_targets_as_were_fetched():
    found = [("coal", True)] + [("tea", False)] * 9
    assert ranked_hits(Model, found, lambda text: 0.0) == {"1": [0, 1], "10": [1, 1]}
