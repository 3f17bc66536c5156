"""A small corpus of its own: three topics in two languages, with a headline and a body each."""

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from thresher_papers.judges.estimators.chi_square import ChiSquareSelector
from thresher_papers.judges.estimators.itfidf import ItfIdf
from thresher_papers.judges.estimators.layers import LayerClassifier
from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.estimators.taxonomy_classifier import TaxonomyClassifier
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes

WORDS = {
    "energy": ["solar", "wind", "turbine", "panel", "grid", "battery", "power", "太阳能", "风力", "电池"],
    "music": ["guitar", "piano", "concert", "opera", "singer", "melody", "音乐", "钢琴", "演唱会"],
    "garden": ["flower", "tree", "seed", "soil", "rose", "lawn", "花园", "种子", "土壤"],
}
COMMON = ["news", "report", "today", "people", "year", "city", "house", "story", "报道", "今天", "城市"]


def documents(count, *, seed=0, topics=tuple(WORDS)):
    """Draw documents and their topics."""
    random = np.random.default_rng(seed)
    labels = [str(topic) for topic in random.choice(topics, size=count)]
    return [_document(random, label) for label in labels], labels


def _document(random, label):
    own, any_topic = WORDS[label], [word for words in WORDS.values() for word in words]
    body = [*random.choice(own, 4), *random.choice(any_topic, 5), *random.choice(COMMON, 8)]
    return {"headline": " ".join(random.choice([*own, *COMMON], 3)), "body": " ".join(body)}


def pipelines():
    """Give an unfitted pipeline of every kind that there is, by name."""
    pruner = MutualInformationPruner(min_document_frequency=2, k=30)
    return {
        "counts": make_pipeline(SectionCounter(), WeightedNaiveBayes()),
        "tfidf": make_pipeline(SectionCounter(), pruner, ItfIdf(use_gain=False), WeightedNaiveBayes()),
        "itfidf": make_pipeline(SectionCounter(), pruner, ItfIdf(), WeightedNaiveBayes(alpha=0.1)),
        "taxonomy": make_pipeline(SectionCounter(), pruner, TaxonomyClassifier(random_state=0)),
        "layers": make_pipeline(SectionCounter(), LayerClassifier(per_class=15, random_state=0)),
        "svm": make_pipeline(SectionCounter(), TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=0)),
        "chi-square": make_pipeline(SectionCounter(), ChiSquareSelector(per_class=20), ItfIdf(), LinearSVC()),
        "logistic": make_pipeline(SectionCounter(), TfidfTransformer(), LogisticRegression()),
    }
