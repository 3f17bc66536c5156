"""A web with planted links: everything tells solar pages from tea pages, their hosts, their URLs, words and tags."""

from tests.unit.lab.small_web import SmallWeb
from thresher.topics.profile import TopicProfile
from thresher_lab.webs.virtualweb import WebPage

TOPIC = "energy/solar"
AIM = TopicProfile(vectors={"en": {"solar": 1.0}}, phrases=["solar"])
HUBS, SOLAR, TEA, JUNK = 15, 5, 12, 8
SEED = "http://sun.example/solar/hub0"


class PlantedWeb(SmallWeb):
    """Links to solar pages stand in lists, all others in paragraphs."""

    def get(self, url: str) -> WebPage | None:
        if url not in self._pages:
            return None
        topics, words, links = self._pages[url]
        html = f"<html><head><title>{words}</title></head><body>{''.join(map(_markup, links))}</body></html>"
        return WebPage(url=url, title=words, language="en", topics=tuple(topics), html=html)


def _markup(url: str) -> str:
    if "/solar/" in url:
        return f'<ul><li><a href="{url}">solar power</a> from panels</li></ul>'
    return f'<table><tr><td><p>a cup of <a href="{url}">green tea</a></p></td></tr></table>'


def planted_web() -> PlantedWeb:
    """Each hub leads to solar and to tea pages; a solar page leads on to the next hub, a tea page to more tea.

    The first tea page of a hub leads on to the next hub too: it is irrelevant, but one link away from the topic.
    """
    pages = {}
    for hub in range(HUBS):
        solar = [f"http://sun.example/solar/{hub}/cell{number}" for number in range(SOLAR)]
        tea = [f"http://cup.example/tea/{hub}/leaf{number}" for number in range(TEA)]
        pages[f"http://sun.example/solar/hub{hub}"] = ([TOPIC], f"solar hub {hub}", [*tea, *solar])
        following = f"http://sun.example/solar/hub{(hub + 1) % HUBS}"
        pages |= {url: ([TOPIC], f"solar cell {url}", [*tea[:2], following]) for url in solar}
        for url in tea:
            junk = [f"{url}/pot{number}" for number in range(JUNK)]
            pages[url] = (["food"], f"tea leaf {url}", [*junk, following] if url == tea[0] else junk)
            pages |= {pot: (["food"], f"tea pot {pot}", []) for pot in junk}
    return PlantedWeb(pages)
