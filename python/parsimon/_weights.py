"""What was learned: weights, their names, how learning went."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ._errors import ClippingWarning
from ._learning import Learning
from ._settings import _has_weights
from ._typing import available_if

if TYPE_CHECKING:
    from typing_extensions import Self


class Weights(Learning):
    """An estimator whose weights can be read."""

    def _heads(self) -> list[Any]:
        check_is_fitted(self)
        heads = self._learner.weights()
        if heads is None:
            raise AttributeError("a model over a dictionary of rows has no weights")
        return heads

    def _coef(self) -> Any:
        heads = self._heads()
        _, columns, reach, limits = self._learner.exact_weights()
        if columns or limits is not None:
            clipped = [f"cells further than {reach:g} standard deviations from the mean"] if columns else []
            clipped += ["predictions outside the labels learned"] if limits is not None else []
            warnings.warn(
                f"the model clips {' and '.join(clipped)}; coef_ and intercept_ predict like it except where something is clipped (to_onnx and to_c carry the clipping)",
                ClippingWarning,
                stacklevel=3,
            )
        if self._learner.bits is None:
            largest = max((int(ids[-1]) for _, ids, _ in heads if len(ids)), default=0)
            # Rows as dictionaries may bring ids beyond the columns.
            width = max(getattr(self, "n_features_in_", 0), largest)
            columns = np.concatenate([ids.astype(np.int64) - 1 for _, ids, _ in heads])
        else:
            used = self._used(heads)
            width, columns = len(used), np.searchsorted(used, np.concatenate([ids for _, ids, _ in heads]))
        values = np.concatenate([weights for _, _, weights in heads])
        indptr = np.cumsum([0] + [len(ids) for _, ids, _ in heads])
        if len(columns) and columns.min() < 0:
            raise AttributeError("the model has a weight for feature id 0, which is no column")
        matrix = sp.csr_matrix((values, columns, indptr), shape=(len(heads), width))
        return matrix if getattr(self, "_sparse", False) else matrix.toarray()

    @staticmethod
    def _used(heads: list[Any]) -> np.ndarray:
        """The features with a weight in any class, in the order of their ids."""
        return np.unique(np.concatenate([ids for _, ids, _ in heads]))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of ``coef_``.

        For features with hashed names (texts, categories, rows as dictionaries) these are the features that have a weight.

        >>> from parsimon import FTRLClassifier
        >>> model = FTRLClassifier(l1=0.01).learn_many([{"good": 1}, {"bad": 1}] * 50, [1, 0] * 50)
        >>> sorted(model.get_feature_names_out().tolist()), model.coef_.shape
        (['bad', 'good'], (1, 2))
        """
        heads = self._heads()
        if self._learner.bits is not None:
            return np.array(self._names_of(self._used(heads)), dtype=object)
        if input_features is not None:
            return np.asarray(input_features, dtype=object)
        largest = max((int(ids[-1]) for _, ids, _ in heads if len(ids)), default=0)
        width = max(getattr(self, "n_features_in_", 0), largest)
        return np.array(self._names_of(np.arange(1, width + 1)), dtype=object)

    @available_if(_has_weights)
    def sparsify(self) -> Self:
        """Makes ``coef_`` a SciPy CSR matrix."""
        check_is_fitted(self)
        self._sparse = True
        return self

    @available_if(_has_weights)
    def densify(self) -> Self:
        """Makes ``coef_`` an array again."""
        check_is_fitted(self)
        self._sparse = False
        return self

    @property
    def nonzeros_(self) -> int:
        """The weights that are not zero."""
        check_is_fitted(self)
        return self._learner.nonzeros

    @property
    def n_rows_(self) -> int:
        """The rows learned, counted once per pass."""
        check_is_fitted(self)
        return self._learner.rows

    @property
    def named_coef_(self) -> Any:
        """The weights with the names of their features: a pandas Series, or a DataFrame with a column per class.

        Features of a matrix are all there, under the names of its columns or their numbers. Features with hashed names, and those of
        files, are there if their weight is not zero.

        >>> import pandas as pd
        >>> from parsimon import FTRLRegressor
        >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "age": [3.0, 1.0, 2.0]})
        >>> FTRLRegressor().fit(X, [2.0, 4.0, 6.0]).named_coef_.index.tolist()
        ['size', 'age']
        """
        import pandas as pd

        heads = self._heads()
        width = getattr(self, "n_features_in_", 0)
        if width and self._learner.bits is None:
            largest = max((int(ids[-1]) for _, ids, _ in heads if len(ids)), default=0)
            every = np.arange(1, max(width, largest) + 1, dtype=np.uint32)
        else:
            every = self._used(heads)
        values = np.zeros((len(every), len(heads)))
        for k, (_, ids, weights) in enumerate(heads):
            values[np.searchsorted(every, ids), k] = weights
        index = pd.Index(self._names_of(every), name="feature")
        if len(heads) == 1:
            return pd.Series(values[:, 0], index=index, name="weight")
        return pd.DataFrame(values, index=index, columns=getattr(self, "classes_", None))

    @property
    def progressive_loss_(self) -> float | None:
        """The average loss of the predictions made before learning each row."""
        check_is_fitted(self)
        return self._learner.progressive_loss

    @property
    def settings_(self) -> dict[str, Any]:
        """The settings after defaults."""
        check_is_fitted(self)
        return json.loads(self._learner.settings)

    @property
    def learning_curve_(self) -> list[dict[str, Any]]:
        """What was reported while learning: rows, average loss, loss since the last report, nonzeros."""
        check_is_fitted(self)
        return json.loads(self._must_learn().curve)["points"]

    def top_weights(self, count: int = 20, class_index: int = 0) -> list[tuple[str, float]]:
        """The features with the largest weights by magnitude, named as far as names are known.

        >>> from parsimon import FTRLClassifier
        >>> model = FTRLClassifier().learn_many([{"good": 1}, {"bad": 1}] * 50, [1, 0] * 50)
        >>> [name for name, weight in model.top_weights(2)]
        ['bad', 'good']
        """
        _, ids, weights = self._heads()[class_index]
        # Equal weights in the order of their ids.
        order = np.lexsort((ids, -np.abs(weights)))[:count]
        return [(name, float(weights[k])) for name, k in zip(self._names_of(ids[order]), order)]

    def _names_of(self, ids: np.ndarray) -> list[str]:
        """The names of features; the number of the column or slot where a name is not known."""
        chosen = [int(j) for j in ids]
        columns = getattr(self, "feature_names_in_", None)
        names = self._learner.names(chosen)
        if self._learner.bits is None:
            places = [str(j - 1) if columns is None or j > len(columns) else str(columns[j - 1]) for j in chosen]
        else:
            places = [f"#{j}" for j in chosen]
        return [name or place for name, place in zip(names, places)]
