from hypothesis import given, settings
from hypothesis import strategies as st

from testing.recording_server.site import Site, address_of_host
from testing.recording_server.words import TOPIC_WORDS

sites = st.builds(
    Site,
    pages=st.integers(20, 400),
    hosts=st.integers(1, 20),
    links=st.integers(2, 30),
    skew=st.sampled_from([1.0, 3.0]),
    seed=st.integers(0, 9),
)


def reachable_within(site: Site, hops: int) -> set[int]:
    found = newest = {0}
    for _ in range(hops):
        newest = {target for page in newest for target in site.links_of(page)} - found
        found = found | newest
    return found


@settings(max_examples=40, deadline=None)
@given(site=sites)
def test_every_page_is_reachable_from_the_seed(site):
    assert reachable_within(site, hops=400) == set(range(site.pages))


def test_the_seed_is_only_a_few_hops_away():
    assert len(reachable_within(Site(pages=20_000, hosts=200), hops=7)) == 20_000


@settings(max_examples=40, deadline=None)
@given(site=sites)
def test_every_page_has_a_key_of_its_own_and_every_host_a_page(site):
    assert len(site.keys()) == site.pages
    assert set(site.host_numbers) == set(range(site.hosts))
    assert all(site.page_numbers[site.key(page)] == page for page in range(site.pages))


def test_a_page_has_as_many_distinct_links_as_asked_for():
    site = Site(pages=500, hosts=10, links=60)
    assert all(len(set(site.links_of(page))) == 60 for page in range(site.pages))


def test_the_html_has_the_links_and_the_size():
    site = Site(pages=500, hosts=10, links=12, page_bytes=8000)
    html = site.render(7, 8080).decode()
    assert [html.find(f'href="{site.url(page, 8080)}"') > 0 for page in site.links_of(7)] == [True] * 12
    assert 8000 <= len(html) < 9000


def test_only_pages_on_topic_speak_of_it():
    site = Site(pages=200, hosts=5, topic_share=0.3)
    texts = [site.render(page, 80).decode().split("<p>See", 1)[0] for page in range(site.pages)]
    assert [any(word in text for word in TOPIC_WORDS) for text in texts] == site.on_topic
    assert 30 < sum(site.on_topic) < 90


def test_the_same_numbers_make_the_same_site():
    one, other = Site(pages=300, hosts=7, seed=3), Site(pages=300, hosts=7, seed=3)
    assert one.keys() == other.keys()
    assert one.render(250, 80) == other.render(250, 80)
    assert one.render(250, 80) != Site(pages=300, hosts=7, seed=4).render(250, 80)


def test_skew_crowds_the_first_hosts():
    even, skewed = Site(pages=4000, hosts=40), Site(pages=4000, hosts=40, skew=3)
    assert even.host_numbers.count(0) < 150
    assert skewed.host_numbers.count(0) > 800


def test_hosts_are_loopback_addresses_and_leave_out_the_control_address():
    assert [address_of_host(host) for host in (0, 252, 253, 1000)] == [
        "127.0.0.2",
        "127.0.0.254",
        "127.0.1.2",
        "127.0.3.243",
    ]
