"""The flagship's tables: whose test topics, which figures."""

from bench.effectiveness.flagship import OURS, PARTS, measures
from thresher_lab.reports.comparisons import make_sections
from thresher_lab.simulation.topic_splits import split


def row(strategy, topic, percent, **more):
    task = {"web": "w", "topic": topic, "strategy": strategy, "seed_set": 0, "judge": "perfect", "pages": 300}
    found = {"seeds": 5, "parameters": {}, "targets": 20, "fetched": 300, "dead": 0, "harvest_rate": 0.1, "recall": 0.5}
    shown = {"percent_of_oracle": percent, "hr_at_r": 0.25, "pages_to_90pc": None, "relevant_hosts": 2}
    early = {"percent_of_oracle_60": percent / 2, "harvest_60": 0.2}
    return {**task, **found, **shown, **early, "curve": [], "oracle_curve": [], **more}


def test_all_topics_are_test_topics_and_many():
    topics = {(task.web, task.topic) for parts in PARTS.values() for part in parts for task in part.tasks()}
    assert len(topics) >= 40
    assert all(topic in split(web, "test") and topic not in split(web, "dev") for web, topic in topics)


def test_every_table_has_ours_in_it():
    assert all(OURS in part.strategies for parts in PARTS.values() for part in parts)


def test_the_lead_is_reported_with_its_interval_and_pages_to_a_share_with_who_got_there():
    rows = [row(OURS, topic, 60.0, pages_to_90pc=100) for topic in "abc"]
    rows += [row("fish", topic, 40.0, pages_to_90pc=200 if topic == "a" else None) for topic in "abc"]
    [section] = make_sections(rows, OURS)
    lines = list(measures(section))
    assert any(
        line.startswith("| thresher | 60.0 | 30.0 | 0.20 | 0.25 | 0.50 | 100 (3 of 3) | 2.0 |  |") for line in lines
    )
    assert any(
        "| fish | 40.0 | 20.0 | 0.20 | 0.25 | 0.50 | 200 (1 of 3) | 2.0 | +20.0 [+20.0, +20.0] |" in line
        for line in lines
    )
