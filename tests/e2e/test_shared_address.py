"""Many names, one server: where the user wants it, the server is asked one thing at a time."""

from testing.recording_server import page, recorder
from tests.faults.live import crawl

HOSTS = [f"h{n}.test" for n in range(3)]
SCRIPT = {
    host: {"/": page(host, f"solar cells {host}", ["/a"]), "/a": page(f"{host} a", f"cells {host}")} for host in HOSTS
}
DELAY = 0.2


def report_of(**politeness):
    with recorder(SCRIPT) as w:
        one_place = w.connect_to[f"{HOSTS[0]}:80"]
        network = {"connect_to": {f"{host}:80": one_place for host in HOSTS}}
        settings = {"politeness": {"delay_seconds": DELAY, **politeness}, "network": network}
        result = crawl(w, [w.url(host) for host in HOSTS], settings, seconds=60, workers=2)
        report = w.report(DELAY, by_address=True)
    assert result.exit_code == 0, result.stderr
    assert len(result.urls) == 2 * len(HOSTS)
    return report


def test_an_address_that_hosts_share_has_one_pause_for_all_of_them():
    report = report_of(serialize_by="ip")
    assert (report.open_at_once, report.violations) == (1, 0), report


def test_hosts_have_pauses_of_their_own_by_default():
    assert report_of().violations
