"""Dashboard and alerts speak of figures that workers really have."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.unit.deploy.files import ROOT, json_of, yaml_of
from thresher.monitoring.prometheus import WorkerMetrics

DASHBOARD = json_of("grafana/dashboards/thresher.json")
RULES = [rule for group in yaml_of("alerts.yml")["groups"] for rule in group["rules"]]
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
EXPRESSIONS = [*QUERIES, *(rule["expr"] for rule in RULES)]


def families():
    """Return every family of figures, with each of the store's operations used once."""
    figures = WorkerMetrics(crawl="solar", worker="w1")
    figures.store_seconds("lease")
    figures.store_errors("lease")
    return list(figures.registry.collect())


def series():
    """Return every name that is exported, with the labels that it has."""
    return {sample.name: set(sample.labels) for family in families() for sample in family.samples}


def names_in(expression):
    return set(re.findall(r"\b(?:thresher|process)_[a-z_]+", expression))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_figure_that_is_asked_for_is_exported(expression):
    names = names_in(expression)
    assert names or "up{" in expression
    assert names <= series().keys()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_label_that_is_asked_for_is_there(expression):
    exported = series()
    for name, labels in re.findall(r"\b((?:thresher|process)_[a-z_]+)\{([^}]*)\}", expression):
        assert set(re.findall(r"(\w+)=", labels)) <= exported[name] | {"job", "instance"}
    kept = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    had = set().union(*(exported[name] for name in names_in(expression)), {"job", "instance"})
    assert kept <= had


def test_all_figures_of_ours_are_shown():
    shown = set().union(*map(names_in, QUERIES))
    ours = {family.name for family in families() if family.name.startswith("thresher_")}
    assert {name for name in ours if not any(one.startswith(name) for one in shown)} == set()


def test_panels_have_numbers_of_their_own_and_do_not_overlap():
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_every_panel_says_what_it_shows():
    assert all(panel["title"] and panel["description"].endswith(".") for panel in DASHBOARD["panels"])


def test_the_dashboard_asks_the_source_that_is_provided():
    [source] = yaml_of("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    asked = {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]}
    asked |= {target["datasource"]["uid"] for panel in DASHBOARD["panels"] for target in panel["targets"]}
    assert asked == {source["uid"]}


def test_dashboards_are_looked_for_where_compose_puts_them():
    [provider] = yaml_of("grafana/provisioning/dashboards/thresher.yaml")["providers"]
    mounts = [mount.split(":")[:2] for mount in yaml_of("compose.yaml")["services"]["grafana"]["volumes"]]
    assert ["./grafana/dashboards", provider["options"]["path"]] in mounts


def test_every_alert_says_where_to_look():
    alerts = [rule for rule in RULES if "alert" in rule]
    assert all(rule["annotations"].keys() == {"summary", "look"} and rule["for"] for rule in alerts)


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool, of the package prometheus")
@pytest.mark.parametrize(
    ("ended", "minute", "fires"),
    [
        ("0x5 stale", 15, True),
        ("0x4 1 stale", 15, False),
        ("0x4 1 stale _x9 0x3 stale", 35, True),
        ("0x40", 15, False),
    ],
    ids=["killed", "ended", "continued and killed", "at work"],
)
def test_missing_workers_are_reported_unless_the_crawl_has_ended(tmp_path, ended, minute, fires):
    alert = {"exp_labels": {"severity": "page", "crawl": "solar"}}
    summary = "solar: no worker answers, and the crawl has not ended."
    [rule] = [rule for rule in RULES if rule.get("alert") == "NoWorkers"]
    alert["exp_annotations"] = {**rule["annotations"], "summary": summary}
    series = {"series": 'thresher_crawl_ended{crawl="solar", instance="w1"}', "values": ended}
    expected = {"eval_time": f"{minute}m", "alertname": "NoWorkers", "exp_alerts": [alert] if fires else []}
    test = {"interval": "1m", "input_series": [series], "alert_rule_test": [expected]}
    document = {"rule_files": [str(ROOT / "deploy" / "alerts.yml")], "tests": [test]}
    (tmp_path / "test.yml").write_text(yaml.safe_dump(document))
    ran = subprocess.run(["promtool", "test", "rules", tmp_path / "test.yml"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool, of the package prometheus")
@pytest.mark.parametrize(
    ("series", "fires"), [("up{job='node'}", True), ("thresher_crawl_ended{crawl='solar'}", False)]
)
def test_workers_that_never_came_are_reported_too(tmp_path, series, fires):
    [rule] = [rule for rule in RULES if rule.get("alert") == "NoWorkerYet"]
    alert = {"exp_labels": {"severity": "page"}, "exp_annotations": rule["annotations"]}
    expected = {"eval_time": "15m", "alertname": "NoWorkerYet", "exp_alerts": [alert] if fires else []}
    test = {"interval": "1m", "input_series": [{"series": series, "values": "1x20"}], "alert_rule_test": [expected]}
    document = {"rule_files": [str(ROOT / "deploy" / "alerts.yml")], "tests": [test]}
    (tmp_path / "test.yml").write_text(yaml.safe_dump(document))
    ran = subprocess.run(["promtool", "test", "rules", tmp_path / "test.yml"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_label_of_ours_comes_from_the_web():
    labels = set().union(*(names for name, names in series().items() if name.startswith("thresher_")))
    assert labels == {"crawl", "worker", "version", "outcome", "kind", "operation", "state", "le"}


def test_every_figure_that_a_page_of_ours_names_is_exported():
    exported = {name for family in families() for name in (family.name, f"{family.name}_total")}
    for page in (ROOT / "docs").glob("**/*.md"):
        named = set(re.findall(r"`(thresher_[a-z]+_[a-z_]+[a-z])`", page.read_text(encoding="utf-8")))
        assert {name for name in named if not name.startswith(("thresher_lab", "thresher_papers"))} <= exported, page
