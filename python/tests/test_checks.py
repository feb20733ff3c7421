"""All of scikit-learn's checks, on every estimator, with no expected failures."""

import parsimon
from sklearn.utils.estimator_checks import parametrize_with_checks

ESTIMATORS = [getattr(parsimon, name)() for name in parsimon.__all__ if name.endswith(("Classifier", "Regressor", "Filter"))]


def test_every_estimator_is_checked():
    named = [getattr(parsimon, name) for name in parsimon.__all__ if hasattr(getattr(parsimon, name), "fit")]
    assert {type(estimator) for estimator in ESTIMATORS} == set(named) and len(named) > 60


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
