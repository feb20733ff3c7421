#!/usr/bin/env python3
"""How fast parsimon is, beside whatever peers are installed, on generated data.

    python3 bench/speed.py [--rows 1000000] [--rounds 5] [--only NAME] [--python PATH] [--out record/speed.md]

Builds parsimon and the data, runs the contestants of a section interleaved, and prints medians, spread and ratios.

Peers: Vowpal Wabbit and scikit-learn are taken from the interpreter of --python (`pip install vowpalwabbit scikit-learn`),
Fwumious Wabbit is the program `fw` on the path; what is missing is left out, with a line that says so. --reference FOLDER builds
the program ftrl_ref.c of that folder, a loop without checks or features, as a limit. --real FOLDER has a9a.gz, a9a.t.gz and
w8a.gz for the section on quality.
"""
import argparse
import gzip
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

from measure import (PARSIMON, ROOT, SCRATCH, Patience, build, command_line, commit, generate, interleaved, is_fresh, median, processor, spread, table, today,
                     write_record)

VW = "import sys, vowpalwabbit; w = vowpalwabbit.Workspace(sys.argv[1]); w.finish()"
CLICKS = {"rate": 0.1, "beta": 1, "l1": 1, "l2": 1}
DOCUMENTS = {"rate": 1, "beta": 1, "l1": 0.1, "l2": 0.1}


def scratch(name):
    return os.path.join(SCRATCH, name)


