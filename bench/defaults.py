#!/usr/bin/env python3
"""What `parsimon train` gives with no setting chosen, beside the defaults of other online learners and a converged batch model.

    python3 bench/defaults.py [--sets half-a|half-b|NAME,...] [--variant NAME=FLAGS]... [--extra FLAGS] [--no-flags] [--out FILE] [--json FILE]

Each set is split into a training part and a held-out test part (default_sets.py). Every learner reads the training part once, with
nothing tuned, and predicts the test part. Losses are compared row by row: log loss, with probabilities clipped at 1e-6, or the squared
error. z is the mean difference over its standard error: above 0 parsimon is worse, below 2 the difference may be noise.

parsimon gets the label's column, and for now also which columns are categories, and the loss of sets that are not two classes; --no-flags
leaves out all of these but the label's column. --variant runs parsimon with other flags, several side by side; without it, one variant
without flags runs. Settings are chosen on half a of the sets and reported on half b; a hash of the name decides the half.

Peers (default_peers.py) run under the interpreter of --python: `pip install vowpalwabbit scikit-learn river`. Those not installed are
left out, with a line that names them. Their predictions are kept in the folder of --cache, so that later runs only run parsimon. Sets
come from --data; where that folder is absent, only generated sets are used.
"""
import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

import default_sets
from measure import PARSIMON, ROOT, command_line, commit, processor, table, today

PEERS = {"vw": "VW", "sgd": "SGD", "sgd_scaled": "SGD scaled", "river": "River", "batch": "batch"}
FRONTIER = ["0.03", "0.1", "0.3", "1", "3", "10"]
SMALLEST = 1e-6
# A set with so many features is a sparse one, and has a frontier.
SPARSE = 1000


def losses(kind, targets, predictions):
    """Loss of each row; a missing or unbounded prediction costs infinity."""
    result = []
    for y, p in zip(targets, predictions, strict=True):
        if kind == "number":
            result.append((y - p) ** 2 if p is not None and math.isfinite(p) else math.inf)
        else:
            if kind == "two":
                right = p if p is None or y > 0 else 1 - p
            else:
                right = p[int(y) - 1]
            result.append(-math.log(min(max(right, SMALLEST), 1 - SMALLEST)) if right is not None and right == right else -math.log(SMALLEST))
    return result


def constant(kind, targets, rows, classes):
    """Predictions by the training mean alone."""
    if kind == "number":
        return [statistics.fmean(targets)] * rows
    if kind == "two":
        return [sum(y > 0 for y in targets) / len(targets)] * rows
    return [[targets.count(c + 1.0) / len(targets) for c in range(classes)]] * rows


def mean(values):
    return math.fsum(values) / len(values) if all(map(math.isfinite, values)) else math.inf


def paired_z(ours, theirs):
    if not math.isfinite(mean(ours)) or not math.isfinite(mean(theirs)):
        return math.inf if math.isfinite(mean(theirs)) else -math.inf
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    return statistics.fmean(differences) / error if error > 0 else 0.0


