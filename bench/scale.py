#!/usr/bin/env python3
"""Whether parsimon stays as fast and as small as it starts: an endless stream, checkpoints, tables that grow.

    python3 bench/scale.py [--rows 100000000] [--bits 16,18,20,22,24,26] [--out record/scale.md]

The stream is generated and piped into `parsimon train -`; nothing is stored. The generator takes a core of its own where there
is one, so the learner's CPU per row says more than the rows per second of both. Linux only: it reads /proc.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import time

from measure import (GENERATE, PARSIMON, SCRATCH, Patience, build, command_line, commit, generate, interleaved, median, processor, spread, table, today,
                     write_record)

TRAIN = [PARSIMON, "train", "--quiet", "-a", "ftrl", "--rate", "0.1", "--l1", "1", "--l2", "1"]
WINDOWS = 10


class Sample:
    """Where a process stands."""

    def __init__(self, pid, start):
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/io") as f:
            self.bytes = int(f.readline().split()[1])
        with open(f"/proc/{pid}/statm") as f:
            self.megabytes = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        self.seconds = time.perf_counter() - start
        self.cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stream(shape, rows, *flags):
    """Samples of a learner at the end of a pipe."""
    source = subprocess.Popen([GENERATE, shape, str(rows), "1", "svm=-"], stdout=subprocess.PIPE)
    learner = subprocess.Popen([*TRAIN, "-", "--format", "svmlight", *flags], stdin=source.stdout, stdout=subprocess.DEVNULL)
    source.stdout.close()
    start, samples = time.perf_counter(), []
    # A learner that ends becomes a zombie, whose memory is gone.
    while learner.poll() is None:
        try:
            sample = Sample(learner.pid, start)
        except OSError:
            break
        if sample.megabytes > 0:
            samples.append(sample)
        time.sleep(0.05)
    if learner.wait() or source.wait():
        raise SystemExit(f"failed: {shape} into {' '.join(learner.args)}")
    return samples


def windows(samples, rows, count):
    """Rows per second, CPU per row and memory in windows of as many rows each. Rows are told by bytes: a row's length hardly
    varies over many rows."""
    per_row = samples[-1].bytes / rows
    marks = [next(s for s in samples if s.bytes >= samples[-1].bytes * k / count) for k in range(count + 1)]
    for a, b in zip(marks, marks[1:]):
        done = (b.bytes - a.bytes) / per_row
        if done > 0 and b.seconds > a.seconds:
            # The last sample belongs to the model that is being made.
            size = max(s.megabytes for s in samples if a.seconds <= s.seconds < b.seconds)
            yield b.bytes / per_row, done / (b.seconds - a.seconds), (b.cpu - a.cpu) / done * 1e6, size


def endless(rows):
    samples = stream("clicks", rows, "-o", os.path.join(SCRATCH, "scale.psm"))
    lines = [[f"{at / 1e6:.1f}", f"{rate:,.0f}", f"{cpu:.2f}", f"{size:.1f}"] for at, rate, cpu, size in windows(samples, rows, WINDOWS)]
    measured = list(windows(samples, rows, WINDOWS))[1:]
    text = f"## A stream of {rows:,} rows\n\nClick log from a pipe, {samples[-1].seconds:.0f} s.\n\n"
    text += table(["million rows", "rows per second", "learner's CPU, us per row", "resident MB"], lines)
    if len(measured) > 1:
        (_, first, first_cpu, small), (_, last, last_cpu, large) = measured[0], measured[-1]
        text += f"\nLast window against the second: {last / first:.2f}x the rows per second, {last_cpu / first_cpu:.2f}x the CPU per row, "
        text += f"{large - small:+.1f} MB. Making the model takes it to {max(s.megabytes for s in samples):.1f} MB at the end.\n"
    return text


def checkpoints(rows, rounds, patience):
    svm = generate("clicks", min(rows, 1_000_000), 1, svm="svm")["svm"]
    data = [svm] * max(1, min(rows, 3_000_000) // min(rows, 1_000_000))
    total = len(data) * min(rows, 1_000_000)
    checkpoint = ["--checkpoint", os.path.join(SCRATCH, "scale.ckpt"), "--checkpoint-every"]
    contestants = {"none": [*TRAIN, *data]}
    for parts in (3, 12):
        contestants[f"every {total // parts:,} rows"] = [*TRAIN, *data, *checkpoint, str(total // parts)]
    runs = interleaved(contestants, rounds, patience)
    base = median(runs["none"], "wall")
    size = os.path.getsize(os.path.join(SCRATCH, "scale.ckpt")) / 2**20
    lines = [[name, spread([r.wall for r in own]), spread([r.cpu for r in own]), f"{100 * (median(own, 'wall') / base - 1):+.1f}%"]
             for name, own in runs.items()]
    text = f"## Checkpoints\n\n{total:,} rows of the click log from text; a checkpoint is {size:.1f} MB and is synced to disk. Median of {rounds} "
    return text + "interleaved rounds.\n\n" + table(["checkpoints", "wall s", "CPU s", "more time than none"], lines)


def growth(bits_list):
    """What a row costs when so many features have been seen."""
    lines = []
    for bits in bits_list:
        # Enough rows that nearly every feature has been met before the second half, which is measured.
        rows = max(600_000, int(1.6 * 2**bits / 27 * 2))
        samples = stream(f"uniform:{bits}", rows)
        seen = 2**bits * -math.expm1(-27 * rows / 2**bits) + 13
        halves = list(windows(samples, rows, 8))[4:]
        cpu = statistics.median(h[2] for h in halves)
        rate, peak = statistics.median(h[1] for h in halves), max(s.megabytes for s in samples)
        lines.append([f"2^{bits}", f"{seen:,.0f}", f"{rows:,}", f"{cpu:.2f}", f"{rate:,.0f}", f"{peak:.0f}"])
    text = "## Features ever seen\n\n40 features to a row, 27 of them drawn evenly from the ids, the worst case for caches; the second half of the rows is measured. "
    text += "The number seen is the expected one.\n\n"
    head = ["ids", "seen", "rows", "learner's CPU, us per row", "rows per second", "peak resident MB"]
    return text + table(head, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bits", default="16,18,20,22,24,26")
    parser.add_argument("--only", action="append", choices=["stream", "checkpoints", "growth"])
    parser.add_argument("--patience", type=int, default=10, help="how many runs may be made again because the machine was busy")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    parser.add_argument("--out", help="where the record goes")
    args = parser.parse_args()
    args.no_build or build()
    os.makedirs(SCRATCH, exist_ok=True)
    parts = {
        "stream": lambda: endless(args.rows),
        "checkpoints": lambda: checkpoints(args.rows, args.rounds, Patience(args.patience)),
        "growth": lambda: growth([int(b) for b in args.bits.split(",")]),
    }
    text = f"# Scale, {today()}\n\nftrl, rate .1, beta 1, l1 1, l2 1. Machine: {processor()}, load {os.getloadavg()[0]:.1f} at the start. Commit {commit()}.\n\n"
    text += f"Command: `python3 bench/scale.py {command_line(sys.argv[1:])}`\n\n"
    for name in args.only or parts:
        print(f"{name} ...", file=sys.stderr)
        part = parts[name]()
        print(part, file=sys.stderr)
        text += part + "\n"
    write_record(args.out, text.rstrip() + "\n")


if __name__ == "__main__":
    main()
