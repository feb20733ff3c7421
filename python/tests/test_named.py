"""The classes are those of the registry."""

import importlib.util
import inspect
import json
import pydoc
from pathlib import Path

import parsimon
import pytest
from parsimon import _named, _parsimon

TOOL = Path(__file__).parents[1] / "tools" / "named.py"


def test_the_stubs_of_the_classes_are_up_to_date():
    spec = importlib.util.spec_from_file_location("named_tool", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert Path(_named.__file__).with_suffix(".pyi").read_text() == tool.text(), "run python python/tools/named.py"


def test_every_algorithm_has_an_estimator():
    names = {row["name"] for row in json.loads(_parsimon.registry())}
    classes = [getattr(parsimon, name) for name in _named.__all__]
    assert names == {c._algorithm for c in classes if c._algorithm}


def test_a_class_reads_like_one_of_scikit_learn():
    signature = inspect.signature(parsimon.FTRLClassifier)
    assert signature.parameters["l1"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parsimon.ParsimonClassifier("rda").algorithm == "rda"
    helped = pydoc.render_doc(parsimon.FTRLClassifier, renderer=pydoc.plaintext)
    assert "class FTRLClassifier" in helped and "Parameters" in helped and "McMahan" in helped


@pytest.mark.parametrize(("arguments", "keywords", "words"), [((1,), {}, "keywords alone"), ((), {"l7": 1}, "no setting 'l7'")])
def test_what_a_class_does_not_take_is_refused(arguments, keywords, words):
    with pytest.raises(TypeError, match=words):
        parsimon.FTRLClassifier(*arguments, **keywords)
