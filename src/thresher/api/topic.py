"""`thresher.Topic`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from thresher.errors import ConfigError
from thresher.operations.create import checked_seed
from thresher.text.languages import phrase_language
from thresher.topics.topic import TopicDefinition


@dataclass(frozen=True)
class Topic:
    """The topic of a crawl.

    Args:
        phrase: The topic in a few words; several languages are separated by semicolons:
            ``perovskite solar cells; 钙钛矿太阳能电池``.
        keywords: Further words and phrases, each in any language.
        about: The topic in a sentence or two, for people; by language, or one text.
        examples: URLs of pages about the topic; or by URL whether a page is about it.
    """

    phrase: str = ""
    keywords: Sequence[str] = ()
    about: str | Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[str] | Mapping[str, bool] = ()

    def __post_init__(self) -> None:
        for name in ("keywords", "examples"):
            if isinstance(value := getattr(self, name), str):
                raise ConfigError(f"{name} is {value!r}, expected a list of texts: [{value!r}]")

    def words(self) -> TopicDefinition:
        """Return the topic definition of the crawl."""
        about = {phrase_language(self.about): self.about} if isinstance(self.about, str) else dict(self.about)
        return replace(
            TopicDefinition.from_phrase(self.phrase, keywords=self.keywords),
            about={k: v for k, v in about.items() if v},
        )

    def judged_examples(self) -> dict[str, list[str]]:
        """Return the examples as in topic.yaml; empty when there are none.

        Raises:
            ConfigError: One is not an http or https URL.
        """
        given = self.examples if isinstance(self.examples, Mapping) else dict.fromkeys(self.examples, True)
        if not given:
            return {}
        return {
            word: [checked_seed(url) for url, relevant in given.items() if relevant is wanted]
            for word, wanted in (("yes", True), ("no", False))
        }
