"""Reports of the ten experiments, from rows written by hand."""

import pytest

from tests.unit.lab.reproduce.rows import row
from thresher.errors import ConfigError
from thresher_lab.reproduce import ablations, fcmrps, itfidf, layers, lpe, timing, url_tokens
from thresher_lab.reproduce.claims import Verdict
from thresher_lab.reproduce.experiments import EXPERIMENTS, chosen, report
from thresher_lab.reproduce.tables import reproduction_page, written
from thresher_lab.statistics.result_rows import add_rows

FOUR = {"breadth-first": (1, 2), "shark (form=fcmrps)": (2, 4), "best-first (D=3)": (3, 6), "fcmrps": (4, 8)}


def four(web="wikispeedia", order=FOUR, **more):
    return [row(name, topic, web=web, labels=labels, **more) for name, labels in order.items() for topic in ("x", "y")]


def verdicts(made):
    return [finding.verdict for finding in made.findings]


def test_there_are_ten_experiments_and_all_of_them():
    assert chosen(["all"]) == [f"E{number}" for number in range(1, 11)] == list(EXPERIMENTS)
    assert chosen(["e10", "E2"]) == ["E2", "E10"]


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(ConfigError, match="E11"):
        chosen(["E11"])


def test_without_rows_an_experiment_says_how_to_make_them(tmp_path):
    made = report("E7", tmp_path)
    assert made.title == "not available"
    assert "thresher lab reproduce E7" in made.notes[0]


def test_trouble_stands_in_the_notes(tmp_path):
    assert report("E8", tmp_path, ["not available: strategy lpe"]).notes[0] == "not available: strategy lpe"


def test_e1_holds_when_the_curves_lie_as_in_the_paper():
    made = fcmrps.e1_report(four())
    assert verdicts(made) == [Verdict.HOLDS, Verdict.HOLDS]
    strategy, precision, ratio, *_ = made.tables[0].rows[-1]
    assert (strategy, precision, ratio) == ("fcmrps", "40.0 [40.0, 40.0]", 4.0)


def test_e1_shows_the_crawlers_that_were_run_and_judges_no_order_without_the_others():
    made = fcmrps.e1_report(four(order={"best-first (D=3)": (3, 6), "fcmrps": (4, 8)}))
    assert [line[:3] for line in made.tables[0].rows] == [
        ["best-first (D=3)", "30.0 [30.0, 30.0]", None],
        ["fcmrps", "40.0 [40.0, 40.0]", None],
    ]
    assert [finding.reason for finding in made.findings] == ["no rows of shark (form=fcmrps), breadth-first"] * 2


def test_e1_tells_languages_apart():
    made = fcmrps.e1_report([*four(), *four("nankai_zh+section")])
    assert [table.title.split(" ")[0] for table in made.tables[::2]] == ["English", "Chinese"]


def test_labels_that_are_urls_prove_nothing():
    made = fcmrps.e1_report(four("w3school_zh"))
    assert [" by text" in table.title for table in made.tables[::2]] == [True, False]
    assert "circular" in made.tables[2].title
    assert all("circular" not in finding.claim for finding in made.findings)


def test_e2_shares_never_add_up_to_more_than_all():
    made = url_tokens.e2_report(four())
    _, relevant, Rat, Ract, Ra, inclusive, *_ = made.tables[0].rows[0]
    assert (relevant, Rat, Ract, Ra, inclusive) == (8, 25, 50, 75, 75)


def test_e2_does_not_hold_where_all_crawlers_are_alike():
    found = url_tokens.e2_report(four()).findings[0]
    assert (found.verdict, found.reason) == (Verdict.FAILS, "highest Rat: all alike, Ract: all alike, Ra: all alike")


def test_e3_asks_whether_urls_add_more_in_chinese():
    english = four(order={"best-first (D=3)": (1, 2), "fcmrps (use=13)": (2, 3)})
    chinese = four("nankai_zh+section", order={"best-first (D=3)": (1, 2), "fcmrps (use=13)": (4, 8)})
    assert ablations.e3_report([*english, *chinese]).findings[-1].verdict == Verdict.HOLDS
    assert ablations.e3_report(english).findings[-1].verdict == Verdict.UNTESTABLE


def test_e4_and_e5_judge_the_order_of_three():
    order = {"fcmrps": (4, 8), "fcmrps (use=124)": (3, 6), "best-first (D=3)": (2, 4)}
    assert verdicts(ablations.e4_report(four(order=order))) == [Verdict.HOLDS]
    alone = {"fcmrps (use=2)": (4, 8), "fcmrps (use=1)": (3, 6), "fcmrps (use=3)": (2, 4)}
    assert verdicts(ablations.e5_report(four(order=alone))) == [Verdict.FAILS]


