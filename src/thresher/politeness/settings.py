"""The politeness of a crawl, in one value that everything that sends requests or follows links shares."""

from __future__ import annotations

import math
from dataclasses import dataclass

from thresher.config.schema import PolitenessConfig

TDMREP_FROM_PAGE = 10
"""Few hosts have a tdmrep.json, and many give fewer pages: so its requests are at most a tenth of those for pages."""


@dataclass(frozen=True, kw_only=True)
class Politeness:
    """How sites are treated.

    Args:
        contact: For site operators, sent with every request; without it, only own hosts are requested.
        delay_seconds: Minimum time between the end of one fetch from a host and the start of the next.
        max_crawl_delay_seconds: A host with a longer Crawl-delay is parked.
        per_address: Whether hosts with one address are fetched one at a time.
        obey_robots: Whether robots.txt is obeyed.
        obey_nofollow: Whether links and pages marked nofollow lead nowhere.
        obey_opt_outs: Whether pages with an AI opt-out are left out.
        tdmrep: Of which hosts tdmrep.json is read: auto, always or never.
    """

    contact: str = ""
    delay_seconds: float = 2.0
    max_crawl_delay_seconds: float = 60.0
    per_address: bool = False
    obey_robots: bool = True
    obey_nofollow: bool = True
    obey_opt_outs: bool = False
    tdmrep: str = "auto"

    @property
    def tdmrep_from_page(self) -> float:
        """The page of a host, counted from 1, before which its tdmrep.json is read; infinite for none."""
        automatic = TDMREP_FROM_PAGE if self.obey_opt_outs else math.inf
        return {"always": 1, "never": math.inf}.get(self.tdmrep, automatic)

    @classmethod
    def from_config(cls, config: PolitenessConfig) -> Politeness:
        """Return the politeness that topic.yaml asks for."""
        return cls(
            contact=config.contact,
            delay_seconds=config.delay_seconds,
            max_crawl_delay_seconds=config.max_crawl_delay_seconds,
            per_address=config.serialize_by == "ip",
            obey_robots=config.robots == "obey",
            obey_nofollow=config.nofollow == "obey",
            obey_opt_outs=config.ai_optout == "obey",
            tdmrep=config.tdmrep,
        )
