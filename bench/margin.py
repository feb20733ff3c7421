"""Counts the errors of one pass in file order: the margin methods, ftrl and auto on a1a, a9a and rcv1-small.

    python3 bench/margin.py --parsimon target/release/parsimon --data ../shared/data/libsvm

A row counts as an error if the sign of the margin before the row was learned differs from its label. A margin of zero counts as the
positive class, as SOL counts it. The record is in record/margin.md.
"""

import argparse
import gzip
import pathlib
import subprocess
import tempfile

SETS = {"a1a": "a1a.gz", "a9a": "a9a.gz", "rcv1-small": "vw_rcv1_small.dat.gz"}
METHODS = ["pa", "arow", "scw", "ftrl", "auto"]


def errors(parsimon, rows, labels, method, flags, folder):
    """Returns the number of errors of one pass."""
    out = folder / "predictions.txt"
    words = ["train", rows, "-a", method, *flags, "--predictions", out, "-o", folder / "m.psm", "--quiet"]
    subprocess.run([parsimon, *map(str, words)], check=True)
    boundary = 0.5 if method in ("ftrl", "auto") else 0.0
    predicted = [float(line.split()[0]) >= boundary for line in out.read_text().splitlines()]
    return sum(p != y for p, y in zip(predicted, labels, strict=True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parsimon", required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    args = parser.parse_args()
    print("| set | rows | bias |", " | ".join(METHODS), "|")
    print("| --- | ---: | --- |", " | ".join("---:" for _ in METHODS), "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, file in SETS.items():
            text = gzip.decompress((args.data / file).read_bytes()).decode()
            # The ids are the features: names that are hashed would share slots.
            text = text.replace(" |f ", " ")
            labels = [float(line.split()[0]) > 0 for line in text.splitlines()]
            rows = folder / "rows.svm"
            rows.write_text(text)
            for bias, flags in (("no", ["--no-bias"]), ("yes", [])):
                counts = [errors(args.parsimon, rows, labels, m, flags, folder) for m in METHODS]
                print(f"| {title} | {len(labels):,} | {bias} |", " | ".join(f"{n:,}" for n in counts), "|")


main()