SILENT = {"relevant": 8, "own": 0, "only_context": 0, "context": 0}


def silent(rows):
    """The same crawls on a web whose URLs say nothing about topics."""
    return [{**each, "urls": dict.fromkeys(each["urls"], SILENT)} for each in rows]


def test_where_urls_spell_no_topic_url_evidence_is_not_tested():
    order = {"fcmrps": (4, 8), "fcmrps (use=124)": (3, 6), "best-first (D=3)": (2, 4)}
    assert verdicts(ablations.e4_report(silent(four(order=order)))) == [Verdict.UNTESTABLE]
    assert set(verdicts(url_tokens.e2_report(silent(four())))) == {Verdict.UNTESTABLE}
    signs = {"fcmrps (use=1)": (4, 8), "fcmrps (use=3)": (3, 6), "fcmrps (use=2)": (2, 4)}
    assert verdicts(ablations.e5_report(silent(four(order=signs)))) == [Verdict.UNTESTABLE]


def test_generated_webs_show_a_claim_as_the_taxonomy_grows_stronger():
    weak = {**FOUR, "fcmrps": (1, 2)}
    rows = [*four("generated-en-10000", order=weak), *four("generated-en-10000-taxonomy100"), *four()]
    made = fcmrps.e1_report(rows)
    assert [line[:3] for line in made.tables[-1].rows] == [
        ["generated-en-10000", "0%", 2],
        ["generated-en-10000-taxonomy100", "100%", 2],
    ]
    assert [line[-2] for line in made.tables[-1].rows] == ["-20.0 [-20.0, -20.0]", "+10.0 [+10.0, +10.0]"]
    assert verdicts(made)[::2] == [Verdict.HOLDS, Verdict.FAILS, Verdict.HOLDS]


def test_e2_shows_directories_beside_crawls():
    entries = {"relevant": 100, "own": 30, "only_context": 12, "context": 20}
    chance = {**entries, "own": 2, "only_context": 1}
    directory = {"directory": "D", "levels": 3, **entries, "by_chance": chance}
    made = url_tokens.e2_report([directory, *four()])
    assert made.tables[0].rows == [["D", 100, 30, 12, 42, 3]]
    [filed, *_] = made.findings
    assert (filed.claim, filed.place, filed.verdict) == (url_tokens.DIRECTORY_CLAIM, "D", Verdict.IN_PART)


def test_e2_compares_filed_urls_with_the_pages_of_breadth_first_and_crawls_with_those_of_fcmrps():
    entries = {"relevant": 100, "own": 65, "only_context": 0, "context": 0}
    directory = {"directory": "D", "levels": 1, **entries, "by_chance": dict.fromkeys(entries, 0)}
    filed, _, spelled = url_tokens.e2_report([directory, *four()]).findings
    assert (filed.verdict, spelled.verdict) == (Verdict.HOLDS, Verdict.IN_PART)  # 65 of 80 %, 75 of 96 %


def test_e2_is_not_testable_where_urls_spell_labels_by_chance_or_as_they_were_generated():
    entries = {"relevant": 1000, "own": 9, "only_context": 0, "context": 0}
    directory = {"directory": "D", "levels": 1, **entries, "by_chance": dict.fromkeys(entries, 0)}
    assert url_tokens.e2_report([directory]).findings[0].verdict == Verdict.UNTESTABLE
    hardly = {**SILENT, "relevant": 1000, "own": 5}
    random = [{**each, "urls": dict.fromkeys(each["urls"], hardly)} for each in four()]
    assert set(verdicts(url_tokens.e2_report(random))) == {Verdict.UNTESTABLE}
    assert verdicts(url_tokens.e2_report(four("generated-en-10000-taxonomy100")))[1] == Verdict.UNTESTABLE


def test_e2_reports_on_the_crawls_of_e1(tmp_path):
    add_rows(tmp_path / "E1.jsonl", four())
    assert report("E2", tmp_path).tables[0].title.startswith("English topics (wikispeedia)")


def test_e8_keeps_the_papers_classifier_apart_from_true_verdicts():
    order = dict.fromkeys((*lpe.SIX, *lpe.TUNED), (1, 2))
    made = lpe.e8_report([*four(order=order), *four(order=order, judge="itfidf", collected=4)])
    assert [table.title.partition(", ")[2] for table in made.tables[::2]] == [
        "true verdicts, 2 topics",
        "judge itfidf, 2 topics",
    ]
    assert [table.rows[0][-2:] for table in made.tables[::2]] == [[10, 20], [4, 50]]


