"""The schema of topic.yaml as strict typed classes.

The descriptions are the documentation: `docs/reference/topic-yaml.md` is generated from them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from thresher import registry
from thresher.config.access import AccessConfig
from thresher.config.base import Language, Languages, OptionalVariableName, StrictConfig, VariableName
from thresher.config.frontier import FrontierConfig
from thresher.config.identity import AgentOrigin
from thresher.config.model_labels import ModelLabelsConfig
from thresher.errors import ConfigError
from thresher.locale.translation import _
from thresher.records import ONE_TOPIC
from thresher.text import OPEN

TopicName = Annotated[str, Field(pattern=r"^\w[\w-]*$", max_length=60)]


def _network(text: str) -> str:
    ipaddress.ip_network(text, strict=False)
    return text


Network = Annotated[str, AfterValidator(_network)]


class TaxonomyConfig(StrictConfig):
    """Nodes of a topic tree that the crawl is about."""

    file: str = Field(
        description="A file of `thresher topics import`, or a small taxonomy in YAML, relative to topic.yaml; "
        "or bundled, the taxonomy that ships with Thresher."
    )
    nodes: list[str] = Field(
        default=[],
        description="Paths of the wanted nodes, such as Science/Technology/Energy; with topics, each names its own.",
    )
    min_urls_per_class: int = Field(
        default=150,
        ge=1,
        description="Leaves with fewer example pages are merged into their parent where a judge needs classes.",
    )


class ExamplesConfig(StrictConfig):
    """Pages that are, and are not, about the topic."""

    yes: list[str] = Field(default=[], description="URLs of pages about the topic.")
    no: list[str] = Field(default=[], description="URLs of pages that look like it and are not.")


class TopicConfig(StrictConfig):
    """One of several topics of a crawl."""

    title: dict[Language, str] = Field(default={}, description="The topic as a phrase, by language.")
    keywords: list[str] = Field(default=[], description="Words and phrases of the topic.")
    nodes: list[str] = Field(default=[], description="Paths of its nodes in the taxonomy of the crawl.")
    seeds: list[str] = Field(
        default=[],
        description="URLs of pages about the topic, or files of URLs beside topic.yaml; the seeds of the crawl belong "
        "to no topic.",
    )
    pages: int | None = Field(
        default=None,
        ge=1,
        description="Relevant pages wanted; then no more are sought. The run ends when every topic has its pages.",
    )


class NamedConfig(BaseModel):
    """A part chosen by name, with its own parameters beside the name."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    name: str = Field(description="Its registered name; every further key is a parameter of it.")

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys beside the name."""
        return dict(self.model_extra or {})


class ScopeConfig(StrictConfig):
    """Which URLs may be fetched."""

    allow_hosts: list[str] = Field(default=[], description="Host patterns to stay within; empty means the whole web.")
    deny_hosts: list[str] = Field(
        default=[], description='Host patterns that are never fetched from, such as "*.facebook.com".'
    )
    max_pages_per_host: int = Field(default=1000, ge=1, description="Pages fetched from one host before it is parked.")
    first_pages_per_host: int | None = Field(
        default=50,
        ge=1,
        description="Pages fetched from one host while none of them is relevant; null for no limit.",
    )
    pages_per_relevant: int = Field(
        default=20, ge=0, description="Additional pages per host for each relevant one, up to max_pages_per_host."
    )
    traps: Literal["leave", "follow"] = Field(
        default="leave",
        description="Whether crawler traps, which generate endless pages, are skipped or followed.",
    )
    block_pages: Literal["skip", "keep"] = Field(
        default="skip",
        description="Whether challenge, consent, login, paywall, parking and error pages with status 200 are detected "
        "and skipped, or kept like other pages.",
    )
    max_depth: int = Field(default=12, ge=0, description="Maximum number of links from a seed.")


class StopConfig(StrictConfig):
    """When a run stops: at the first limit that is reached."""

    pages: int | None = Field(default=None, ge=1, description="Pages, over all runs.")
    relevant: int | None = Field(
        default=None, ge=1, description="Relevant pages over all runs, by the current verdicts."
    )
    minutes: float | None = Field(default=None, gt=0, description="Minutes of one run.")
    harvest_below: float | None = Field(
        default=None, ge=0, le=1, description="Share of relevant pages among the last 500; the run stops below it."
    )


_MAIL = re.compile(r"(mailto:)?[^@\s]+@[^@\s]+")
_WEB = re.compile(r"https?://[^\s/]+(/\S*)?")


def check_contact(contact: str) -> None:
    """Check that a contact is empty, a mail address or a web address.

    Raises:
        ConfigError: It is neither a mail address nor a web address.
    """
    if contact and not (_MAIL.fullmatch(contact) or _WEB.fullmatch(contact)):
        raise ConfigError(
            _(
                "the contact {contact!r} is neither a mail address nor a web address; give one such as me@example.org "
                "or https://example.org/crawler",
                contact=contact,
            )
        )


class PolitenessConfig(StrictConfig):
    """Politeness towards sites."""

    contact: str = Field(
        default="",
        pattern=r"^$|^[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$",
        description="Mail or web address for site operators, sent with every request; without it, own hosts only.",
    )
    delay_seconds: float = Field(
        default=2.0, ge=0, description="Pause between the end of one request to a host and the start of the next."
    )
    serialize_by: Literal["host", "ip"] = Field(
        default="host",
        description="Whether the pause applies to each host, or also to each IP address that several hosts share.",
    )
    robots: Literal["obey", "ignore"] = Field(default="obey", description="Whether robots.txt is obeyed.")
    nofollow: Literal["obey", "ignore"] = Field(
        default="obey", description="Whether nofollow of links and of pages is obeyed."
    )
    ai_optout: Literal["obey", "record"] = Field(
        default="record",
        description="Whether pages whose site opts out of AI uses are left out, or kept with the opt-out recorded.",
    )
    tdmrep: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Of which hosts /.well-known/tdmrep.json is read, once a day: of those with ten pages, where "
        "ai_optout is obey (auto); of all, before their first page; or of none.",
    )
    max_crawl_delay_seconds: float = Field(
        default=60.0,
        ge=0,
        description="The longest Crawl-delay or Request-rate that is obeyed; a host that requires more is not crawled.",
    )


class OutputConfig(StrictConfig):
    """What is stored."""

    warc: bool = Field(default=False, description="Also write WARC files.")
    keep_irrelevant: bool = Field(default=False, description="Keep the text of clearly irrelevant pages too.")


def _endpoint(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdigit() and int(port) < 65536):
        raise ValueError(f"{text!r} is not host:port")
    return text


Endpoint = Annotated[str, AfterValidator(_endpoint)]


def _name_server(text: str) -> str:
    ipaddress.ip_address(_endpoint(text).rpartition(":")[0].strip("[]"))  # a host name could not be resolved
    return text


NameServer = Annotated[str, AfterValidator(_name_server)]


def _proxy_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_proxy = parts.scheme == "http" and parts.hostname and parts.port and parts.path in ("", "/")
    except ValueError:
        is_proxy = False
    if not is_proxy or "@" in text:
        raise ValueError(
            "expected the URL of an HTTP proxy without user and password, such as http://proxy.example:3128; "
            "one with a password belongs into an environment variable: proxy: {env: THRESHER_PROXY}"
        )
    return text


class ProxyConfig(StrictConfig):
    """The HTTP proxy through which all requests go: env or url."""

    env: OptionalVariableName = Field(
        default="", description="The environment variable with its URL: http://user:password@proxy.example:3128."
    )
    url: Annotated[str, AfterValidator(lambda text: _proxy_url(text) if text else text)] = Field(
        default="", description="Its URL, when it needs no password."
    )
    names: Literal["local", "proxy"] = Field(
        default="local",
        description="Who resolves names: local means that every name is resolved and checked on this machine before "
        "the proxy gets it; proxy is for machines without DNS, where only addresses and private names are refused.",
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> ProxyConfig:
        if bool(self.env) == bool(self.url):
            raise ValueError("give either env, the name of an environment variable, or url")
        return self


class NetworkConfig(StrictConfig):
    """Which addresses may be connected to."""

    allow: list[Network] = Field(
        default=[], description="Private networks that may be crawled; all others are refused."
    )
    name_servers: list[NameServer] = Field(
        default=[],
        description='DNS servers, such as "127.0.0.1:53"; when empty, those of this machine.',
    )
    connect_to: dict[Endpoint, Endpoint] = Field(
        default={},
        description='Connect elsewhere: {"*:80": "127.0.0.1:8080"} sends every http request to a lab server.',
    )
    tls: Literal["verify", "record"] = Field(
        default="verify",
        description="A page whose server has no valid certificate fails, or is fetched and the problem recorded.",
    )
    proxy: ProxyConfig | None = Field(
        default=None, description="The HTTP proxy through which all requests go; none by default."
    )

    @model_validator(mode="after")
    def _proxy_connects(self) -> NetworkConfig:
        if self.proxy and self.connect_to:
            raise ValueError("with proxy, the proxy decides where to connect; remove connect_to or proxy")
        return self


class EngineConfig(StrictConfig):
    """Settings of one worker."""

    concurrency: int = Field(default=32, ge=1, le=1000, description="Requests open at once in one worker.")
    timeout_seconds: float = Field(default=30.0, gt=0, description="Longest time for one whole fetch.")
    lease_seconds: float = Field(
        default=60.0, gt=0, description="How long a worker may hold a URL: more than timeout_seconds + 5."
    )
    max_bytes: int = Field(default=10 << 20, ge=1024, description="Largest page, after decompression.")

    @model_validator(mode="after")
    def _lease_outlives_fetch(self) -> EngineConfig:
        if self.lease_seconds <= self.timeout_seconds + 5:
            raise ValueError(
                f"lease_seconds is {self.lease_seconds:g}, expected more than timeout_seconds + 5 "
                f"({self.timeout_seconds + 5:g}): a lease must outlive its fetch"
            )
        return self


def _document_format(name: str) -> str:
    if name not in registry.DOCUMENT_FORMATS and name not in (known := registry.known("document format")):
        raise ValueError(f"{name!r} is not a format of documents; known: {', '.join(sorted(known))}")
    return name


class DocumentsConfig(StrictConfig):
    """Documents that are read like pages, besides HTML, plain text and Markdown."""

    formats: list[Annotated[str, AfterValidator(_document_format)]] = Field(
        default=[*registry.DOCUMENT_FORMATS],
        description="Formats that are fetched, judged and stored as pages are; [] for none. Packages can add some.",
    )
    prefer_markdown: bool = Field(
        default=False, description="Whether sites that offer a page as Markdown and as HTML are asked for Markdown."
    )
    max_pages: int = Field(default=500, ge=1, description="Pages of one PDF that are read; the rest is left out.")
    seconds: float = Field(
        default=10.0, gt=0, le=20, description="CPU time for one document; after half of it the rest is left out."
    )


class BrowserConfig(StrictConfig):
    """Rendering of pages that need JavaScript."""

    hosts: list[str] = Field(
        default=[], description="Host patterns whose pages are rendered by a browser before they are parsed."
    )
    detect: bool | None = Field(
        default=None,
        description="Whether hosts whose pages have no text without JavaScript are detected, and then rendered; null "
        "for yes where a browser can be used.",
    )
    executable: str = Field(default="", description="The Chromium to run; when empty, it is searched on the PATH.")
    sandbox: bool = Field(
        default=True,
        description="Whether Chromium uses its sandbox; it cannot as root. Disable it in a container only.",
    )
    pages_at_once: int = Field(default=2, ge=1, le=32, description="Pages that one worker renders in parallel.")
    seconds: float = Field(default=15.0, gt=0, description="Timeout for the scripts of one page, after it was fetched.")
    load_from: Literal["anywhere", "site"] = Field(
        default="anywhere",
        description="Where scripts and data of a page may come from: site means its own registered domain only.",
    )
    max_requests: int = Field(default=100, ge=0, description="Number of scripts and data files that one page may load.")
    max_bytes: int = Field(default=20 << 20, ge=1024, description="Their total size.")

    @property
    def is_wanted(self) -> bool:
        """Whether the user requires a browser."""
        return bool(self.detect or self.hosts)


class WebhookConfig(StrictConfig):
    """A receiver of digests: url or url_env."""

    url: Annotated[str, Field(pattern=r"^$|^https?://[^\s@/]+(/\S*)?$")] = Field(
        default="", description="Where digests are posted to."
    )
    url_env: OptionalVariableName = Field(
        default="", description="The environment variable with the URL, when the URL itself is a secret."
    )
    secret_env: VariableName = Field(
        default="THRESHER_WEBHOOK_SECRET", description="The environment variable with the key of the signature."
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> WebhookConfig:
        if bool(self.url) == bool(self.url_env):
            raise ValueError("give either url, or url_env, the name of an environment variable")
        return self


class WatchConfig(StrictConfig):
    """What thresher watch does, and when."""

    every: str = Field(
        default="1d",
        pattern=r"^[1-9][0-9]{0,5}[smhd]$",
        description="Time from the start of one round to the start of the next: 30m, 6h, 1d.",
    )
    visits: int = Field(default=1000, ge=0, description="Known pages that a round visits again; 0 for none.")
    new_pages: int = Field(default=200, ge=0, description="New pages that a round fetches at most; 0 for none.")
    minutes: float | None = Field(
        default=None, gt=0, description="Longest time of each half of a round, visits and new pages."
    )
    webhooks: list[WebhookConfig] = Field(default=[], description="Receivers of digests.")

    @property
    def every_seconds(self) -> float:
        """The time between the starts of two rounds."""
        return float(self.every[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[self.every[-1]]


class CrawlConfig(StrictConfig):
    """All of topic.yaml."""

    name: str = Field(default="", description="The crawl's name; the folder's name when empty.")
    title: dict[Language, str] = Field(default={}, description="The topic as a phrase, by language.")
    languages: Languages = Field(
        default=["en", "zh"],
        description="Of wanted pages: those of phrases and seeds (auto), or a list. Others are not relevant when set.",
    )
    about: dict[Language, str] = Field(default={}, description="The topic in a sentence or two, by language.")
    keywords: list[str] = Field(default=[], description="Words and phrases of the topic, in any of its languages.")
    taxonomy: TaxonomyConfig | None = Field(
        default=None,
        description="Nodes of a taxonomy; their labels are then the words of the topic, and title is only displayed.",
    )
    topics: dict[TopicName, TopicConfig] = Field(
        default={},
        description="Several topics by name, judged and counted separately; title, keywords and nodes are then theirs.",
    )
    examples: ExamplesConfig = Field(
        default=ExamplesConfig(), description="Pages that are, and are not, about the topic."
    )
    seeds: list[str] = Field(default=["seeds.txt"], description="URLs, or files of URLs beside topic.yaml.")
    sitemaps: Literal["off", "seeds", "all"] = Field(
        default="off",
        description="Hosts whose sitemaps are read for URLs: none, those of the seeds, or all.",
    )
    feeds: Literal["off", "seeds", "all"] = Field(
        default="off",
        description="Hosts whose RSS, Atom and JSON feeds are read for URLs: none, those of the seeds, or all; a seed "
        "that is a feed is always read.",
    )
    strategy: NamedConfig = Field(
        default=NamedConfig(name="thresher"), description="The order in which links are followed."
    )
    judge: NamedConfig = Field(
        default=NamedConfig(name="adaptive"), description="What decides whether a page is on topic."
    )
    scope: ScopeConfig = Field(default=ScopeConfig(), description="Which URLs may be fetched.")
    stop: StopConfig = Field(default=StopConfig(), description="When a run stops: at the first limit that is reached.")
    politeness: PolitenessConfig = Field(default=PolitenessConfig(), description="Politeness towards sites.")
    output: OutputConfig = Field(default=OutputConfig(), description="What is stored.")
    store: str = Field(
        default="sqlite",
        pattern=r"^sqlite$|^(rediss?|valkeys?|redis\+cluster)://",
        description="sqlite, or a store that several machines share: redis://…, rediss://…, redis+cluster://….",
    )
    frontier: FrontierConfig = Field(default=FrontierConfig(), description="Waiting URLs outside of a shared store.")
    collection: str = Field(
        default="",
        pattern=r"^$|^(s3|gs|az|file)://",
        description="Object storage that keeps the pages of all machines: s3://bucket/prefix, gs://…, az://… or "
        "file:///folder. Empty for none. Credentials come from the environment.",
    )
    network: NetworkConfig = Field(default=NetworkConfig(), description="Which addresses may be connected to.")
    engine: EngineConfig = Field(default=EngineConfig(), description="Settings of one worker.")
    documents: DocumentsConfig = Field(
        default=DocumentsConfig(),
        description="Documents that are read like pages, besides HTML, plain text and Markdown.",
    )
    browser: BrowserConfig = Field(default=BrowserConfig(), description="Rendering of pages that need JavaScript.")
    access: list[AccessConfig] = Field(
        default=[], description="Hosts that need a password, a token or a cookie, each with its secrets."
    )
    identity: AgentOrigin = Field(
        default="",
        description="The https origin where your key directory is published, such as https://crawler.example.org. "
        "Requests by https are then signed with the key of `thresher identity new`. Empty for the environment variable "
        "THRESHER_IDENTITY, and without it for no signatures.",
    )
    watch: WatchConfig = Field(default=WatchConfig(), description="What thresher watch does, and when.")
    model_labels: ModelLabelsConfig | None = Field(
        default=None, description="A language model that labels pages; none by default, and nothing is sent."
    )

    @property
    def all_topics(self) -> Mapping[str, TopicConfig]:
        """Every topic by name; a crawl without `topics` has one, which takes all seeds."""
        nodes = self.taxonomy.nodes if self.taxonomy else []
        return self.topics or {ONE_TOPIC: TopicConfig(title=self.title, keywords=self.keywords, nodes=nodes)}

    @property
    def filtered_languages(self) -> Languages:
        """The languages outside which pages are not relevant: as the user set them; none by default."""
        return self.languages if "languages" in self.model_fields_set else []

    @property
    def title_languages(self) -> list[Language]:
        """The languages that are set, or else the known ones of all phrases."""
        titles = [self.title, *(topic.title for topic in self.topics.values())]
        known = [code for code in dict.fromkeys(code for title in titles for code in title) if code != OPEN]
        return known if self.languages == "auto" else self.languages

    @model_validator(mode="after")
    def _model_labels_one_topic(self) -> CrawlConfig:
        if self.topics and self.model_labels:
            raise ValueError("model_labels is for a crawl of one topic; remove model_labels or topics")
        return self

    @model_validator(mode="after")
    def _topics_have_words_of_their_own(self) -> CrawlConfig:
        if not self.topics:
            return self
        if self.keywords or self.examples != ExamplesConfig() or (self.taxonomy and self.taxonomy.nodes):
            raise ValueError(
                "topics have keywords and nodes of their own; remove keywords, examples and taxonomy.nodes"
            )
        if self.taxonomy is None and (named := [name for name, topic in self.topics.items() if topic.nodes]):
            raise ValueError(
                f"topics.{named[0]}.nodes names nodes, and there is no taxonomy; give taxonomy: {{file: …}}"
            )
        return self

    @property
    def rendering_lease_trouble(self) -> str:
        """Why no page can be rendered within a lease; empty when it can."""
        least = self.engine.timeout_seconds + self.browser.seconds + 5
        if self.engine.lease_seconds > least:
            return ""
        return _(
            "engine.lease_seconds is {seconds:g}, expected more than engine.timeout_seconds + "
            "browser.seconds + 5 ({least:g}): a lease must outlive its page",
            seconds=self.engine.lease_seconds,
            least=least,
        )

    @model_validator(mode="after")
    def _secrets_and_proxy_agree(self) -> CrawlConfig:
        hosts = [entry.host for entry in self.access]
        if twice := [host for host in hosts if hosts.count(host) > 1]:
            raise ValueError(f"access names {twice[0]} twice; give all its secrets in one entry")
        proxy = self.network.proxy
        if proxy and (open_host := next((entry.host for entry in self.access if entry.allow_http), "")):
            raise ValueError(
                f"access to {open_host} has allow_http, and with network.proxy the proxy could read its secrets; "
                "remove one of them"
            )
        if proxy and proxy.names == "proxy" and self.politeness.serialize_by == "ip":
            raise ValueError("politeness.serialize_by: ip needs the addresses of names; set network.proxy.names: local")
        return self

    @model_validator(mode="after")
    def _lease_outlives_rendering(self) -> CrawlConfig:
        if self.browser.is_wanted and (trouble := self.rendering_lease_trouble):
            raise ValueError(trouble)
        return self
