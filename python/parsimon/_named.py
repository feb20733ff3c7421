"""Every method under a name of its own, made from the registry when the package is imported.

A class is an estimator of scikit-learn: its ``__init__`` has the settings of the method as keywords, and keeps them as they are. Editors and type checkers
read ``_named.pyi``, which python/tools/named.py writes from the same tables.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple

from . import _parsimon
from ._classifier import Classifier
from ._regressor import Regressor
from ._settings import AS_NUMBERS, CLASS_LOSSES, NUMBER_LOSSES, unknown_setting

ACRONYMS = ["sgd", "asgd", "rda", "ftrl", "ftprl", "aogd", "ftl", "csgd", "ncsgd", "rls", "lms", "nlms", "apa", "papa", "pnlms", "ipnlms", "apfbs", "pda", "fobos", "comid", "l1", "nag", "pa", "arow", "scw"]
SPELLED = {"adagrad": "AdaGrad", "adadelta": "AdaDelta", "multikernel": "MultiKernel"}
NOT_OURS = ("multiclass", "classes")
NOT_FOR_CLASSES = ("huber_delta", "quantile")
NOT_FOR_NUMBERS = ("class_weight",)
#: Methods whose classes have no class_weight of their own: their steps do not adapt to the importance of rows, so weights as far apart as scikit-learn's
#: check has them do not decide the class. ParsimonClassifier takes class_weight for every method.
WITHOUT_CLASS_WEIGHT = (
    "adadelta", "adaline", "adam", "apa", "apfbs", "asgd", "c-adaline", "csgd", "fobos", "generalized-rda", "ipnlms", "lazy-fobos", "lazy-sparse",
    "lazy-splitting", "lms", "nag", "ncsgd", "nlms", "pa", "papa", "pda", "pnlms", "rda", "sgd", "subgradient-l1", "truncated-gradient", "truncation",
)
#: With an l1 of the method's own, these are None: a penalty that is passed stands alone, and l1 is 0 unless it is passed, too.
PENALTIES = ("l1", "l2", "penalty", "ball")
#: The losses of classifiers; those of numbers come last, so that a loss of classes is the default.
OF_CLASSES = CLASS_LOSSES + AS_NUMBERS
RENAMED = {"alpha": "metric_alpha"}


class Keyword(NamedTuple):
    """A keyword of a class: its name, default and type as an annotation, and what it is."""

    name: str
    default: Any
    type: str
    about: str


#: The class that takes any method lets the data decide where the method does.
ANY_PASSES = Keyword("passes", None, "int | None", "how often ``fit`` goes over the rows. None: with auto, what rows that are held out decide; with other methods 10")
FRAME = [
    Keyword("passes", 10, "int", "how often ``fit`` goes over the rows"),
    Keyword("shuffle", True, "bool", "whether ``fit`` takes the rows in an order of its own, or as they stand"),
    Keyword("random_state", None, "Any", "the seed of that order; None is 0"),
    Keyword("fit_intercept", True, "bool", "whether there is a bias, which is never penalized"),
    Keyword("precision", "f64", "str", "f64 or f32"),
    Keyword("warm_start", False, "bool", "whether ``fit`` goes on from what was learned before, or begins anew"),
    Keyword("verbose", 0, "int", "with 1 or more, ``fit`` shows a progress bar"),
]


class Description(NamedTuple):
    """What a class is made of."""

    name: str
    base: type
    algorithm: str | None
    about: list[str]
    keywords: list[Keyword]

    @property
    def frame(self) -> list[Keyword]:
        is_kernel = self.algorithm is not None and self.algorithm.startswith("multikernel")
        frame = [ANY_PASSES if self.algorithm is None and f.name == "passes" else f for f in FRAME]
        return [f for f in frame if not (is_kernel and f.name == "fit_intercept")]

    @property
    def doc(self) -> str:
        lines = [self.about[0], "", *self.about[1:], "", "Parameters", "----------"]
        for keyword in [*self.keywords, *self.frame]:
            lines += [keyword.name, f"    {keyword.about}"]
        lines += ["", "Examples", "--------", *_example(self.name, self.algorithm), ""]
        return "\n".join(lines)

    @property
    def signature(self) -> inspect.Signature:
        kind = inspect.Parameter
        parameters = [kind("self", kind.POSITIONAL_OR_KEYWORD)]
        for keyword in [*self.keywords, *self.frame]:
            place = kind.POSITIONAL_OR_KEYWORD if keyword.name == "algorithm" else kind.KEYWORD_ONLY
            parameters.append(kind(keyword.name, place, default=keyword.default, annotation=keyword.type))
        return inspect.Signature(parameters, return_annotation="None")


def _class_name(algorithm: str, kind: str) -> str:
    words = algorithm.split("-")
    spelled = [word.upper() if word in ACRONYMS else SPELLED.get(word, word.capitalize()) for word in words]
    return "".join(spelled) + kind


def _losses_of(row: dict[str, Any], losses: tuple[str, ...]) -> list[str]:
    words = next(s["words"] for s in row["settings"] if s["name"] == "loss")
    if row["name"].endswith("adaline") and losses is NUMBER_LOSSES:
        return []
    if row["name"].startswith("multikernel") and losses is OF_CLASSES:
        # Two classes alone: ParsimonClassifier learns them, and a named class would have to learn more.
        return []
    return [word for word in losses if word in words]


def _own_l1(row: dict[str, Any]) -> float | None:
    """The l1 that a method uses when no penalty is passed."""
    return next((s["default"] for s in row["settings"] if s["name"] == "l1" and s["default"]), None)


def _type_of(setting: dict[str, Any]) -> str:
    default, words = setting["default"], setting["words"]
    if setting["name"] == "class_weight":
        return "str | dict[Any, float] | None"
    if setting["name"] == "penalty_factor":
        return "dict[str, float] | None"
    if isinstance(default, bool):
        return "bool"
    if words and (isinstance(default, str) or setting["name"] == "loss"):
        return "str"
    number = "int" if "whole number" in setting["must_be"] else "float"
    if isinstance(default, (int, float)):
        return number
    return f"{number} | None" if default is None and "number" in setting["must_be"] else "Any"


def _example(name: str, algorithm: str | None) -> list[str]:
    if name.endswith("Classifier"):
        labels, question, answer = "[1, 0] * 50", "model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()", "[1, 0]"
    else:
        labels, question, answer = "[1.0, 0.0] * 50", "model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])", "array([ True])"
    if algorithm == "ftl":
        # It runs to and fro, and its answers show where it was last.
        question, answer = "model.nonzeros_ <= 2", "True"
    return [
        f">>> from parsimon import {name}",
        f">>> model = {name}().fit([[1.0, 0.0], [0.0, 1.0]] * 50, {labels})",
        f">>> {question}",
        answer,
    ]


def _any_method(base: type, kind: str, able: list[dict[str, Any]], skipped: tuple[str, ...]) -> Description:
    """The class that takes the method as a keyword."""
    every: dict[str, list[str]] = {}
    for row in able:
        for s in row["settings"]:
            if s["name"] not in skipped:
                every.setdefault(RENAMED.get(s["name"], s["name"]), []).append(s["about"])
    keywords = [Keyword("algorithm", "auto", "str", "one of " + ", ".join(row["name"] for row in able))]
    keywords += [Keyword(n, None, "Any", "; or: ".join(dict.fromkeys(a)) + ". None: the default of the method") for n, a in every.items()]
    about = [f"Any method by its name, for {'classes' if kind == 'Classifier' else 'numbers'}.", "A setting the method does not have is refused."]
    return Description(f"Parsimon{kind}", base, None, about, keywords)


def _one_method(row: dict[str, Any], base: type, kind: str, losses: list[str], skipped: tuple[str, ...]) -> Description:
    keywords = []
    for s in row["settings"]:
        if s["name"] in skipped or (s["name"] == "class_weight" and row["name"] in WITHOUT_CLASS_WEIGHT):
            continue
        default, must = s["default"], s["must_be"]
        if s["name"] == "loss":
            default, must = losses[0], "one of " + ", ".join(losses)
        if _own_l1(row) is not None and s["name"] in PENALTIES:
            usual = default if s["name"] != "l1" else f"{default} if no other penalty is passed, else 0"
            s, default, must = {**s, "default": None}, None, f"{must}. None: {usual}"
        keywords.append(Keyword(s["name"], default, _type_of(s), f"{s['about']}; {must}"))
    about = [f"``{row['name']}``: {row['paper']}.", f"Loss: {row['losses']}. Penalty: {row['penalties']}.",
             f"Center: {row['center']}. Cost: {row['cost']}."]
    return Description(_class_name(row["name"], kind), base, row["name"], about, keywords)


def descriptions() -> list[Description]:
    """All classes, in order."""
    rows = json.loads(_parsimon.registry())
    found = []
    kinds: tuple[tuple[str, type, tuple[str, ...]], ...] = (("Classifier", Classifier, OF_CLASSES), ("Regressor", Regressor, NUMBER_LOSSES))
    for kind, base, losses in kinds:
        able = [row for row in rows if _losses_of(row, losses)]
        skipped = NOT_OURS + (NOT_FOR_CLASSES if losses is OF_CLASSES else NOT_FOR_NUMBERS)
        found.append(_any_method(base, kind, able, skipped))
        found += [_one_method(row, base, kind, _losses_of(row, losses), skipped) for row in able]
    return found


def _made(described: Description) -> type:
    signature = described.signature
    defaults = {name: p.default for name, p in signature.parameters.items() if name != "self"}
    leading = ("algorithm",) if "algorithm" in defaults else ()

    def __init__(self: Any, *values: Any, **keywords: Any) -> None:
        if len(values) > len(leading):
            raise TypeError(f"{described.name} takes keywords alone" + (", but for the algorithm" if leading else ""))
        given = dict(zip(leading, values))
        odd = next((name for name in keywords if name not in defaults or name in given), None)
        if odd is not None:
            if odd in given:
                raise TypeError(f"{described.name} got {odd!r} twice")
            raise TypeError(unknown_setting(described.name, odd, list(defaults)))
        for name, value in {**defaults, **given, **keywords}.items():
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__annotations__ = {k.name: k.type for k in [*described.keywords, *described.frame]}
    __init__.__qualname__ = f"{described.name}.__init__"
    settings = tuple(k.name for k in described.keywords if k.name != "algorithm")
    members: dict[str, Any] = {"__doc__": described.doc, "__module__": __name__, "__init__": __init__, "_settings": settings}
    if described.algorithm is not None:
        members["_algorithm"] = described.algorithm
    return type(described.name, (described.base,), members)


_CLASSES = {described.name: _made(described) for described in descriptions()}
globals().update(_CLASSES)
__all__ = list(_CLASSES)
