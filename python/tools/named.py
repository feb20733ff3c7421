"""Writes python/parsimon/_named.py from the registry: ``python python/tools/named.py``. A test sees that it is up to date."""

import json
from pathlib import Path

from parsimon import _parsimon
from parsimon._base import AS_NUMBERS, CLASS_LOSSES, NUMBER_LOSSES

TARGET = Path(__file__).parents[1] / "parsimon" / "_named.py"
ACRONYMS = ["sgd", "asgd", "rda", "ftrl", "ftprl", "aogd", "ftl", "csgd", "ncsgd", "rls", "lms", "nlms", "apa", "papa", "pnlms", "ipnlms", "apfbs", "pda", "fobos", "comid", "l1"]
SPELLED = {"adagrad": "AdaGrad", "adadelta": "AdaDelta", "multikernel": "MultiKernel"}
NOT_OURS = ("multiclass", "classes")
NOT_FOR_CLASSES = ("huber_delta", "quantile")
NOT_FOR_NUMBERS = ("class_weight",)
#: Methods whose classes have no class_weight of their own: their steps do not adapt to the importance of rows, so weights as far apart as scikit-learn's
#: check has them do not decide the class. ParsimonClassifier takes class_weight for every method.
WITHOUT_CLASS_WEIGHT = (
    "adadelta", "adaline", "adam", "apa", "apfbs", "asgd", "c-adaline", "csgd", "fobos", "generalized-rda", "ipnlms", "lazy-fobos", "lazy-sparse",
    "lazy-splitting", "lms", "ncsgd", "nlms", "papa", "pda", "pnlms", "rda", "sgd", "subgradient-l1", "truncated-gradient", "truncation",
)
#: With an l1 of the method's own, these are None: a penalty that is passed stands alone, and l1 is 0 unless it is passed, too.
PENALTIES = ("l1", "l2", "penalty", "ball")
#: The losses of classifiers; those of numbers come last, so that a loss of classes is the default.
OF_CLASSES = CLASS_LOSSES + AS_NUMBERS
RENAMED = {"alpha": "metric_alpha"}
FRAME = [
    ("passes", "10", "int", "how often ``fit`` goes over the rows"),
    ("shuffle", "True", "bool", "whether ``fit`` takes the rows in an order of its own, or as they stand"),
    ("random_state", "None", "Any", "the seed of that order; None is 0"),
    ("fit_intercept", "True", "bool", "whether there is a bias, which is never penalized"),
    ("precision", '"f64"', "str", "f64 or f32"),
]


def class_name(algorithm: str, kind: str) -> str:
    words = algorithm.split("-")
    spelled = [word.upper() if word in ACRONYMS else SPELLED.get(word, word.capitalize()) for word in words]
    return "".join(spelled) + kind


def losses_of(row: dict, losses: tuple[str, ...]) -> list[str]:
    words = next(s["words"] for s in row["settings"] if s["name"] == "loss")
    if row["name"].endswith("adaline") and losses is NUMBER_LOSSES:
        return []
    if row["name"].startswith("multikernel") and losses is OF_CLASSES:
        # Two classes alone: ParsimonClassifier learns them, and a named class would have to learn more.
        return []
    return [word for word in losses if word in words]


def own_l1(row: dict) -> float | None:
    """The l1 that a method uses when no penalty is passed."""
    return next((s["default"] for s in row["settings"] if s["name"] == "l1" and s["default"]), None)


def default_of(setting: dict, losses: list[str]) -> str:
    if setting["name"] == "loss":
        return json.dumps(losses[0])
    value = setting["default"]
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)


def type_of(setting: dict) -> str:
    default, words = setting["default"], setting["words"]
    if setting["name"] == "class_weight":
        return "str | dict[Any, float] | None"
    if isinstance(default, bool):
        return "bool"
    if words and (isinstance(default, str) or setting["name"] == "loss"):
        return "str"
    number = "int" if "whole number" in setting["must_be"] else "float"
    if isinstance(default, (int, float)):
        return number
    return f"{number} | None" if default is None and "number" in setting["must_be"] else "Any"


def example(name: str, algorithm: str | None) -> list[str]:
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