def test_e8_shows_lpe_without_dropping_where_it_was_run():
    order = dict.fromkeys((*lpe.SIX, *lpe.TUNED), (1, 2))
    assert lpe.DEMOTING not in [line[0] for line in lpe.e8_report(four(order=order)).tables[0].rows]
    made = lpe.e8_report(four(order=order | {lpe.DEMOTING: (2, 4)}))
    assert made.tables[0].rows[-1][0] == lpe.DEMOTING


def test_e6_compares_with_breadth_first_in_the_same_run():
    rows = [
        *four(order={name: (1, 1) for name in FOUR if name != "fcmrps"}),
        *four(order={"fcmrps": (1, 1)}, ms_per_page=3.0),
    ]
    made = timing.e6_report(rows)
    assert made.tables[0].rows[-1][2] == "1.50 [1.50, 1.50]"
    assert verdicts(made) == [Verdict.IN_PART, Verdict.HOLDS]


def test_e7_holds_where_every_corpus_gains():
    f1 = {"TFIDF": [0.5, 0.6], "TFIDF x mean IG": [0.6, 0.7], "TFIDF, tuned": [0.7, 0.7]}
    f1 |= {"ITFIDF": [0.6, 0.7], "ITFIDF, tuned": [0.6, 0.6]}
    made = itfidf.e7_report([{"corpus": "reuters", "f1": f1}])
    assert verdicts(made) == [Verdict.HOLDS, Verdict.FAILS, Verdict.UNTESTABLE]
    assert made.tables[0].rows[0][2] == "+10.0 [+10.0, +10.0]"


def test_e7_does_not_hold_where_most_corpora_lose():
    gains = {"reuters": 0.1, "newsgroups-a": -0.1, "newsgroups-b": -0.1}
    base = {key: [0.5, 0.5] for key in ("TFIDF", "TFIDF x mean IG", "TFIDF, tuned", "ITFIDF, tuned")}
    rows = [{"corpus": name, "f1": base | {"ITFIDF": [0.5 + gain] * 2}} for name, gain in gains.items()]
    assert verdicts(itfidf.e7_report(rows))[0] == Verdict.FAILS


def test_e2_judges_no_order_without_all_four_crawlers():
    found = url_tokens.e2_report(four(order={"best-first (D=3)": (3, 6), "fcmrps": (4, 8)})).findings[0]
    assert (found.verdict, found.reason) == (Verdict.UNTESTABLE, "no rows of breadth-first, shark (form=fcmrps)")


def test_e8_does_not_reward_who_stops_early():
    order = {name: (place + 1, 2 * place + 2) for place, name in enumerate(lpe.SIX)}
    order |= dict.fromkeys(lpe.TUNED, (1, 1))
    rows = four(order=order)
    assert lpe.e8_report(rows).findings[0].verdict == Verdict.HOLDS
    dry = [
        {**each, "fetched": 1, "portions": {**each["portions"], "labels": [1, 1]}}
        for each in rows
        if each["strategy"] == "lpe"
    ]
    others = [each for each in rows if each["strategy"] != "lpe"]
    made = lpe.e8_report([*others, *dry])
    assert made.findings[0].verdict == Verdict.FAILS
    assert next(line for line in made.tables[0].rows if line[0] == "lpe")[1] == "1.00 [1.00, 1.00]"


def test_e9_looks_at_the_ranks_of_the_paper():
    ranking = {"1": [1, 1], "501": [30, 40], "1003": [40, 40]}
    order = {"layers": (3, 6), "context-graph": (2, 4), "breadth-first": (1, 2)}
    made = layers.e9_report(four(order=order, ranking=ranking))
    assert verdicts(made) == [Verdict.HOLDS, Verdict.IN_PART]
    assert made.tables[1].rows[1][-1] == 75


def test_the_page_says_of_each_claim_where_it_holds_and_where_not_and_why(tmp_path):
    causes = {fcmrps.CLAIM.format("precision"): "Its links say more."}
    page = reproduction_page([fcmrps.e1_report([*four(), *four("nankai_zh+section")]), report("E7", tmp_path)], causes)
    assert "Of 2 claims of the papers 2 hold on every web where they can be tested. 0 hold on some webs" in page
    assert (
        "by precision**\n\n- holds: wikispeedia (7.5 ×); nankai_zh+section (7.5 ×)\n- why: Its links say more.\n"
        in page
    )
    assert "## E7: not available" in page


def test_figures_are_written_for_people():
    assert [written(cell) for cell in (None, 1234, 0.5, "×")] == ["", "1,234", "0.50", "×"]
