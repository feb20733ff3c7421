"""The classes are those of the registry."""

import importlib.util
import json
from pathlib import Path

import parsimon
from parsimon import _named, _parsimon

TOOL = Path(__file__).parents[1] / "tools" / "named.py"


def test_the_generated_classes_are_up_to_date():
    spec = importlib.util.spec_from_file_location("named_tool", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert Path(_named.__file__).read_text() == tool.text(), "run python python/tools/named.py"


def test_every_algorithm_has_an_estimator():
    names = {row["name"] for row in json.loads(_parsimon.registry())}
    classes = [getattr(parsimon, name) for name in _named.__all__]
    assert names == {c._algorithm for c in classes if c._algorithm}
