#!/usr/bin/env python3
"""What checkpoints cost: how long the learner stands still for one, and how much longer a run takes.

    python3 bench/checkpoints.py [--rows 4000000] [--every 1000000] [--rounds 5] [--out record/<date>-checkpoints.md]

The first table is the copy of the state, the only part of a checkpoint that learning waits for. The second compares whole runs with and without checkpoints,
in turns. On a machine that is busy only the least times say something.
"""
import argparse
import os
import subprocess
import sys

from measure import (PARSIMON, ROOT, SCRATCH, Patience, build, command_line, commit, generate, interleaved, median, processor, spread, table,
                     today, write_record)

TRAIN = [PARSIMON, "train", "--quiet", "-a", "ftrl", "--rate", "0.1", "--l1", "1", "--l2", "1", "--bits", "20"]


def copies():
    command = ["cargo", "run", "--quiet", "--release", "-p", "parsimon-core", "--example", "state_copy"]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return f"## Time inside of learning\n\nFTRL in f32, 15 copies into the same memory.\n\n{text}"


def runs(rows, every, rounds, patience):
    data = generate("clicks", rows, 1, vw="vw")["vw"]
    path = os.path.join(SCRATCH, "checkpoints.ckpt")
    contestants = {"none": [*TRAIN, data], f"every {every:,} rows": [*TRAIN, data, "--checkpoint", path, "--checkpoint-every", str(every)]}
    results = interleaved(contestants, rounds, patience)
    least = {name: min(run.wall for run in found) for name, found in results.items()}
    lines = [[name, spread([run.wall for run in found]), f"{least[name]:.2f}", f"{median(found, 'cpu'):.2f}",
              f"{100 * (least[name] / least['none'] - 1):+.1f}%"] for name, found in results.items()]
    size = os.path.getsize(path) / 1e6
    head = ["checkpoints", "wall s, median [least, most]", "least wall s", "CPU s", "more time than none (least)"]
    return f"## Whole runs\n\n{rows:,} rows of the click log as VW text; a checkpoint is {size:.1f} MB.\n\n{table(head, lines)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--every", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=int, default=20)
    parser.add_argument("--out")
    args = parser.parse_args()
    build()
    os.makedirs(SCRATCH, exist_ok=True)
    text = f"# Checkpoints, {today()}\n\nMachine: {processor()}, load {os.getloadavg()[0]:.1f} at the start. Commit {commit()}.\n\n"
    text += f"Command: `python3 bench/checkpoints.py {command_line(sys.argv[1:])}`\n\n{copies()}\n"
    write_record(args.out, text + runs(args.rows, args.every, args.rounds, Patience(args.patience)))


if __name__ == "__main__":
    main()
