"""Settings: how they are written, checked and compared, and what follows from them alone."""

from __future__ import annotations

import difflib
import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from . import _parsimon

if TYPE_CHECKING:
    from typing_extensions import Self

CLASS_LOSSES = ("logistic", "softmax", "hinge", "squared-hinge", "halfspace")
#: Losses of numbers that a classifier may have: its two classes are learned as -1 and 1.
AS_NUMBERS = ("squared", "projection")
NUMBER_LOSSES = ("squared", "huber", "quantile", "poisson", "projection")
#: Names are hashed into 2**22 slots, as the program does.
BITS = 22
#: Losses by their names in scikit-learn and River.
_ELSEWHERE = {
    "log_loss": "logistic",
    "log": "logistic",
    "squared_error": "squared",
    "squared_loss": "squared",
    "squared_hinge": "squared-hinge",
}
#: scikit-learn takes a parameter called alpha for a strength; where any method may be named, ours is called otherwise.
_RENAMED = {"metric_alpha": "alpha"}
_OURS = {name: ours for ours, name in _RENAMED.items()}
_FRAME = ("precision", "fit_intercept")


#: Parameters of scikit-learn's and other linear models, with what is set here instead.
_HABITS = {
    "C": "the penalty is l1 or l2 (liblinear's C divides the loss by the number of rows: l1 = 1 / (C * rows))",
    "alpha": "the penalty is l1 or l2, and the learning rate is rate",
    "l1_ratio": "set l1 and l2",
    "lambda": "the penalty is l1 or l2",
    "max_iter": "set passes",
    "n_iter": "set passes",
    "epochs": "set passes",
    "tol": "there is no tolerance: passes is the number of passes",
    "n_jobs": "one estimator learns in one thread; scikit-learn's searches have n_jobs of their own",
    "eta0": "set rate",
    "learning_rate": "set rate, and schedule for its course",
    "lr": "set rate",
    "class_weights": "set class_weight",
    "seed": "set random_state",
}


def unknown_setting(estimator: str, name: str, known: list[str]) -> str:
    """The message for a keyword that is no setting, with the setting that was probably meant."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = _HABITS.get(name) or (f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}")
    return f"{estimator} has no setting {name!r}: {hint}"


def _equal(a: Any, b: Any) -> bool:
    """Whether two values of a setting are the same one."""
    return a is b or _plain(a) == _plain(b)


def _plain(value: Any) -> Any:
    """A setting as JSON has it; JSON has no infinity."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and math.isinf(value) and value > 0:
        return "inf"
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_text(_plain(label)): _plain(item) for label, item in value.items()}
    return value


def _text(label: Any) -> str:
    """A label as the program and its files have it: truth is 1."""
    return str(int(label) if isinstance(label, bool) else label)


def _can_stream(estimator: Settings) -> bool:
    """A two-phase schedule must know its switch, which only a whole data set tells."""
    # PERF: asked at every call of partial_fit, and only three settings have a say.
    own = estimator.__dict__
    key = (estimator._algorithm or own["algorithm"], own.get("schedule"), own.get("switch") is None)
    try:
        return _STREAMS[key]
    except KeyError:
        pass
    except TypeError:
        return True
    try:
        _STREAMS[key] = able = not estimator._resolved()[2]
    except ValueError:
        return True
    return able


_STREAMS: dict[Any, bool] = {}


def _has_weights(estimator: Settings) -> bool:
    """A model over a dictionary of rows has no weights."""
    return not (estimator._algorithm or estimator.algorithm).startswith("multikernel")


def _has_probabilities(estimator: Settings) -> bool:
    own = estimator.__dict__
    # PERF: asked at every call of predict_proba_one, and only these have a say.
    key = (type(estimator), own.get("algorithm"), own.get("loss"))
    try:
        loss = _RESOLVED_LOSS[key]
    except (KeyError, TypeError):
        loss = estimator._resolved()[0]["loss"]
        if isinstance(key[2], (str, type(None))):
            _RESOLVED_LOSS[key] = loss
    if loss in ("logistic", "softmax") or getattr(own.get("_learner"), "calibration", None) is not None:
        return True
    raise AttributeError(f"probabilities need the logistic loss or softmax, not {loss}")


_RESOLVED_LOSS: dict[Any, str] = {}


