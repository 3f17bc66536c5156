"""What a crawl learns again, where it can."""

import logging
from types import SimpleNamespace

from thresher.records import ParsedPage
from thresher_papers.judges.trained import learner
from thresher_papers.strategies.layers.relearn import Relearner


def test_without_scikit_learn_layers_stay_as_they_are_and_the_log_says_why(monkeypatch, caplog):
    monkeypatch.setattr(learner, "find_spec", lambda _: None)
    model = SimpleNamespace(N=2)
    page = ParsedPage(url="http://a.example/", text="solar cells")
    with caplog.at_level(logging.INFO):
        assert Relearner(1).add_page(page, model, target=True) is model
    assert (
        'layers stay as they are: learning again needs scikit-learn: pip install "thresher-crawler[learn]"'
        in caplog.text
    )