class Bench:
    def __init__(self, args):
        self.args = args
        self.variants = dict(v.partition("=")[::2] for v in args.variant) or {"parsimon": ""}
        self.peers = [p for p in PEERS if p in args.peers.split(",")]
        self.missing = {}

    def peer(self, learner, folder, about):
        """What a peer predicted, from the cache if it ran before; None if it cannot run."""
        cached = os.path.join(self.args.cache, "peers", f"{os.path.basename(folder)}-{learner}.json")
        if not os.path.exists(cached):
            os.makedirs(os.path.dirname(cached), exist_ok=True)
            command = [self.args.python, os.path.join(ROOT, "bench", "default_peers.py"), learner, folder, cached + ".partial"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                self.missing.setdefault(learner, {})[about["name"]] = (done.stderr.strip().splitlines() or ["no message"])[-1]
                return None
            os.rename(cached + ".partial", cached)
        with open(cached) as f:
            return json.load(f)

    def parsimon(self, folder, about, flags):
        """Predictions, nonzeros and the closing lines; or why there are none."""
        program, ending = self.args.parsimon, about["file"]
        given = about["label_flags"] + ([] if self.args.no_flags else about["other_flags"])
        with tempfile.TemporaryDirectory() as scratch:
            model, report, out = (os.path.join(scratch, name) for name in ("model.psm", "report.json", "predictions"))
            train = [program, "train", f"{folder}/train.{ending}", "-o", model, "--json", report, *given, *flags, *shlex.split(self.args.extra)]
            done = subprocess.run(train, capture_output=True, text=True)
            if done.returncode != 0:
                return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
            as_what = [] if about["kind"] == "number" else ["--as", "probability"]
            predicted = subprocess.run([program, "predict", model, f"{folder}/test.{ending}", "-o", out, *as_what], capture_output=True, text=True)
            if predicted.returncode != 0:
                return {"error": (predicted.stderr.strip().splitlines() or ["no message"])[-1]}
            with open(out) as f:
                rows = [[float(w) for w in line.replace(",", " ").split()] for line in f if line.strip()]
            with open(report) as f:
                report = json.load(f)
        predictions = rows if about["kind"] == "many" else [row[0] for row in rows]
        return {"predictions": predictions, "nonzeros": report["nonzeros"], "said": done.stderr.strip().splitlines()[-6:]}

    def set(self, one):
        folder, about = default_sets.prepare(one, self.args.data, os.path.join(self.args.cache, "sets"))
        kind, targets = about["kind"], about.pop("targets")
        test = targets["test"]
        guess = losses(kind, test, constant(kind, targets["train"], len(test), about["classes"]))
        result = {**about, "constant": mean(guess), "peers": {}, "variants": {}, "frontier": {}}
        by_peer = {}
        for learner in self.peers:
            found = self.peer(learner, folder, about)
            if found:
                by_peer[learner] = losses(kind, test, found["predictions"])
                result["peers"][learner] = {"loss": mean(by_peer[learner]), "nonzeros": found["nonzeros"], "version": found["version"]}

        def run(flags):
            found = self.parsimon(folder, about, shlex.split(flags))
            if "error" in found:
                return {"loss": math.inf, "nonzeros": None, "error": found["error"], "z": {n: math.inf for n in ["constant", *by_peer]}}
            ours = losses(kind, test, found.pop("predictions"))
            return {"loss": mean(ours), **found, "z": {name: paired_z(ours, other) for name, other in [("constant", guess), *by_peer.items()]}}

        for name, flags in self.variants.items():
            result["variants"][name] = run(flags)
        if self.args.frontier and about["features"] >= SPARSE:
            for name, flags in self.variants.items():
                result["frontier"][name] = {l1: run(f"{flags} --l1 {l1}") for l1 in FRONTIER}
        return result


def shown_run(result, run):
    return "failed" if "error" in run else shown(result, run["loss"])


def shown(result, loss):
    """A loss for the table: squared errors as shares of the constant's."""
    if loss is None:
        return ""
    if not math.isfinite(loss):
        return "diverged"
    share = loss / result["constant"] if result["kind"] == "number" else loss
    return f"{share:.4f}" if share < 100 else f"{share:.3g}"


def shown_z(z):
    return "" if z is None else f"{z:+.1f}" if math.isfinite(z) else ("+inf" if z > 0 else "-inf")


def results_table(results, variants, peers):
    head = ["set", "half", "rows", "features", "once", "constant", *variants, *(PEERS[p] for p in peers), *(f"{v}: nonzeros" for v in variants)]
    head += [f"{v}: z {against}" for v in variants for against in ("VW", "constant")]
    rows = []
    for r in results:
        row = [r["name"] + (", R" if r["kind"] == "number" else ""), r["half"], f"{r['rows']:,}", f"{r['features']:,}", f"{r['once']:.0%}"]
        row += [shown(r, r["constant"]), *(shown_run(r, r["variants"][v]) for v in variants)]
        row += [shown(r, r["peers"].get(p, {}).get("loss")) for p in peers]
        row += [f"{n:,}" if (n := r["variants"][v]["nonzeros"]) is not None else "failed" for v in variants]
        row += [shown_z(r["variants"][v]["z"].get(a)) for v in variants for a in ("vw", "constant")]
        rows.append(row)
    return table(head, rows)


def of(hits, results):
    return f"{len(hits)} of {len(results)}" + (f" ({', '.join(hits)})" if hits else "")


def summary(results, variants, peers):
    lines = []
    for v in variants:
        ours = {r["name"]: r["variants"][v] for r in results}
        with_vw = [r for r in results if "vw" in r["peers"]]
        behind = [r["name"] for r in with_vw if not ours[r["name"]]["z"]["vw"] < 2]
        ahead = [r["name"] for r in with_vw if ours[r["name"]]["z"]["vw"] < -2]
        below = [r["name"] for r in results if not ours[r["name"]]["z"]["constant"] <= 2]
        rare = [r for r in results if r["once"] >= 0.4]
        dense = [r["name"] for r in rare if (n := ours[r["name"]]["nonzeros"]) is None or n * 2 > r["features"] * (r["classes"] if r["kind"] == "many" else 1)]
        if with_vw:
            lines.append(f"* {v}: no worse than VW's default (z < 2) on {len(with_vw) - len(behind)} of {len(with_vw)} sets, "
                         f"{1 - len(behind) / len(with_vw):.0%}; better (z < -2) on {len(ahead)}; worse on {of(behind, with_vw)}")
        lines.append(f"* {v}: worse than the constant (z > 2) on {of(below, results)}")
        lines.append(f"* {v}: more nonzeros than half of the features, where at least 40% of the features occur once: {of(dense, rare)}")
        for p in peers:
            both = [r for r in results if p in r["peers"]]
            if p != "vw" and both:
                counts = [sum(ours[r["name"]]["z"][p] < -2 for r in both), sum(ours[r["name"]]["z"][p] >= 2 for r in both)]
                lines.append(f"* {v} beside {PEERS[p]}: better on {counts[0]}, worse on {counts[1]} of {len(both)}")
    return "\n".join(lines) + "\n"


def frontier_table(results, variants):
    text = ""
    for v in variants:
        rows = []
        for r in results:
            if r["frontier"].get(v):
                runs = [r["variants"][v], *r["frontier"][v].values()]
                cells = [shown_run(r, f) if "error" in f else f"{shown_run(r, f)} ({f['nonzeros']:,})" for f in runs]
                rows.append([r["name"], f"{r['features']:,}", *cells])
        if rows:
            text += f"\n{v}: loss (nonzeros) with l1 fixed\n\n" + table(["set", "features", "chosen", *(f"l1 {x}" for x in FRONTIER)], rows)
    return text


def chosen(text, data):
    """The sets asked for; real ones only if their folder is there."""
    sets = (default_sets.REAL if os.path.isdir(data) else []) + default_sets.GENERATED
    if text in ("all", "half-a", "half-b"):
        return [s for s in sets if text == "all" or default_sets.half(s.name) == text[-1]]
    by_name = {s.name: s for s in sets}
    unknown = [n for n in text.split(",") if n not in by_name]
    if unknown:
        raise SystemExit(f"unknown sets: {', '.join(unknown)}; there are {', '.join(by_name)}")
    return [by_name[n] for n in text.split(",")]


def left_out(missing):
    return " ".join(f"{PEERS[p]} did not run on {len(why)} sets: {next(iter(why.values()))}." for p, why in missing.items())


def finite(value):
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--parsimon", default=PARSIMON, help="the program")
    parser.add_argument("--sets", default="all", help="all, half-a, half-b, or names separated by commas")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=FLAGS", help="flags of parsimon train to run under a name (may be repeated)")
    parser.add_argument("--extra", default="", metavar="FLAGS", help="flags added to every variant")
    parser.add_argument("--no-flags", action="store_true", help="leave out the flags of the sets, but for the label's column")
    parser.add_argument("--no-frontier", dest="frontier", action="store_false", help="leave out the runs with l1 fixed")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers to run, separated by commas")
    parser.add_argument("--python", default=sys.executable, help="the interpreter with the peers")
    parser.add_argument("--data", default=os.path.join(os.path.dirname(ROOT), "shared", "data"), help="the folder of the real sets")
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "peers", "cache"), help="prepared sets and predictions of the peers")
    parser.add_argument("--out", help="write the page to this file")
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file")
    return parser.parse_args()


