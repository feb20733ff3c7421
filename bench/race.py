#!/usr/bin/env python3
"""What the race of `auto`, normalizing and `tune` cost beside a single run of `ftrl`.

    python3 bench/race.py [--rows 1000000] [--rounds 5] [--table FILE.csv --label NAME] [--no-build] [--out record/race-cost.md]

Builds parsimon and the click log, runs the contestants of a section interleaved, and prints medians, spread and the ratio to the first.
"""
import argparse
import json
import os
import subprocess
import sys

from measure import PARSIMON, SCRATCH, Patience, build, command_line, commit, generate, interleaved, median, processor, spread, table, today, write_record

FTRL = ["-a", "ftrl", "--rate", "0.1", "--beta", "1", "--l1", "1"]


def train(path, *flags):
    return [PARSIMON, "train", path, "--quiet", "-o", os.path.join(SCRATCH, "race.psm"), *flags]


def tune(path, *flags):
    return [PARSIMON, "tune", path, "--quiet", *flags]


def section(title, contestants, rounds, patience):
    """Every contestant's median, and its ratio to the first contestant."""
    runs = interleaved(contestants, rounds, patience)
    first = next(iter(runs.values()))
    lines = []
    for name, own in runs.items():
        ratios = [f"{median(own, field) / median(first, field):.2f}" for field in ("wall", "cpu", "peak_mb")]
        lines.append([name, spread([r.wall for r in own]), spread([r.cpu for r in own]), f"{median(own, 'peak_mb'):.0f}", *ratios])
    foreign = max(r.foreign for own in runs.values() for r in own)
    head = ["", "wall s", "CPU s", "peak MB", "wall ratio", "CPU ratio", "memory ratio"]
    return f"## {title}\n\n" + table(head, lines) + f"\nOther processes took at most {100 * foreign:.0f}% of the machine during a run.\n"


def winner(path, *flags):
    """The setting that a race names."""
    subprocess.run(train(path, *flags), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    inspect = subprocess.run([PARSIMON, "inspect", os.path.join(SCRATCH, "race.psm"), "--json"], capture_output=True, text=True, check=True)
    settings = json.loads(inspect.stdout).get("settings", {})
    return ", ".join(f"{k} {settings[k]}" for k in ("rate", "l1") if k in settings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the click log")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", help="a CSV file with a header")
    parser.add_argument("--label", help="its label column")
    parser.add_argument("--patience", type=int, default=20, help="how many runs may be repeated because the machine was busy")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    parser.add_argument("--out", help="where the record goes")
    args = parser.parse_args()
    args.no_build or build()
    os.makedirs(SCRATCH, exist_ok=True)
    patience = Patience(args.patience)
    clicks = generate("clicks", args.rows, 1, svm="svm", vw="vw")
    parts = []
    for form in ("svm", "vw"):
        path = clicks[form]
        parts.append(section(f"Click log, {args.rows:,} rows x 40 features, {form}", {
            "one `ftrl`": train(path, *FTRL),
            "one `ftrl --normalize`": train(path, *FTRL, "--normalize"),
            "`auto`": train(path, "-a", "auto"),
        }, args.rounds, patience) + f"\n`auto` chose {winner(path, '-a', 'auto')}.\n")
    sweeps = ["--sweep", "l1=0.1..10:4", "--sweep", "rate=0.02..0.2:4", "--keep-all"]
    parts.append(section("Sixteen settings in one pass, svmlight", {
        "one `ftrl`": train(clicks["svm"], *FTRL),
        "`tune -a ftrl`, 16 settings, none given up": tune(clicks["svm"], "-a", "ftrl", *sweeps),
        "`tune -a ftrl --normalize`, the same": tune(clicks["svm"], "-a", "ftrl", "--normalize", *sweeps),
        "`tune`, its default": tune(clicks["svm"]),
    }, args.rounds, patience))
    if args.table:
        label = ["--label-column", args.label] if args.label else []
        parts.append(section(os.path.basename(args.table), {
            "one `ftrl`": train(args.table, *label, *FTRL),
            "one `ftrl --normalize`": train(args.table, *label, *FTRL, "--normalize"),
            "`auto`": train(args.table, *label, "-a", "auto"),
        }, args.rounds, patience))
    head = f"# What a race costs, {today()}\n\nMachine: {processor()}. Commit {commit()}. Median of {args.rounds} interleaved rounds, [least, most]; warm page cache. "
    head += f"Ratios are to the first line of a section.\n\nCommand: `python3 bench/race.py {command_line(sys.argv[1:])}`\n\n"
    write_record(args.out, head + "\n".join(parts))


if __name__ == "__main__":
    main()
