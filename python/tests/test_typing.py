"""Types: the stubs are those of the native module, and a user's program is checked."""

import os
import subprocess
import sys
from pathlib import Path

import parsimon
import pytest

pytest.importorskip("mypy")

USER = Path(__file__).parent / "typed_user.py"


def mypy(*arguments, **variables):
    environment = {**os.environ, **variables}
    command = [sys.executable, "-m", *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def check(path, cache):
    place = str(Path(parsimon.__file__).parents[1])
    variables = {} if "site-packages" in place else {"MYPYPATH": place}
    flags = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", f"--cache-dir={cache}"]
    return mypy("mypy", *flags, path, **variables)


def test_the_stubs_are_those_of_the_native_module():
    code, said = mypy("mypy.stubtest", "parsimon._parsimon")
    assert code == 0, said


def test_a_users_program_is_typed(tmp_path):
    code, said = check(USER, tmp_path)
    assert code == 0, said
    wrong = tmp_path / "wrong.py"
    wrong.write_text(USER.read_text().replace("l1=0.1", 'l1="much"').replace("taps=16, settings", "tops=16, settings"))
    code, said = check(wrong, tmp_path)
    assert code == 1 and '"l1"' in said and '"tops"' in said and "Found 2 errors" in said, said


def test_a_result_without_a_type_is_found(tmp_path):
    untyped = tmp_path / "untyped.py"
    untyped.write_text(USER.read_text().replace("model = parsimon.FTRLRegressor()", "model: Any = parsimon.FTRLRegressor()"))
    code, said = check(untyped, tmp_path)
    assert code == 1 and 'Expression is of type "Any"' in said, said
