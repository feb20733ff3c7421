"""What all estimators share, put together: files, copies, and how they are shown."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _parsimon
from ._html import summary
from ._typing import Labels
from ._weights import Weights


def _revive(checkpoint: bytes) -> Any:
    """A learner from the bytes in a pickle."""
    return _parsimon.Learner.from_checkpoint(checkpoint)


def _revive_model(model: bytes) -> Any:
    """A model from the bytes in a pickle."""
    return _parsimon.Model.from_bytes(model)


class _Parsimon(Weights):
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += self._summary()
        return shown

    def _summary(self) -> str:
        return summary(self) if hasattr(self, "_learner") else ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, which the program reads too. Column ``j`` is the feature ``j + 1``."""
        check_is_fitted(self)
        if isinstance(self._learner, _parsimon.Model):
            self._learner.save(os.fspath(path))
        else:
            self._named().save_model(os.fspath(path))

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, from which learning goes on bit for bit."""
        check_is_fitted(self)
        self._named().save_checkpoint(os.fspath(path))

    def _named(self) -> Any:
        learner = self._must_learn()
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            learner.name_columns([str(name) for name in names])
        return learner

    def __getstate__(self) -> dict[str, Any]:
        # Bytes, which every way of writing objects knows: pickle, joblib, skops.
        state = dict(super().__getstate__())
        native = state.pop("_learner", None)
        if native is not None:
            is_model = isinstance(native, _parsimon.Model)
            state["_model_bytes" if is_model else "_checkpoint_bytes"] = native.to_bytes() if is_model else native.checkpoint()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model, checkpoint = state.pop("_model_bytes", None), state.pop("_checkpoint_bytes", None)
        super().__setstate__(state)
        if model is not None:
            self._learner = _revive_model(bytes(model))
        elif checkpoint is not None:
            self._learner = _revive(bytes(checkpoint))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _labels(texts: list[str]) -> Labels:
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts])
        except ValueError:
            pass
    return np.array(texts)
