#!/usr/bin/env python3
"""Tests of Vowpal Wabbit's own suite, run by VW and by parsimon as they are typed.

    python bench/vw_suite.py --suite ../shared/data/vw-suite --parsimon target/release/parsimon --vw "python -m vowpalwabbit"

A test counts if the predictions of both correlate above .99, or if the loss that parsimon prints is within 2% of VW's (or lower), on the
same number of examples. Without --vw the losses that the suite records are compared. `--out FILE` writes the table as Markdown.
"""

import argparse
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NOT_THERE = {122, 139, 165, 217, 227, 431, 434}
"""Tests of the suite that name a model whose file the suite does not hold."""


def loss_of(text):
    """The loss and the number of examples of a summary."""
    loss = re.search(r"average loss = (\S+)", text)
    rows = re.search(r"number of examples(?: per pass)? = (\d+)", text)
    return (loss.group(1) if loss else None), (int(rows.group(1)) if rows else None)


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def predictions(path):
    """Every number of a file of predictions; words count by their order of first sight."""
    if not path.exists():
        return None
    values, words = [], {}
    for line in path.read_text(errors="replace").splitlines():
        # The first word is the prediction, and a tag follows it; probabilities of classes are all of the line.
        parts = line.split() if ":" in line.split(" ")[0] else line.split(" ")[:1]
        for part in parts:
            text = part.rsplit(":", 1)[-1]
            value = number(text)
            values.append(words.setdefault(text, float(len(words))) if value is None else value)
    return values


def correlation(a, b):
    if a is None or b is None or len(a) != len(b) or not a:
        return None
    if all(math.isclose(x, y, rel_tol=1e-4, abs_tol=1e-5) for x, y in zip(a, b)):
        return 1.0
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    cov = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    var_a = sum((x - mean_a) ** 2 for x in a)
    var_b = sum((y - mean_b) ** 2 for y in b)
    return cov / math.sqrt(var_a * var_b) if var_a > 0 and var_b > 0 else None


def run(program, command, folder):
    """Runs a command line with predictions written to a file besides its own."""
    words = shlex.split(command, posix=True) if "\\" in command else command.split()
    (folder / "models").mkdir(exist_ok=True)
    asked = next((words[k + 1] for k, word in enumerate(words[:-1]) if word in ("-p", "--predictions")), None)
    extra = [] if asked else ["-p", "suite.predictions"]
    path = folder / (asked or "suite.predictions")
    path.unlink(missing_ok=True)
    done = subprocess.run(program + words + extra, cwd=folder, capture_output=True, text=True, errors="replace", timeout=600)
    return done.returncode, done.stdout + done.stderr, predictions(path)


def judge(test, theirs, ours, recorded):
    """The verdict on a test that both ran."""
    code, text, predicted = ours
    loss, rows = loss_of(text)
    if code != 0:
        lines = [line for line in text.splitlines() if line.startswith("error:")]
        return "refused" if code == 2 else "failed", lines[-1][7:] if lines else text.strip()[-200:], loss, None
    if theirs is not None and theirs[0] == 0:
        vw_loss, vw_rows = loss_of(theirs[1])
        r = correlation(theirs[2], predicted)
    else:
        vw_loss, vw_rows, r = recorded[0], recorded[1], None
    if vw_rows is not None and rows != vw_rows:
        return "differs", f"{rows} examples, VW {vw_rows}", loss, r
    a, b = number(loss), number(vw_loss)
    near = a is not None and b is not None and a <= b + 0.02 * abs(b) + 1e-6
    same_word = a is None and b is None and loss == vw_loss and r is not None
    if (r is not None and r > 0.99) or near or same_word:
        return "same", "", loss, r
    return "differs", f"loss {loss}, VW {vw_loss}", loss, r


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=Path, required=True, help="folder with tests.json and the input files")
    parser.add_argument("--parsimon", type=Path, required=True, help="the program")
    parser.add_argument("--vw", help="command that runs VW, such as 'python -m vowpalwabbit'; without it the recorded losses are compared")
    parser.add_argument("--only", type=int, nargs="*", help="ids of tests")
    parser.add_argument("--out", type=Path, help="file for the table, as Markdown")
    args = parser.parse_args()
    tests = json.loads((args.suite / "tests.json").read_text())
    with tempfile.TemporaryDirectory() as temporary:
        folders = []
        for name in ["vw", "parsimon"]:
            folder = Path(temporary) / name
            folder.mkdir()
            for data in ["train-sets", "test-sets"]:
                shutil.copytree(args.suite / data, folder / data)
            folders.append(folder)
        program = [str(args.parsimon.resolve()), "vw"]
        lines, counts = [], {}
        known = {test["id"] for test in tests}
        for test in tests:
            if args.only and test["id"] not in args.only:
                continue
            theirs = run(shlex.split(args.vw), test["command"], folders[0]) if args.vw else None
            ours = run(program, test["command"], folders[1])
            recorded = (test["average_loss"], int(test["examples"]) if test["examples"] else None)
            verdict, why, loss, r = judge(test, theirs, ours, recorded)
            if test["id"] in NOT_THERE:
                verdict, why = "no model", f"needs the model of test {test['needs'][0]}"
            elif "no such file" in why.lower() and any(needed not in known for needed in test["needs"]):
                verdict, why = "refused", f"needs the model of test {test['needs'][0]}, whose command the suite does not hold"
            elif verdict == "failed":
                verdict = "refused" if why else verdict
            counts[verdict] = counts.get(verdict, 0) + 1
            vw_loss = loss_of(theirs[1])[0] if theirs and theirs[0] == 0 else recorded[0]
            shown = "" if r is None else f"{r:.4f}"
            lines.append(f"| {test['id']} | {vw_loss or ''} | {loss or ''} | {shown} | {verdict} | {why} |")
            print(lines[-1], test["command"], flush=True)
        print(counts)
        if args.out:
            head = "| test | VW's loss | loss | correlation | verdict | why |\n| --- | --- | --- | --- | --- | --- |\n"
            args.out.write_text(head + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