class Bench:
    """What is measured, with whom, how often."""

    def __init__(self, args):
        self.rounds, self.patience, self.python = args.rounds, Patience(args.patience), args.python
        self.rows, self.documents = args.rows, max(args.rows // 10, 1)
        self.real = args.real
        self.missing = []
        self.has_vw = self.can_import("vowpalwabbit")
        self.has_sklearn = self.can_import("sklearn")
        self.fw = shutil.which("fw")
        if not self.fw:
            self.missing.append("Fwumious Wabbit: no `fw` on the path")
        self.reference = self.build_reference(args.reference)

    def can_import(self, module):
        found = subprocess.run([self.python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0
        if not found:
            self.missing.append(f"{module}: not installed for {self.python}")
        return found

    def build_reference(self, folder):
        source = folder and os.path.join(folder, "ftrl_ref.c")
        if not (source and os.path.exists(source) and shutil.which("gcc")):
            self.missing.append("the reference loop: no --reference, or no gcc")
            return None
        program = scratch("ftrl_ref")
        subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-pthread", "-o", program, source, "-lm"], check=True,
                       stderr=subprocess.DEVNULL)
        return program

    # The data.

    def clicks(self, seed=1, rows=None):
        return generate("clicks", rows or self.rows, seed, svm="svm", vw="vw", tokens="tokens.vw")

    def words(self, seed=1, rows=None):
        forms = {"svm": "svm", "vw": "vw", "svm_exponents": "exponents.svm", "vw_exponents": "exponents.vw"}
        return generate("documents", rows or self.documents, seed, **forms)

    # The contestants.

    def train(self, path, settings, *flags, model="model.psm"):
        numbers = [w for name, value in settings.items() for w in (f"--{name}", str(value))]
        return [PARSIMON, "train", path, "--quiet", "-a", "ftrl", *numbers, "-o", scratch(model), *flags]

    def vw(self, flags):
        return [self.python, "-c", VW, f"--quiet --loss_function logistic {flags}"]

    def vw_ftrl(self, path, settings, bits=20, more="", model="model.vw"):
        numbers = f"--ftrl_alpha {settings['rate']} --ftrl_beta {settings['beta']} --l1 {settings['l1']} --l2 {settings['l2']}"
        return self.vw(f"--ftrl {numbers} --holdout_off -b {bits} -d {path} -f {scratch(model)} {more}")

    def reference_loop(self, path, mode, bits, settings):
        numbers = [str(settings[k]) for k in ("rate", "beta", "l1", "l2")]
        return [self.reference, path, mode, str(bits), "1", scratch("model.ref"), *numbers]

    def contest(self, title, features, contestants, peer=None, note=None):
        """A section: every contestant's median, and the peer's over it."""
        contestants = {name: command for name, command in contestants.items() if command}
        runs = interleaved(contestants, self.rounds, self.patience)
        peer = peer if peer in runs else None
        head = ["", "wall s", "CPU s", "peak MB", "Mfeatures/s"] + (["peer's wall / this", "peer's CPU / this"] if peer else [])
        lines = []
        for name, own in runs.items():
            wall, cpu = median(own, "wall"), median(own, "cpu")
            line = [name, spread([r.wall for r in own]), spread([r.cpu for r in own]), f"{median(own, 'peak_mb'):.0f}", f"{features / wall / 1e6:.1f}"]
            if peer:
                line += [f"{median(runs[peer], 'wall') / wall:.1f}x", f"{median(runs[peer], 'cpu') / cpu:.1f}x"]
            lines.append(line)
        foreign = max(r.foreign for own in runs.values() for r in own)
        text = f"## {title}\n\n" + (note + "\n\n" if note else "") + table(head, lines)
        return text + f"\nOther processes took at most {100 * foreign:.0f}% of the machine during a run.\n"

    # The sections.

    def ids(self):
        data = self.clicks()
        return self.contest("Click log, integer ids, text to model", 40 * self.rows, {
            "parsimon, svmlight, 1 thread": self.train(data["svm"], CLICKS, "--threads", "1"),
            "parsimon, svmlight, default threads": self.train(data["svm"], CLICKS),
            "the reference loop, 1 thread": self.reference and self.reference_loop(data["svm"], "1r", 20, CLICKS),
            "vw --ftrl, VW text": self.has_vw and self.vw_ftrl(data["vw"], CLICKS),
        }, "vw --ftrl, VW text")

    def tokens(self):
        data, sections = self.clicks(), []
        fw = self.fw and [self.fw, "--data", data["tokens"], "--final_regressor", scratch("model.fw"), "--adaptive", "--sgd", "--learning_rate", "0.1",
                          "--power_t", "0.5", "--l2", "0", "--link", "logistic", "--loss_function", "logistic"]
        fw = fw and fw + [w for n in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn" for w in ("--keep", n)]
        if fw:
            fields = "".join(f"{n},{n}\n" for n in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn")
            with open(scratch("vw_namespace_map.csv"), "w") as f:
                f.write(fields)
        for bits in (20, 24):
            sections.append(self.contest(f"Click log, words in 40 namespaces, hashed into 2^{bits}", 40 * self.rows, {
                "parsimon, names kept": self.train(data["tokens"], CLICKS, "-b", str(bits)),
                "parsimon, names not kept": self.train(data["tokens"], CLICKS, "-b", str(bits), "--no-names"),
                "parsimon, names not kept, 1 thread": self.train(data["tokens"], CLICKS, "-b", str(bits), "--no-names", "--threads", "1"),
                "the reference loop, 1 thread": self.reference and self.reference_loop(data["tokens"], "ns", bits, CLICKS),
                "fw (adagrad)": fw and [*fw, "-b", str(bits)],
                f"vw --ftrl -b {bits}": self.has_vw and self.vw_ftrl(data["tokens"], CLICKS, bits),
            }, f"vw --ftrl -b {bits}"))
        return "\n".join(sections)

    def floats(self):
        data, sections = self.words(), []
        with open(data["svm"]) as f:
            features = sum(line.count(":") for line in f)
        for title, svm, vw in (("0.062733", "svm", "vw"), ("6.27e-02", "svm-exponents", "vw-exponents")):
            sections.append(self.contest(f"Documents, numbers such as {title}", features, {
                "parsimon, svmlight, 1 thread": self.train(data[svm], DOCUMENTS, "--threads", "1"),
                "parsimon, svmlight, default threads": self.train(data[svm], DOCUMENTS),
                "the reference loop, 1 thread": self.reference and self.reference_loop(data[svm], "1r", 20, DOCUMENTS),
                "vw --ftrl, VW text": self.has_vw and self.vw_ftrl(data[vw], DOCUMENTS),
            }, "vw --ftrl, VW text"))
        return "\n".join(sections)

    def cache(self):
        data = self.clicks()
        ours, theirs = scratch("clicks.psc"), scratch("clicks.cache")
        subprocess.run([PARSIMON, "convert", data["svm"], "-o", ours], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # VW writes its cache in the round that warms up.
        if os.path.exists(theirs):
            os.remove(theirs)
        return self.contest("Click log from a binary cache", 40 * self.rows, {
            "parsimon, its cache": self.train(ours, CLICKS),
            "parsimon, its cache, 1 thread": self.train(ours, CLICKS, "--threads", "1"),
            "vw --ftrl, its cache": self.has_vw and self.vw_ftrl(data["vw"], CLICKS, more=f"--cache_file {theirs}"),
        }, "vw --ftrl, its cache")

    def predict(self):
        data = self.clicks()
        subprocess.run(self.train(data["svm"], CLICKS, model="predict.psm"), check=True)
        if self.has_vw:
            subprocess.run(self.vw_ftrl(data["vw"], CLICKS, model="predict.vw"), check=True)
        out = scratch("scores")
        return self.contest("Prediction, text to scores", 40 * self.rows, {
            "parsimon predict, svmlight": [PARSIMON, "predict", scratch("predict.psm"), data["svm"], "-o", out],
            "parsimon predict, 1 thread": [PARSIMON, "predict", scratch("predict.psm"), data["svm"], "-o", out, "--threads", "1"],
            "vw -t, VW text": self.has_vw and self.vw(f"-t -i {scratch('predict.vw')} -d {data['vw']} -p {out}.vw --link logistic"),
        }, "vw -t, VW text")

    def tune(self):
        if subprocess.run([PARSIMON, "tune", "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            return "## Sixteen settings in one pass over text\n\nThis parsimon has no `tune`.\n"
        data = self.clicks()
        sweep = [PARSIMON, "tune", data["svm"], "-a", "ftrl", "--l2", "1", "--sweep", "l1=0.1..10:4", "--sweep", "rate=0.02..0.2:4", "--keep-all"]
        return self.contest("Sixteen settings in one pass over text", 40 * self.rows, {
            "parsimon tune, 16 settings": sweep,
            "parsimon train, 1 setting": self.train(data["svm"], CLICKS),
        }, "parsimon train, 1 setting", "The ratios are of one setting's time to that of all sixteen.")

    def memory(self):
        """From memory: our own benchmark, and scikit-learn."""
        output = subprocess.run(["cargo", "bench", "--quiet", "-p", "parsimon", "--bench", "rules"], cwd=ROOT, capture_output=True, text=True, check=True)
        lines = [[f"`{name}`", *(f"{x:.2f}" for x in ns)] for name, ns in nanoseconds(output.stdout)]
        text = "## From memory, ns per nonzero\n\n`cargo bench -p parsimon --bench rules`: 40 one-hot features to a row, Zipf over 2^20 slots "
        text += "(or 2^24 where it says 24), f32. `random_access` reads and writes the coordinates and does nothing else.\n\n"
        text += table(["", "median", "least", "most"], lines)
        if self.has_sklearn:
            rows = []
            for penalty in ("l2", "l1"):
                result = self.sklearn(penalty, 1 << 20, self.clicks()["svm"], self.clicks(2, 100)["svm"], self.rounds)
                rates = [s / result["features"] * 1e9 for s in result["seconds"]]
                rows.append([f"scikit-learn SGDClassifier, {penalty}, CSR, partial_fit", spread(rates)])
            text += "\n" + table(["the click log", "ns per nonzero"], rows)
        return text

    def sklearn(self, penalty, features, train, test, rounds):
        script = os.path.join(ROOT, "bench", "peer_sklearn.py")
        command = [self.python, script, penalty, str(features), train, test, str(rounds)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def quality(self):
        held_out = self.clicks(2, max(self.rows // 10, 1))
        sets = [("clicks", self.clicks()["svm"], held_out["svm"], 1 << 20, CLICKS)]
        held_out = self.words(2, max(self.documents // 5, 1))
        sets.append(("documents", self.words()["svm"], held_out["svm"], 47_237, DOCUMENTS))
        sets += self.real_sets()
        lines = [[name, *line] for name, *rest in sets for line in self.quality_of(*rest)]
        text = "## Quality, one pass, rows held out\n\n"
        if self.real is None:
            text += "a9a and w8a not run: no --real FOLDER with a9a.gz, a9a.t.gz and w8a.gz (`parsimon data list` knows them).\n\n"
        else:
            text += "The rows of w8a, which come sorted by class, are shuffled; every fifth is held out.\n\n"
        return text + table(["data", "", "log loss", "AUC", "nonzero weights"], lines)

    def real_sets(self):
        if self.real is None:
            return []
        read = lambda name: gzip.open(os.path.join(self.real, name), "rt").readlines()
        w8a, sets = read("w8a.gz"), []
        # The file has one class after the other, which no method that learns in one pass is made for.
        random.Random(1).shuffle(w8a)
        learned = [row for k, row in enumerate(w8a) if k % 5 != 4]
        for name, features, train, test in (("a9a", 124, read("a9a.gz"), read("a9a.t.gz")), ("w8a", 301, learned, w8a[4::5])):
            paths = [scratch(f"{name}.svm"), scratch(f"{name}.t.svm")]
            for path, lines in zip(paths, (train, test)):
                with open(path, "w") as f:
                    f.writelines(lines)
            sets.append((name, *paths, features, CLICKS))
        return sets

    def quality_of(self, train, test, features, settings):
        # Without -a: the default method has a penalty that a method asked for by name has not.
        defaults = [PARSIMON, "train", train, "--quiet", "-o", scratch("quality.psm")]
        ftrl = self.train(train, settings, model="quality.psm")
        for name, command in (("parsimon, its defaults", defaults), ("parsimon, the settings of the peers", ftrl)):
            subprocess.run(command, check=True)
            yield [name, *self.judge(scratch("quality.psm"), test)]
        labels = [int(float(line.split(None, 1)[0]) > 0) for line in open(test)]
        if self.has_vw:
            train_vw, test_vw = as_vw(train), as_vw(test)
            flags = {"vw --ftrl": self.vw_ftrl(train_vw, settings, model="quality.vw"),
                     "vw, its defaults": self.vw(f"--holdout_off -b 20 -d {train_vw} -f {scratch('quality.vw')}")}
            for name, command in flags.items():
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
                subprocess.run(self.vw(f"-t -i {scratch('quality.vw')} -d {test_vw} -p {scratch('scores.vw')}"), check=True, stderr=subprocess.DEVNULL)
                margins = [float(line.split()[0]) for line in open(scratch("scores.vw"))]
                yield [name, *judged(margins, labels), "-"]
        if self.has_sklearn:
            for penalty in ("l2", "l1"):
                result = self.sklearn(penalty, features, train, test, 1)
                yield [f"scikit-learn SGDClassifier, {penalty}", *judged(result["margins"], result["labels"]), result["nonzeros"]]

    def judge(self, model, test):
        evaluate = [PARSIMON, "evaluate", model, test, "--json", "-"]
        metrics = json.loads(subprocess.run(evaluate, capture_output=True, text=True, check=True).stdout)
        inspect = [PARSIMON, "inspect", model, "--json"]
        header = json.loads(subprocess.run(inspect, capture_output=True, text=True, check=True).stdout)
        return [f"{metrics['log_loss']:.4f}", f"{metrics['auc']:.4f}", header["nonzeros"]]


def as_vw(svmlight):
    """The same rows as VW text with one namespace."""
    path = svmlight + ".as.vw"
    if not is_fresh(path, svmlight):
        with open(svmlight) as rows, open(path, "w") as out:
            for row in rows:
                label, _, features = row.strip().partition(" ")
                out.write(f"{'1' if float(label) > 0 else '-1'} |f {features}\n")
    return path


def judged(margins, labels):
    """Log loss and AUC of margins."""
    loss = sum(math.log1p(math.exp(-abs(m))) + max(0.0, -m if l else m) for m, l in zip(margins, labels)) / len(labels)
    order = sorted(range(len(margins)), key=margins.__getitem__)
    rank_sum, i = 0.0, 0
    while i < len(order):
        j = i
        while j < len(order) and margins[order[j]] == margins[order[i]]:
            j += 1
        rank_sum += sum(labels[k] for k in order[i:j]) * (i + j + 1) / 2
        i = j
    positive = sum(labels)
    auc = (rank_sum - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))
    return f"{loss:.4f}", f"{auc:.4f}"


def nanoseconds(text):
    """Name and ns per item (median, least, most) out of divan's tree."""
    rates = {"item/s": 1, "Kitem/s": 1e3, "Mitem/s": 1e6, "Gitem/s": 1e9}
    group, name = "", ""
    for line in text.splitlines():
        parts = re.match(r"^([│ ]*)[├╰]─ (.+?)(?:\s{2,}|$)", line)
        if parts:
            depth, name = len(parts.group(1)), parts.group(2).strip()
            name = re.sub(r"\s+[\d.]+ [nµm]?s$", "", name)
            if depth == 0:
                group = name
            else:
                name = name if name.startswith("{") else f"{group} {name}"
        found = re.findall(r"([\d.]+) ([KMG]?item/s)", line)
        if len(found) == 4:
            # Fastest, slowest, median, mean.
            ns = [1e9 / (float(x) * rates[unit]) for x, unit in found]
            yield name, (ns[2], ns[0], ns[1])


SECTIONS = ["ids", "tokens", "floats", "cache", "predict", "tune", "memory", "quality"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the click log; the documents are a tenth")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=SECTIONS, help="a section (may be repeated)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--reference", help="the folder of ftrl_ref.c")
    parser.add_argument("--real", help="the folder of a9a.gz, a9a.t.gz, w8a.gz")
    parser.add_argument("--patience", type=int, default=20, help="how many runs may be made again because the machine was busy")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    parser.add_argument("--out", help="where the record goes")
    args = parser.parse_args()
    args.no_build or build()
    os.makedirs(SCRATCH, exist_ok=True)
    bench = Bench(args)
    parts = []
    for name in args.only or SECTIONS:
        print(f"{name} ...", file=sys.stderr)
        parts.append(getattr(bench, name)())
        print(parts[-1], file=sys.stderr)
    head = f"# Speed beside the peers, {today()}\n\n"
    head += f"Generated click log of {args.rows:,} rows x 40 features (13 numbers, 27 one-hot), documents of {bench.documents:,} rows x 76 numbers; ftrl, "
    head += "rate .1, beta 1, l1 1, l2 1 (documents: 1, 1, .1, .1). "
    head += f"Machine: {processor()}. Commit {commit()}. Median of {args.rounds} interleaved rounds, [least, most]; warm page cache. "
    head += "Ratios above 1 mean that parsimon is faster.\n\n"
    head += f"Command: `python3 bench/speed.py {command_line(sys.argv[1:])}`\n\n"
    if bench.missing:
        head += "Not run: " + "; ".join(bench.missing) + ".\n\n"
    write_record(args.out, head + "\n".join(parts))


if __name__ == "__main__":
    main()
