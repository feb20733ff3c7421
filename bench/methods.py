"""Every method with its defaults and --normalize on tables: the progressive loss beside that of the best constant.

python3 bench/methods.py [--data FOLDER] [--half choice|report] [--only NAME,...] [--set "rda:rate=1,l1=1e-4" ...] [--json FILE]

Without --set, methods run as they are. --set runs a method with other settings instead (it may be repeated: one line each).
The tables are those of FOLDER/tables and two of FOLDER/regression, converted to what the program reads: columns get names, unknown
cells become empty, messages become words. Settings were chosen on the half `choice`; the other half, `report`, is for reporting.
"""
import argparse
import csv
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARSIMON = os.environ.get("PARSIMON") or os.path.join(
    os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release", "parsimon")
SCRATCH = os.path.join(tempfile.gettempdir(), "parsimon-bench", "methods")
ADULT = ["age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race", "sex",
         "gain", "loss", "hours", "country", "label"]

# name: source, columns (None: the first record), label, positive label (None: a number), ignored columns, half
TABLES = {
    "adult": ("tables/adult_train.csv.gz", ADULT, "label", ">50K", [], "choice"),
    "adult-test": ("tables/adult_test.csv.gz", ADULT, "label", ">50K.", [], "choice"),
    "telco": ("tables/telco_churn.csv.gz", None, "Churn", "Yes", ["customerID"], "choice"),
    "elevators": ("regression/uci_elevators.csv.gz", [f"c{j}" for j in range(18)] + ["label"], "label", None, [], "choice"),
    "bank": ("tables/bank_full.csv.gz", None, "y", "yes", [], "report"),
    "sms": ("tables/sms_spam.csv.gz", ["label", "text", "a", "b", "c"], "label", "spam", ["a", "b", "c"], "report"),
    "housing": ("tables/california_housing.csv.gz", None, "median_house_value", None, [], "report"),
    "bike": ("regression/uci_bike.csv.gz", [f"c{j}" for j in range(17)] + ["label"], "label", None, [], "report"),
}
# The methods are dense, and words are many: a row costs the square of their number.
SLOW = {("rls", "sms")}
# What the program calls the default; the others are methods of papers.
NO_METHOD = {"auto"}


def cell(text):
    text = text.strip()
    return "" if text == "?" else text


def prepare(data, name):
    """The file that the program reads, its labels, and the flags."""
    source, columns, label, positive, ignored, _ = TABLES[name]
    source = os.path.join(data, source)
    path = os.path.join(SCRATCH, name + (".vw" if name == "sms" else ".csv"))
    os.makedirs(SCRATCH, exist_ok=True)
    with gzip.open(source, "rt", encoding="utf-8", errors="replace", newline="") as file:
        records = [[cell(text) for text in record] for record in csv.reader(file) if record]
    if columns is None:
        columns, records = records[0], records[1:]
    at = columns.index(label)
    number = (lambda text: float(text)) if positive is None else (lambda text: 1.0 if text == positive else -1.0)
    labels = [number(record[at]) for record in records]
    with open(path, "w", encoding="utf-8", newline="") as out:
        if name == "sms":
            for y, record in zip(labels, records):
                words = re.findall(r"[a-z0-9']+", record[1].lower())
                out.write(f"{int(y)} | {' '.join(words)}\n")
            return path, labels, []
        writer = csv.writer(out)
        kept = [j for j, column in enumerate(columns) if column not in ignored and j != at]
        writer.writerow(["label"] + [columns[j] for j in kept])
        for y, record in zip(labels, records):
            writer.writerow([repr(y) if positive is None else int(y)] + [record[j] for j in kept])
    return path, labels, ["--label-column", "label"]


def constant(labels, is_logistic):
    """The average loss of the best constant in hindsight."""
    mean = math.fsum(labels) / len(labels)
    if not is_logistic:
        return 0.5 * math.fsum((y - mean) ** 2 for y in labels) / len(labels)
    return -sum(p * math.log(p) for p in ((1 + mean) / 2, (1 - mean) / 2) if p > 0)


def methods():
    rows = json.loads(subprocess.run([PARSIMON, "algorithms", "--json"], check=True, capture_output=True, text=True).stdout)
    words = lambda row: next(p["is"] for p in row["parameters"] if p["name"] == "loss").removeprefix("one of ").split(", ")
    return {row["name"]: words(row) for row in rows if row["name"] not in NO_METHOD}


def run(method, words, path, flags, is_classes, given, seconds):
    """The JSON report of one run, or why there is none."""
    if not is_classes and "squared" not in words and "projection" not in words:
        return None, "classes only"
    if not is_classes and method.endswith("adaline"):
        return None, "classes only"
    more = [flag for name, value in given.items() for flag in (f"--{name.replace('_', '-')}", value)]
    if not is_classes and "squared" in words and "logistic" in words:
        more += ["--loss", "squared"]
    if not method.startswith("multikernel"):
        more.append("--normalize")
    command = [PARSIMON, "train", "-a", method, path, *flags, *more, "--quiet", "--json", "-", "--threads", "1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"over {seconds} s"
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
    return json.loads(done.stdout), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="/work/shared/data")
    parser.add_argument("--half", choices=["choice", "report"])
    parser.add_argument("--tables", help="names of tables, with commas between them")
    parser.add_argument("--only", help="names of methods, with commas between them")
    parser.add_argument("--set", action="append", default=[], metavar="METHOD:NAME=VALUE,...")
    parser.add_argument("--seconds", type=float, default=120, help="longest run")
    parser.add_argument("--json", help="write all numbers here")
    args = parser.parse_args()

    known = methods()
    wanted = args.only.split(",") if args.only else list(known)
    lines = [(name, {}) for name in wanted]
    if args.set:
        lines = []
        for text in args.set:
            name, _, settings = text.partition(":")
            lines.append((name, dict(pair.split("=", 1) for pair in settings.split(",") if pair)))
    names = [n for n in TABLES if (not args.half or TABLES[n][5] == args.half) and (not args.tables or n in args.tables.split(","))]
    tables = {name: prepare(args.data, name) for name in names}
    results, below_all = [], 0
    print("| method | settings | " + " | ".join(f"{n} | nonzeros" for n in names) + " | below the constant |")
    print("| --- | --- |" + " --- | --- |" * len(names) + " --- |")
    for method, given in lines:
        cells, below, counted = [], 0, 0
        for name in names:
            path, labels, flags = tables[name]
            is_classes = TABLES[name][3] is not None
            if (method, name) in SLOW:
                report, why = None, "too slow"
            else:
                report, why = run(method, known[method], path, flags, is_classes, given, args.seconds)
            if report is None:
                cells += [why, ""]
                counted += why not in ("classes only", "too slow")
                results.append({"method": method, "given": given, "table": name, "why": why})
                continue
            bar = constant(labels, report["settings"]["loss"] == "logistic")
            share = report["progressive_loss"] / bar
            counted += 1
            below += share < 1
            cells += [f"{share:.4f}", str(report["nonzeros"])]
            results.append({"method": method, "given": given, "table": name, "loss": report["progressive_loss"], "constant": bar,
                            "nonzeros": report["nonzeros"], "settings": report["settings"]})
        below_all += counted > 0 and below == counted
        settings = " ".join(f"{k}={v}" for k, v in given.items())
        print(f"| {method} | {settings} | " + " | ".join(cells) + f" | {below} of {counted} |", flush=True)
    print(f"\n{below_all} of {len(lines)} lines are below the constant on every table they can learn.")
    print("Losses are shares of the constant's: below 1 is better than a constant.")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)


if __name__ == "__main__":
    sys.exit(main())
