"""What an experiment runs, and what the user may want otherwise."""

from thresher_lab.reproduce.plans import ExperimentOverrides, Ground, TrialSettings, pages_of, plan
from thresher_lab.simulation.comparison_plan import Contender

GROUNDS = [Ground(web="generated-en-600", topics=2, seed_sets=2), Ground(web="generated-zh-600", topics=1, pages=50)]
TERMS = TrialSettings(seeds=3, judge="cosine")


def test_every_strategy_has_every_topic_and_seed_set():
    trials = plan(GROUNDS, [Contender(strategy="lpe"), Contender(strategy="cbp")], TERMS, ExperimentOverrides())
    assert len(trials) == 2 * 2 * 2 + 2
    assert {trial.seeds for trial in trials} == {3}


def test_a_share_of_a_web_is_fetched_by_default_a_quarter():
    assert pages_of("generated-en-600", 0.05) == 30
    grounds = [GROUNDS[0], Ground(web="generated-en-800", topics=1, share=0.1)]
    trials = plan(grounds, [Contender(strategy="lpe")], TERMS, ExperimentOverrides())
    assert {trial.pages for trial in trials} == {150, 80}


def test_the_user_chooses_webs_topics_pages_and_seeds():
    choice = ExperimentOverrides(webs=["generated-en-800"], topics=["Arts/Music"], pages=20, seed_sets=3)
    trials = plan(GROUNDS, [Contender(strategy="lpe")], TERMS, choice)
    assert [(trial.web, trial.topic, trial.pages, trial.seed_set) for trial in trials] == [
        ("generated-en-800", "Arts/Music", 20, seed_set) for seed_set in range(3)
    ]
