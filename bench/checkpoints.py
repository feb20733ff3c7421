#!/usr/bin/env python3
"""What checkpoints cost: how long the learner stands still for one, and how much longer a run takes.

    python3 bench/checkpoints.py [--rows 4000000] [--every 1000000] [--rounds 5] [--out record/checkpoints.md]
    python3 bench/checkpoints.py --long 500000000 [--every 1000000] [--out ...]

The first table is the copy of the state, the only part of a checkpoint that learning waits for. The second compares whole runs with and without checkpoints,
in turns. On a machine that is busy only the least times say something.

With --long, rows of two features are piped into `train -` with checkpoints, beside a control run of a tenth of the rows without them: whether memory stays flat, and
how long learning stood still. The CPU of the learner includes the thread that writes.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time

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


def small_rows(count, bits):
    """Rows of two features as svmlight text."""
    draw = random.Random(1)
    rows = []
    for _ in range(count):
        a, b = draw.randrange(1, 1 << bits), draw.randrange(1, 1 << bits)
        a, b = min(a, b), max(a, b) + (a == b)
        rows.append(f"{1 if (a ^ b) & 3 else -1} {a}:1 {b}:1\n")
    return "".join(rows).encode()


def piped(block, times, *flags):
    """Writes a block of rows so many times into a learner; samples of its memory and CPU, and its report."""
    report = os.path.join(SCRATCH, "long.json")
    command = [PARSIMON, "train", "-", "--format", "svmlight", *TRAIN[2:-2], "--json", report, *flags]
    learner, samples = subprocess.Popen(command, stdin=subprocess.PIPE), []
    start = time.perf_counter()
    for done in range(times):
        learner.stdin.write(block)
        if done % max(1, times // 50) == 0 or done == times - 1:
            with open(f"/proc/{learner.pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{learner.pid}/status") as f:
                status = dict(line.split(":", 1) for line in f)
            cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            memory = [int(status[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM")]
            samples.append((done + 1, time.perf_counter() - start, cpu, *memory))
    learner.stdin.close()
    if learner.wait():
        raise SystemExit("the learner failed")
    with open(report) as f:
        return samples, json.load(f)


def long_run(rows, every, bits=20):
    block = small_rows(1_000_000, bits)
    times = rows // 1_000_000
    path = os.path.join(SCRATCH, "long.ckpt")
    control, _ = piped(block, max(2, times // 10))
    samples, report = piped(block, times, "--checkpoint", path, "--checkpoint-every", str(every))
    lines = [[f"{done:,} M", f"{wall:.0f}", f"{cpu:.1f}", f"{now:.1f}", f"{most:.1f}"] for done, wall, cpu, now, most in samples[:: max(1, len(samples) // 10)]]
    done, wall, cpu, *_ = samples[-1]
    per_million = {"with checkpoints": cpu / done, "without": control[-1][2] / control[-1][0]}
    points = report["checkpoints"]
    return (
        f"## A long run\n\n{rows:,} rows of two features (2^{bits} ids), a checkpoint every {every:,} rows, {os.path.getsize(path) / 1e6:.1f} MB each.\n\n"
        f"{table(['rows', 'wall s', 'CPU s', 'resident MB', 'most so far MB'], lines)}\n"
        f"Checkpoints: {points['count']}; learning stood still {1e3 * points['pauses_seconds'] / points['count']:.1f} ms for one on average, "
        f"{1e3 * points['shortest_pause_seconds']:.1f} at least, {1e3 * points['longest_pause_seconds']:.1f} at most; "
        f"together {points['pauses_seconds']:.2f} s of {report['seconds']:.1f} s ({100 * points['pauses_seconds'] / report['seconds']:.2f}%).\n\n"
        f"CPU per million rows, all threads: {per_million['with checkpoints']:.3f} s with checkpoints, {per_million['without']:.3f} s without "
        f"({len(control)} samples over {control[-1][0]:,} M rows).\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--every", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=int, default=20)
    parser.add_argument("--long", type=int, help="rows of the long run; nothing else is measured then")
    parser.add_argument("--no-build", action="store_true", help="measure the programs that are there")
    parser.add_argument("--out")
    args = parser.parse_args()
    if not args.no_build:
        build()
    os.makedirs(SCRATCH, exist_ok=True)
    text = f"# Checkpoints, {today()}\n\nMachine: {processor()}, load {os.getloadavg()[0]:.1f} at the start. Commit {commit()}.\n\n"
    text += f"Command: `python3 bench/checkpoints.py {command_line(sys.argv[1:])}`\n\n"
    if args.long:
        return write_record(args.out, text + long_run(args.long, args.every))
    text += f"{copies()}\n"
    write_record(args.out, text + runs(args.rows, args.every, args.rounds, Patience(args.patience)))


if __name__ == "__main__":
    main()
