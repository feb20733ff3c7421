"""The learners as River has them: thin, over :meth:`learn_one` and its kin.

>>> from parsimon.river import Classifier
>>> from river import datasets, evaluate, metrics
>>> evaluate.progressive_val_score(datasets.Phishing(), Classifier("ftrl", rate=0.5), metrics.Accuracy())
Accuracy: 86.16%
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from river import base
except ImportError:
    raise ImportError("parsimon.river needs River: pip install river") from None

from ._named import ParsimonClassifier, ParsimonRegressor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Classifier", "Regressor"]


class Classifier(base.MiniBatchClassifier):
    """Two classes, False and True, by any method.

    Texts are features of their own (``city=Rome``), so nothing has to be encoded first. For several classes wrap it in
    ``river.multiclass.OneVsRestClassifier``.

    Parameters
    ----------
    algorithm
        The name of a method.
    settings
        The method's settings, such as ``l1=0.1``, and those of :class:`parsimon.ParsimonClassifier`.
    """

    def __init__(self, algorithm: str = "ftrl", **settings: Any):
        self.algorithm = algorithm
        self.settings = settings
        self._model = ParsimonClassifier(algorithm, **settings)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        self._model.learn_one(x, bool(y), classes=(False, True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        self._model.learn_many(X, [bool(label) for label in y], classes=(False, True))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        if not hasattr(self._model, "_learner"):
            return {False: 0.5, True: 0.5}
        if not hasattr(self._model, "predict_proba_one"):
            raise NotImplementedError("probabilities need the logistic loss")
        return self._model.predict_proba_one(x)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        return self._model.predict_one(x) if hasattr(self._model, "_learner") else False

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        if not hasattr(self._model, "_learner"):
            return pd.DataFrame(0.5, index=X.index, columns=[False, True])
        if not hasattr(self._model, "predict_proba_many"):
            raise NotImplementedError("probabilities need the logistic loss")
        return pd.DataFrame(self._model.predict_proba_many(X), index=X.index, columns=[False, True])

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        known = hasattr(self._model, "_learner")
        return pd.Series(self._model.predict_many(X) if known else False, index=X.index, dtype=bool)


class Regressor(base.MiniBatchRegressor):
    """Numbers, by any method.

    Parameters
    ----------
    algorithm
        The name of a method.
    settings
        The method's settings, such as ``l1=0.1``, and those of :class:`parsimon.ParsimonRegressor`.
    """

    def __init__(self, algorithm: str = "ftrl", **settings: Any):
        self.algorithm = algorithm
        self.settings = settings
        self._model = ParsimonRegressor(algorithm, **settings)

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        self._model.learn_one(x, float(y))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        self._model.learn_many(X, y)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> float:
        return self._model.predict_one(x) if hasattr(self._model, "_learner") else 0.0

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        known = hasattr(self._model, "_learner")
        return pd.Series(self._model.predict_many(X) if known else 0.0, index=X.index, dtype=float)
