"""Every estimator keeps scikit-learn's contract: the library's own checks run on each of them.

All but `SectionCounter`, which takes pages: the library's checks know only arrays.
"""

from sklearn.utils.estimator_checks import parametrize_with_checks

from thresher_papers.judges.estimators.chi_square import ChiSquareSelector
from thresher_papers.judges.estimators.itfidf import ItfIdf
from thresher_papers.judges.estimators.layers import LayerClassifier
from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner
from thresher_papers.judges.estimators.taxonomy_classifier import TaxonomyClassifier
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes

ESTIMATORS = [
    MutualInformationPruner(min_document_frequency=1),
    ChiSquareSelector(),
    ItfIdf(),
    ItfIdf(use_gain=False),
    WeightedNaiveBayes(),
    WeightedNaiveBayes(calibrate=True, random_state=0),
    TaxonomyClassifier(random_state=0),
    LayerClassifier(random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_the_contract_is_kept(estimator, check):
    check(estimator)