def klass(name: str, base: str, algorithm: str | None, about: list[str], settings: list[tuple[str, str, str, str]]) -> str:
    is_kernel = algorithm is not None and algorithm.startswith("multikernel")
    frame = [f for f in FRAME if not (is_kernel and f[0] == "fit_intercept")]
    lines = [f"class {name}({base}):"]
    lines.append(f'    """{about[0]}')
    lines += ["", *[f"    {line}" for line in about[1:]], "", "    Parameters", "    ----------"]
    for setting, _, _, text in [*settings, *frame]:
        lines += [f"    {setting}", f"        {text}"]
    lines += ["", "    Examples", "    --------", *[f"    {line}" for line in example(name, algorithm)], '    """', ""]
    if algorithm is not None:
        lines.append(f'    _algorithm = "{algorithm}"')
    names = [setting for setting, *_ in settings if setting != "algorithm"]
    lines.append(f"    _settings = ({', '.join(json.dumps(n) for n in names)},)")
    lines += ["", "    def __init__(", "        self,"]
    first = [s for s in settings if s[0] == "algorithm"]
    lines += [f"        {n}: {t} = {d}," for n, d, t, _ in first] + ["        *,"]
    lines += [f"        {n}: {t} = {d}," for n, d, t, _ in [*settings, *frame] if n != "algorithm"]
    lines.append("    ) -> None:")
    lines += [f"        self.{n} = {n}" for n in [s[0] for s in settings] + [f[0] for f in frame]]
    return "\n".join(lines) + "\n"


def text() -> str:
    rows = json.loads(_parsimon.registry())
    parts, names = [], []
    for kind, base, losses in (("Classifier", "Classifier", OF_CLASSES), ("Regressor", "Regressor", NUMBER_LOSSES)):
        able = [row for row in rows if losses_of(row, losses)]
        skipped = NOT_OURS + (NOT_FOR_CLASSES if losses is OF_CLASSES else NOT_FOR_NUMBERS)
        every: dict[str, list[str]] = {}
        for row in able:
            for s in row["settings"]:
                if s["name"] not in skipped:
                    every.setdefault(s["name"], []).append(s["about"])
        settings = [("algorithm", '"auto"', "str", "one of " + ", ".join(row["name"] for row in able))]
        every = {RENAMED.get(n, n): abouts for n, abouts in every.items()}
        settings += [(n, "None", "Any", "; or: ".join(dict.fromkeys(a)) + ". None: the default of the method") for n, a in every.items()]
        about = [f"Any method by its name, for {'classes' if kind == 'Classifier' else 'numbers'}."]
        about.append("A setting the method does not have is refused.")
        generic = f"Parsimon{kind}"
        parts.append(klass(generic, base, None, about, settings))
        names.append(generic)
        for row in able:
            own = losses_of(row, losses)
            settings = []
            for s in row["settings"]:
                if s["name"] in skipped or (s["name"] == "class_weight" and row["name"] in WITHOUT_CLASS_WEIGHT):
                    continue
                must = s["must_be"] if s["name"] != "loss" else "one of " + ", ".join(own)
                if own_l1(row) is not None and s["name"] in PENALTIES:
                    usual = s["default"] if s["name"] != "l1" else f"{s['default']} if no other penalty is passed, else 0"
                    s = {**s, "default": None}
                    must = f"{must}. None: {usual}"
                settings.append((s["name"], default_of(s, own), type_of(s), f"{s['about']}; {must}"))
            name = class_name(row["name"], kind)
            about = [f"``{row['name']}``: {row['paper']}.", f"Loss: {row['losses']}. Penalty: {row['penalties']}.",
                     f"Center: {row['center']}. Cost: {row['cost']}."]
            parts.append(klass(name, base, row["name"], about, settings))
            names.append(name)
    head = '"""Every method under a name of its own. Written by python/tools/named.py from the registry: do not edit."""\n\n'
    head += "from __future__ import annotations\n\nfrom typing import Any\n\nfrom ._classifier import Classifier\nfrom ._regressor import Regressor\n\n"
    head += "__all__ = [\n" + "".join(f'    "{n}",\n' for n in names) + "]\n"
    return head + "\n\n" + "\n\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(text())
    print(f"wrote {TARGET}")