class Settings(BaseEstimator):
    """An estimator with its settings."""

    _algorithm: ClassVar[str | None] = None
    _settings: ClassVar[tuple[str, ...]] = ()
    _losses: ClassVar[tuple[str, ...]] = ()
    # Every estimator has these; the generated classes take them.
    algorithm: str
    passes: int | None
    shuffle: bool
    random_state: Any
    precision: str
    # The filter has none of these.
    warm_start: bool = False
    verbose: int = 0
    #: Settings that were changed after learning, with what they were.
    _stale: ClassVar[dict[str, Any]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if "_learner" in own and (name in self._settings or name in _FRAME) and name in own:
            learned_with = self._stale.get(name, own[name])
            stale = {other: before for other, before in self._stale.items() if other != name}
            if not _equal(learned_with, value):
                stale[name] = learned_with
            own["_stale"] = stale
        super().__setattr__(name, value)

    def _refuse_changed(self) -> None:
        changed = ", ".join(f"{name} was {before!r} and is {getattr(self, name)!r}" for name, before in self._stale.items())
        raise ValueError(f"settings were changed after learning: {changed}. Call fit, or set them back, or learn with a clone")

    def _spec(self) -> dict[str, Any]:
        name = self._algorithm or self.algorithm
        spec = {"algorithm": name}
        for setting in self._settings:
            value = _plain(getattr(self, setting))
            if setting == "loss" and value in _ELSEWHERE:
                raise ValueError(f"loss={value!r} is called {_ELSEWHERE[value]!r} here")
            if value is not None:
                spec[_RENAMED.get(setting, setting)] = value
        if "loss" not in spec:
            loss = self._default_loss(name)
            if loss is not None:
                spec["loss"] = loss
        return spec

    def _own_name(self, name: str, algorithm: str | None = None) -> str:
        """The name of a setting here, which may be given by the papers' name: ``eta`` is the rate, ``lambda1`` is l1."""
        if name in self.get_params(deep=False):
            return name
        setting = _parsimon.setting_name(self._algorithm or algorithm or self.algorithm, name)
        return _OURS.get(setting, setting)

    def set_params(self, **params: Any) -> Self:
        """Sets settings, by their names here or by the papers': ``eta`` is the rate, ``lambda1`` is l1.

        ``alpha`` is refused where it is no setting: it is the learning rate in FTRL's paper and a penalty in scikit-learn.
        """
        known = self.get_params()
        own = {self._own_name(name, params.get("algorithm")): value for name, value in params.items()}
        odd = next((name for name in own if name.partition("__")[0] not in known), None)
        if "alpha" in params and own.get("rate") is params["alpha"] and "alpha" not in known:
            # The rate of FTRL in its paper, and a penalty in scikit-learn, whose searches set it here.
            odd = "alpha"
        if odd is not None:
            raise ValueError(unknown_setting(type(self).__name__, odd, list(known)))
        if len(own) < len(params):
            raise ValueError(f"a setting is given twice, by two of its names: {', '.join(params)}")
        super().set_params(**own)
        return self

    def _default_loss(self, name: str) -> str | None:
        words = _loss_words().get(name, ())
        return next((word for word in self._losses if word in words), None)

    def _resolved(self) -> tuple[dict[str, Any], bool, bool]:
        """The settings after defaults, and whether the number of features and of rows is still to be found."""
        text, needs_dimension, needs_rows = _parsimon.resolve(json.dumps(self._spec()))
        return json.loads(text), needs_dimension, needs_rows

    def _complete(self, classes: list[str]) -> str:
        """The spec of a learner for these classes."""
        spec = self._spec()
        self._check_loss(self._resolved()[0])
        if len(classes) > 2:
            spec["multiclass"], spec["classes"] = True, classes
            if getattr(self, "loss", None) is None and spec.get("loss") == "logistic":
                # Several classes have a default of their own.
                del spec["loss"]
        elif spec.get("loss") == "softmax":
            # Of two classes this is the same loss, of one margin.
            spec["loss"] = "logistic"
        return json.dumps(spec)

    def _frame(self) -> dict[str, Any]:
        return {"precision": self.precision, "bias": bool(getattr(self, "fit_intercept", False))}

    def _check_loss(self, settings: dict[str, Any]) -> None:
        loss, name = settings["loss"], settings["algorithm"]
        if loss not in self._losses:
            raise ValueError(f"{type(self).__name__} has no loss {loss!r} with {name}; it has {', '.join(self._losses)}")
        if self._losses is NUMBER_LOSSES and name.endswith("adaline"):
            raise ValueError(f"{name} is for classes: use a classifier")


def _scores_poorly(estimator: Settings) -> bool:
    """Follow the leader without a regularizer runs to and fro: it is there to be studied."""
    return (estimator._algorithm or estimator.algorithm) == "ftl"


def _loss_words() -> dict[str, tuple[str, ...]]:
    global _WORDS
    if _WORDS is None:
        rows = json.loads(_parsimon.registry())
        _WORDS = {row["name"]: next(tuple(s["words"]) for s in row["settings"] if s["name"] == "loss") for row in rows}
    return _WORDS


_WORDS: dict[str, tuple[str, ...]] | None = None
