"""The learners as River has them: thin, over :meth:`learn_one` and its kin.

>>> from parsimon.river import Classifier
>>> from river import datasets, evaluate, metrics
>>> evaluate.progressive_val_score(datasets.Phishing(), Classifier("ftrl", rate=0.5), metrics.Accuracy())
Accuracy: 86.16%
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from river import base
except ImportError:
    raise ImportError("parsimon.river needs River: pip install river") from None

from ._named import ParsimonClassifier, ParsimonRegressor

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Classifier", "Regressor"]


class Classifier(base.MiniBatchClassifier):
    """Classes by any method. Texts are features of their own (``city=Rome``), so nothing has to be encoded first.

    Labels may be anything that can be compared and hashed. Bools are learned with one set of weights. Other labels are learned with
    one set of weights for two classes, or one per class, if ``classes`` says which there are; without it every label that
    turns up begins another set, which learns from then on.

    Parameters
    ----------
    algorithm
        The name of a method; ``auto`` races settings and needs none.
    classes
        All labels, if they are known.
    settings
        The method's settings, such as ``l1=0.1``, and those of :class:`parsimon.ParsimonClassifier`.
    """

    def __init__(self, algorithm: str = "auto", classes: Any = None, **settings: Any):
        self.algorithm = algorithm
        self.classes = classes
        self.settings = settings
        self._model = self._new()
        #: One learner per label, where labels are no bools and were not named.
        self._each: dict[Any, ParsimonClassifier] = {}
        #: PERF: whether the model of bools has learned, and whether it has probabilities: its learner is then asked without detours.
        self._is_ready = self._has_probabilities = False

    def _new(self) -> ParsimonClassifier:
        return ParsimonClassifier(self.algorithm, **self.settings)

    @property
    def _multiclass(self) -> bool:
        return True

    def _is_single(self, y: Any) -> bool:
        """Whether the label is one for the model of all classes."""
        is_bool = isinstance(y, (bool, np.bool_))
        if self.classes is not None:
            return True
        if self._each and is_bool or hasattr(self._model, "_learner") and not is_bool:
            raise ValueError(f"the label {y!r} comes after labels of another kind: bools and others do not go together")
        return is_bool

    def _known_classes(self) -> Any:
        return (False, True) if self.classes is None else self.classes

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        if self._is_ready and type(y) is bool:
            self._model._learner.learn_one(x, 1.0 if y else -1.0, w)
            return
        if self._is_single(y):
            self._model.learn_one(x, y, w, classes=self._known_classes())
            if self.classes is None:
                self._has_probabilities = hasattr(self._model, "predict_proba_one")
                self._is_ready = True
            return
        if y not in self._each:
            self._each[y] = self._new()
        for label, model in self._each.items():
            model.learn_one(x, label == y, w, classes=(False, True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: Any = None) -> None:
        labels = list(y)
        if labels and self._is_single(labels[0]):
            self._model.learn_many(X, labels, w, classes=self._known_classes())
            return
        weights = [1.0] * len(labels) if w is None else w
        for row, label, weight in zip(X.to_dict(orient="records"), labels, weights):
            self.learn_one(row, label, weight)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        if kwargs:
            _refuse(kwargs)
        if self._has_probabilities:
            return self._model._learner.probabilities_one(x, False, True)
        if self._each:
            return _shares({label: _probability(model, x) for label, model in self._each.items()})
        if "_learner" not in self._model.__dict__:
            classes = self._known_classes()
            return dict.fromkeys(classes, 1 / len(classes))
        if not hasattr(self._model, "predict_proba_one"):
            raise NotImplementedError("probabilities need the logistic loss")
        return self._model.predict_proba_one(x)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        _refuse(kwargs)
        if self._each:
            margins = {label: model._margins_one(x)[0] for label, model in self._each.items()}
            return max(margins, key=margins.__getitem__)
        return self._model.predict_one(x) if "_learner" in self._model.__dict__ else self._known_classes()[0]

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        if self._each or "_learner" not in self._model.__dict__:
            rows = [self.predict_proba_one(x) for x in X.to_dict(orient="records")]
            return pd.DataFrame(rows, index=X.index, columns=list(self._each or self._known_classes()))
        if not hasattr(self._model, "predict_proba_many"):
            raise NotImplementedError("probabilities need the logistic loss")
        return pd.DataFrame(self._model.predict_proba_many(X), index=X.index, columns=self._model.classes_.tolist())

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        if self._each or "_learner" not in self._model.__dict__:
            found = [self.predict_one(x) for x in X.to_dict(orient="records")]
        else:
            found = self._model.predict_many(X).tolist()
        return pd.Series(found, index=X.index, dtype=bool if not self._each and self.classes is None else None)


def _refuse(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise TypeError(f"prediction takes a row and nothing else, got {', '.join(kwargs)}")


def _probability(model: ParsimonClassifier, x: dict[Any, Any]) -> float:
    if not hasattr(model, "predict_proba_one"):
        raise NotImplementedError("probabilities need the logistic loss")
    return model.predict_proba_one(x)[True]


def _shares(found: dict[Any, float]) -> dict[Any, float]:
    total = sum(found.values())
    return {label: p / total if total > 0 else 1 / len(found) for label, p in found.items()}


class Regressor(base.MiniBatchRegressor):
    """Numbers, by any method.

    Parameters
    ----------
    algorithm
        The name of a method; ``auto`` races settings and needs none.
    settings
        The method's settings, such as ``l1=0.1``, and those of :class:`parsimon.ParsimonRegressor`.
    """

    def __init__(self, algorithm: str = "auto", **settings: Any):
        self.algorithm = algorithm
        self.settings = settings
        self._model = ParsimonRegressor(algorithm, **settings)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        self._model.learn_one(x, float(y), w)

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: Any = None) -> None:
        self._model.learn_many(X, y, w)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> float:
        _refuse(kwargs)
        return self._model.predict_one(x) if "_learner" in self._model.__dict__ else 0.0

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas as pd

        known = hasattr(self._model, "_learner")
        return pd.Series(self._model.predict_many(X) if known else 0.0, index=X.index, dtype=float)
