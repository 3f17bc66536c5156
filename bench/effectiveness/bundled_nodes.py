"""Is a node of the bundled taxonomy and one seed as good as a phrase and five seeds?
``python -m bench.effectiveness.bundled_nodes`` (needs THRESHER_WEBS; half a minute per topic).

Topics of the frozen webs that a bundled node covers are crawled by ``strategy: thresher`` with the default judge, 300
fetches each, from four starts: the node with its keywords and one seed, its labels alone and one seed, the topic's own
name as a phrase and one seed, and this phrase and five seeds. The one seed is the first of the five. Relevant pages by
the web's labels are counted, the five seeds left out in every crawl.

Rows are added to ``bench/results/bundled-nodes.jsonl`` as they come; what is there is not run again. ``--print`` prints
the tables of what is there: test topics, on which nothing was tuned, and dev topics.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from thresher.topics.profile import TopicProfile
from thresher.topics.taxonomy.bundled import bundled_token_table
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.topic import TopicDefinition
from thresher_lab.simulation.processes import run_groups
from thresher_lab.simulation.tasks import Task, TaskRunner, topic_phrase
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.statistics.significance import Comparison, Score, compare_paired

PAGES, SEEDS = 300, 5
JUDGE = "adaptive"
RESULTS = Path(__file__).parents[1] / "results" / "bundled-nodes.jsonl"

NODE, LABELS, PHRASE, PHRASE_5 = "node, 1 seed", "labels, 1 seed", "phrase, 1 seed", "phrase, 5 seeds"
STARTS = {NODE: 1, LABELS: 1, PHRASE: 1, PHRASE_5: SEEDS}
"""Each start with the number of its seeds."""

NODES = {
    "wikispeedia": {
        "Art/Art": "Arts/Visual_Arts",
        "Business_Studies/Economics": "Business/Economics",
        "Citizenship/Environment": "Environment",
        "Citizenship/Politics_and_government": "Society/Politics",
        "Design_and_Technology/Architecture": "Arts/Architecture",
        "Design_and_Technology/Engineering": "Technology/Engineering",
        "Design_and_Technology/Railway_transport": "Technology/Transport/Railways",
        "Everyday_life/Computer_and_Video_games": "Recreation/Games/Video_Games",
        "Everyday_life/Films": "Arts/Film",
        "Everyday_life/Food_and_agriculture": "Food",
        "Everyday_life/Games": "Recreation/Games",
        "Everyday_life/Sports": "Sports",
        "Everyday_life/Television": "Arts/Television",
        "Geography/African_Geography": "Regional/Africa",
        "Geography/Climate_and_the_Weather": "News/Weather",
        "Geography/European_Geography": "Regional/Europe",
        "Geography/Geography_of_Asia": "Regional/Asia",
        "Geography/Geography_of_Great_Britain": "Regional/Europe/United_Kingdom",
        "Geography/Geography_of_Oceania_Australasia": "Regional/Oceania",
        "Geography/Geology_and_geophysics": "Science/Earth_Sciences/Geology",
        "Geography/Natural_Disasters": "Environment/Natural_Disasters",
        "Geography/Peoples": "Society/Ethnic_Groups",
        "Geography/Storms": "Environment/Natural_Disasters/Storms",
        "History/World_War_II": "Society/History/World_War_II",
        "IT/Software": "Computers/Software",
        "IT/Websites_and_the_Internet": "Computers/Internet",
        "Language_and_literature/Languages": "Reference/Languages",
        "Language_and_literature/Novels": "Arts/Literature/Novels",
        "Language_and_literature/Theatre": "Arts/Performing_Arts/Theatre",
        "Mathematics": "Science/Mathematics",
        "Music/Musical_genres_styles_eras_and_events": "Arts/Music",
        "People/Geographers_and_explorers": "Society/History/Exploration",
        "Religion/Philosophy": "Society/Philosophy",
        "Science/Biology": "Science/Biology",
        "Science/Chemistry": "Science/Chemistry",
        "Science/Physics": "Science/Physics",
    },
    "mdn_zh": {
        "Games": "Recreation/Games",
        "HTML": "Computers/Web_Development/HTML",
        "HTTP": "Computers/Web_Development/HTTP",
        "Learn_web_development": "Computers/Web_Development",
        "MathML": "Computers/Web_Development/MathML",
        "Progressive_web_apps": "Computers/Web_Development/Progressive_Web_Apps",
        "SVG": "Computers/Web_Development/SVG",
        "WebAssembly": "Computers/Web_Development/WebAssembly",
    },
    "w3school_zh": {
        "ASP": "Computers/Programming/ASP",
        "CSS": "Computers/Web_Development/CSS",
        "Java": "Computers/Programming/Java",
        "Python": "Computers/Programming/Python",
        "SQL": "Computers/Programming/SQL",
        "SVG": "Computers/Web_Development/SVG",
        "VBScript": "Computers/Programming/VBScript",
        "WebBuilding": "Computers/Web_Development",
        "WebServices": "Computers/Web_Development/Web_Services",
    },
    "nankai_zh": {
        "admissions": "Education/Higher_Education/Admissions",
        "biology": "Science/Biology",
        "business": "Business",
        "careers_jobs": "Work/Jobs",
        "chemistry": "Science/Chemistry",
        "chinese_language": "Education/Language_Learning/Chinese_Language",
        "computer_science": "Computers",
        "economics": "Business/Economics",
        "electronics": "Technology/Electronics",
        "environment": "Environment",
        "government_politics": "Society/Politics",
        "graduate_school": "Education/Higher_Education/Graduate_School",
        "history": "Society/History",
        "journalism": "News/Journalism",
        "law": "Law",
        "library": "Reference/Libraries",
        "literature": "Arts/Literature",
        "logistics": "Business/Logistics",
        "marxism": "Society/Philosophy/Marxism",
        "materials": "Science/Chemistry/Materials_Science",
        "mathematics": "Science/Mathematics",
        "medicine": "Health/Medicine",
        "pharmacy": "Health/Pharmacy",
        "philosophy": "Society/Philosophy",
        "physics": "Science/Physics",
        "procurement": "Business/Management/Procurement",
        "sociology": "Science/Sociology",
        "statistics": "Science/Mathematics/Statistics",
        "tourism": "Travel/Tourism_Studies",
    },
    "webkb": {
        "course": "Education/Higher_Education/University_Courses",
        "faculty": "Education/Higher_Education/Faculty",
        "project": "Education/Higher_Education/Research_Projects",
        "student": "Education/Higher_Education/Students",
    },
}
"""The bundled node of each topic of a frozen web; topics without one are left out."""


@dataclass(frozen=True, kw_only=True)
class StartTask:
    """One crawl: a topic, and what it is started from."""

    web: str
    topic: str
    start: str
    seed_set: int = 0


class StartRunner(TaskRunner):
    """A web whose crawls get the topic as `profile` has it."""

    profile: TopicProfile

    def topic_profile(self, topic: str) -> TopicProfile:
        return self.profile

    def found(self, task: StartTask) -> int:
        """Crawl, and return the number of relevant pages that were found, seeds left out."""
        self.profile = profile_of(task)
        crawl = Task(
            web=task.web, topic=task.topic, strategy="thresher", seed_set=task.seed_set, judge=JUDGE, pages=PAGES,
            seeds=SEEDS,
        )  # fmt: skip
        five = self.seeds(crawl)
        seeds = five[: STARTS[task.start]]
        run = self.simulator(crawl, seeds).run(list(map(self.web.url_of, seeds)), PAGES)
        fetched = {fetch.page_id for fetch in asyncio.run(run).fetches}
        return len((fetched & self.web.targets(task.topic)) - set(five))


def profile_of(task: StartTask) -> TopicProfile:
    """Return the topic as a crawl of this start has it."""
    topic, tokens = TopicDefinition.from_phrase(topic_phrase(task.topic)), None
    if task.start in (NODE, LABELS):
        with TaxonomyReader.bundled() as taxonomy:
            topic = TopicDefinition.from_nodes(taxonomy, [NODES[task.web][task.topic]])
        tokens = bundled_token_table()
    if task.start == LABELS:
        topic = TopicDefinition(title=topic.title, nodes=topic.nodes)
    phrases = [*topic.title.values(), *topic.keywords]
    return TopicProfile(vectors=topic.vectors(), labels=topic.labels, phrases=phrases, tokens=tokens)


_runners: dict[str, StartRunner] = {}
"""The webs that this process has open."""


def run_group(tasks: Sequence[StartTask]) -> Iterator[Row]:
    """Run the crawls of one topic."""
    web = tasks[0].web
    runner = _runners.get(web) or _runners.setdefault(web, StartRunner.open(web))  # type: ignore[arg-type]
    for task in tasks:
        yield {**asdict(task), "node": NODES[web][task.topic], "pages": PAGES, "found": runner.found(task)}
    runner.flush()


def place(task: StartTask) -> tuple[str, str]:
    """Return the key of crawls that run together."""
    return task.web, task.topic


def measure(tasks: Sequence[StartTask], processes: int) -> None:
    """Run the crawls that have no row yet."""
    names = ("web", "topic", "start", "seed_set")
    known = {tuple(row[name] for name in names) for row in read_rows(RESULTS)}
    missing = [task for task in tasks if tuple(getattr(task, name) for name in names) not in known]
    RESULTS.touch()
    for done, row in enumerate(run_groups(missing, run_group, place=place, processes=processes), start=1):
        add_rows(RESULTS, [row])
        print(f"{done}/{len(missing)} {row['web']} {row['topic']}, {row['start']}: {row['found']}", flush=True)


def table(rows: Sequence[Row], heading: str) -> Iterator[str]:
    """Write the lines of a table over topics, with intervals."""
    scores = [
        Score(strategy=row["start"], topic=f"{row['web']} {row['topic']}", seed_set=row["seed_set"], value=row["found"])
        for row in rows
    ]
    yield f"**{heading}, {len({score.topic for score in scores})} topics**"
    yield ""
    yield "| start | relevant pages found [95 %] | difference to phrase, 5 seeds [95 %] | better, worse | p (Holm) |"
    yield "|---|---|---|---|---|"
    for each in sorted(compare_paired(scores, PHRASE_5), key=lambda each: list(STARTS).index(each.strategy)):
        yield _line(each)
    yield ""


def _line(each: Comparison) -> str:
    mean, gap = each.mean, each.difference
    found = f"| {each.strategy} | {mean.mean:.1f} [{mean.low:.1f}, {mean.high:.1f}] |"
    if each.strategy == PHRASE_5:
        return f"{found} | | |"
    return f"{found} {gap.mean:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}] | {each.wins}, {each.losses} | {each.p:.3g} |"


def print_tables() -> None:
    """Print the tables of test and dev topics, over all webs and of each; topics that lack a start are left out."""
    rows = read_rows(RESULTS)
    complete = {place_of for place_of in map(_topic_of, rows) if _starts(rows, place_of) == set(STARTS)}
    for side in ("test", "dev"):
        topics = {(web, topic) for web in NODES for topic in split(web, side)}  # type: ignore[arg-type]
        chosen = [row for row in rows if _topic_of(row) in topics & complete]
        for web in ("", *NODES):
            if some := [row for row in chosen if web in ("", row["web"])]:
                print("\n".join(table(some, f"{web or 'all webs'}, {side} topics")))


def _topic_of(row: Row) -> tuple[str, str]:
    return row["web"], row["topic"]


def _starts(rows: Sequence[Row], topic: tuple[str, str]) -> set[str]:
    return {row["start"] for row in rows if _topic_of(row) == topic}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("webs", nargs="*", default=list(NODES), help="; ".join(NODES))
    parser.add_argument("--topics", default="", help="only these, separated by commas")
    parser.add_argument("--seed-sets", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.print:
        wanted = set(filter(None, options.topics.split(",")))
        tasks = [
            StartTask(web=web, topic=topic, start=start, seed_set=seed_set)
            for web in options.webs
            for topic in NODES[web]
            for seed_set in range(options.seed_sets)
            for start in STARTS
            if not wanted or topic in wanted
        ]
        measure(tasks, options.processes)
    print_tables()


if __name__ == "__main__":
    main()