def main():
    args = arguments()
    bench = Bench(args)
    results = []
    for one in chosen(args.sets, args.data):
        results.append(bench.set(one))
        r = results[-1]
        line = " ".join(f"{v} {shown_run(r, f)} z {shown_z(f['z'].get('vw'))}" + (f" ({f['error']})" if "error" in f else "") for v, f in r["variants"].items())
        print(f"{r['name']}: constant {shown(r, r['constant'])}, VW {shown(r, r['peers'].get('vw', {}).get('loss'))}, {line}", file=sys.stderr, flush=True)
    versions = {p: next((r["peers"][p]["version"] for r in results if p in r["peers"]), None) for p in bench.peers}
    peers = [p for p in bench.peers if versions[p]]
    parts = [
        f"# Defaults beside defaults\n\n{today()}, {processor()}, commit {commit()}.",
        "Peers: " + ", ".join(f"{PEERS[p]} {versions[p]}" for p in peers) + ". " + left_out(bench.missing),
        f"Command: `python3 bench/defaults.py {command_line(sys.argv[1:])}`",
        "Test loss after one pass, nothing tuned: log loss, or for sets marked R the squared error as a share of the constant's. z: paired, above 0 parsimon is worse.",
        results_table(results, bench.variants, peers), summary(results, bench.variants, peers), frontier_table(results, bench.variants)]
    page = "\n\n".join(p.strip() for p in parts if p.strip()) + "\n"
    print(page)
    if args.out:
        with open(args.out, "w") as f:
            f.write(page)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(finite({"commit": commit(), "command": sys.argv[1:], "versions": versions, "sets": results}), f, indent=1)


if __name__ == "__main__":
    main()
