#!/usr/bin/env python3
"""What curves and pairs of columns give on the tables of shared/data/more: test loss, stored weights and CPU time of several variants.

    python3 bench/curves.py [--parsimon PROGRAM] [--sets half-a|half-b|NAME,...] [--variant NAME=FLAGS]... [--json FILE]

A set is split where its README says: the first rows are learned once, with nothing tuned, the rest is predicted. The loss is the log
loss, or the squared error. Variants are `lines` (--curves none --pairs none), `curves` (--pairs none) and `default` (no flag) unless
--variant names others. Settings are chosen on half a of the sets and reported on half b, as in defaults.py: a hash of the name decides.
CPU seconds are those of the whole command, and depend on what else the machine does.
"""
import argparse
import gzip
import json
import os
import re
import resource
import statistics
import subprocess
import tempfile

import default_sets
from measure import PARSIMON, ROOT, commit, processor, table, today

VARIANTS = {"lines": "--curves none --pairs none", "curves": "--pairs none", "default": ""}
LINE = re.compile(r"\| (\S+)\.csv\.gz \| ([\d,]+) \| ([\d,]+) \| (.*?) \| `?(.*?)`? \|")


def sets(folder):
    """Name, number of training rows and label of each table."""
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as readme:
        found = [LINE.match(line) for line in readme]
    return [(m[1], int(m[3].replace(",", "")), m[5]) for m in found if m]


def split(folder, name, rows, scratch):
    """Paths of the training and the test part."""
    with gzip.open(os.path.join(folder, f"{name}.csv.gz"), "rt") as file:
        lines = file.read().splitlines()
    paths = [os.path.join(scratch, f"{name}-{part}.csv") for part in ("train", "test")]
    for path, part in zip(paths, (lines[1 : rows + 1], lines[rows + 1 :]), strict=True):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([lines[0], *part]) + "\n")
    return paths


def measured(program, train, test, label, flags, scratch):
    """Loss on the test part, stored weights, CPU seconds, and what the program decided."""
    model, report = os.path.join(scratch, "model.psm"), os.path.join(scratch, "report.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([program, "train", train, "-o", model, "--label-column", label, *flags.split()], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    subprocess.run([program, "evaluate", model, test, "--json", report], capture_output=True, check=True)
    with open(report, encoding="utf-8") as file:
        metrics = json.load(file)
    loss = metrics["rmse"] ** 2 if "rmse" in metrics else metrics["log_loss"]
    shown = subprocess.run([program, "inspect", model, "--json"], capture_output=True, text=True, check=True)
    decided = [line for line in run.stderr.splitlines() if "not learned" in line]
    return {"loss": loss, "accuracy": metrics.get("accuracy"), "nonzeros": json.loads(shown.stdout)["nonzeros"], "cpu": cpu, "decided": decided}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--parsimon", default=PARSIMON, help="the program")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(ROOT), "shared", "data", "more"), help="the folder of the sets")
    parser.add_argument("--sets", default="all", help="all, half-a, half-b, or names separated by commas")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=FLAGS", help="flags of parsimon train to run under a name (may be repeated); the first is the base of ratios")
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file")
    return parser.parse_args()


def main():
    given = arguments()
    variants = dict(v.split("=", 1) for v in given.variant) or VARIANTS
    wanted = given.sets.split(",")
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, rows, label in sets(given.data):
            half = default_sets.half(name)
            if given.sets != "all" and f"half-{half}" not in wanted and name not in wanted:
                continue
            parts = split(given.data, name, rows, scratch)
            results[name] = {"half": half, "rows": rows}
            for variant, flags in variants.items():
                results[name][variant] = measured(given.parsimon, *parts, label, flags, scratch)
    base = next(iter(variants))
    head = ["set", "half", "rows", *(f"{v}: {what}" for v in variants for what in ("loss", "ratio", "weights", "CPU s"))]
    body = []
    for name, result in results.items():
        row = [name, result["half"], f"{result['rows']:,}"]
        for variant in variants:
            one, first = result[variant], result[base]
            row += [f"{one['loss']:.4g}", f"{one['loss'] / first['loss']:.3f}", f"{one['nonzeros']:,}", f"{one['cpu']:.2f}"]
        body.append(row)
    print(f"{today()}, {processor()}, commit {commit()}\n")
    print(table(head, body))
    for variant in list(variants)[1:]:
        def median(what, variant=variant):
            return statistics.median(r[variant][what] / max(r[base][what], 1e-9) for r in results.values())
        worse = [n for n, r in results.items() if r[variant]["loss"] > 1.01 * r[base]["loss"]]
        print(f"\n{variant} against {base}: median ratio of losses {median('loss'):.3f}, of stored weights {median('nonzeros'):.1f}, of CPU {median('cpu'):.1f}; more than 1% worse: {', '.join(worse) or 'none'}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
