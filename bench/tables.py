#!/usr/bin/env python3
"""What it costs to read a table by the kinds of its columns, beside reading each cell by itself.

    python3 bench/tables.py [--rows 500000] [--rounds 7] [--program PROGRAM] [--no-build] [--callgrind] [--out record/tables.md]

Builds parsimon and two tables, of numbers and of mixed columns, and trains `-a ftrl` on them with `--kinds column` and `--kinds cell`, interleaved. Times are user
CPU seconds; the ratio is to `--kinds cell`. With --callgrind, the instructions of the last
15,000 of 30,000 rows are counted, with one thread: what the look at the first 10,000 rows costs is not in them.
"""
import argparse
import os
import random
import re
import resource
import statistics
import subprocess
import sys

from measure import PARSIMON, SCRATCH, build, command_line, commit, processor, spread, table, today, write_record


def numeric(path, rows):
    """Twenty columns of numbers and a label."""
    rng = random.Random(7)
    with open(path, "w") as file:
        file.write(",".join(f"x{j}" for j in range(20)) + ",label\n")
        for _ in range(rows):
            cells = [f"{rng.gauss(0, 1):.4f}" if j % 2 else str(rng.randrange(1000)) for j in range(20)]
            file.write(",".join(cells) + f",{rng.randrange(2)}\n")


def mixed(path, rows):
    """Numbers, categories, a date and a short text."""
    rng = random.Random(8)
    words = [f"word{i}" for i in range(2000)]
    with open(path, "w") as file:
        file.write("a,b,c,d,city,plan,day,note,label\n")
        for _ in range(rows):
            numbers = [f"{rng.random():.3f}" for _ in range(4)]
            note = " ".join(rng.choices(words, k=6))
            day = f"2020-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
            cells = [*numbers, f"city{rng.randrange(500)}", f"plan{rng.randrange(9)}", day, note]
            file.write(",".join(cells) + f",{rng.randrange(2)}\n")


def train(program, path, kinds, *flags):
    return [program, "train", path, "--quiet", "-a", "ftrl", "--loss", "logistic", "--kinds", kinds, *flags]


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def instructions(command):
    """Counted by callgrind."""
    out = os.path.join(SCRATCH, "callgrind.out")
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command]
    text = subprocess.run(tool, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", text).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--program", default=PARSIMON, help="another program than the release build")
    parser.add_argument("--no-build", action="store_true", help="take the program as it is")
    parser.add_argument("--callgrind", action="store_true", help="count instructions as well")
    parser.add_argument("--out", help="where the record goes")
    args = parser.parse_args()
    args.no_build or build()
    os.makedirs(SCRATCH, exist_ok=True)
    lines = []
    for name, make in [("numbers", numeric), ("mixed", mixed)]:
        path = os.path.join(SCRATCH, f"tables-{name}-{args.rows}.csv")
        os.path.exists(path) or make(path, args.rows)
        times = {"cell": [], "column": []}
        for _ in range(args.rounds):
            for kinds, own in times.items():
                own.append(user_seconds(train(args.program, path, kinds)))
        counts = None
        if args.callgrind:
            paths = [os.path.join(SCRATCH, f"tables-{name}-{rows}.csv") for rows in (15_000, 30_000)]
            os.path.exists(paths[0]) or make(paths[0], 15_000)
            os.path.exists(paths[1]) or make(paths[1], 30_000)
            few, many = ({kinds: instructions(train(args.program, path, kinds, "--threads", "1")) for kinds in times} for path in paths)
            counts = {kinds: (many[kinds] - few[kinds]) / 15_000 for kinds in times}
        for kinds, own in times.items():
            ratio = statistics.median(own) / statistics.median(times["cell"])
            count = f"{counts[kinds]:.0f}" if counts else "-"
            relative = f"{counts[kinds] / counts['cell']:.2f}" if counts else "-"
            lines.append([name, kinds, spread(own), f"{ratio:.2f}", count, relative])
    head = ["table", "--kinds", "user CPU s", "ratio", "instructions per row", "ratio"]
    text = f"# Reading tables by kinds, {today()}\n\nMachine: {processor()}. Commit {commit()}. Median of {args.rounds} interleaved rounds, [least, most]; warm page cache.\n\n"
    text += f"Command: `python3 bench/tables.py {command_line(sys.argv[1:])}`\n\n{table(head, lines)}"
    write_record(args.out, text)


if __name__ == "__main__":
    sys.exit(main())
