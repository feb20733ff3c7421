#!/usr/bin/env python3
"""Text to model, parsimon beside Vowpal Wabbit, on the same generated click log.

    python3 bench/peers.py [--rows 1000000] [--rounds 5] [--out record/<date>-peers.md]

Builds parsimon and the data, runs the contestants interleaved, and prints medians, spread and ratios. Vowpal Wabbit comes from
the `vowpalwabbit` package (`pip install vowpalwabbit`); without it parsimon runs alone.
"""
import argparse, datetime, os, platform, resource, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VW = "import sys, vowpalwabbit; w = vowpalwabbit.Workspace(sys.argv[1]); w.finish()"


def build(target):
    subprocess.run(["cargo", "build", "--release", "-p", "parsimon-cli"], cwd=ROOT, check=True)
    subprocess.run(["cargo", "build", "--release", "-p", "parsimon", "--example", "generate"], cwd=ROOT, check=True)
    return os.path.join(target, "release", "parsimon"), os.path.join(target, "release", "examples", "generate")


def timed(command):
    """Wall and CPU seconds, and peak memory of the child in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "parsimon-bench"))
    parser.add_argument("--out")
    args = parser.parse_args()
    parsimon, generate = build(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")))
    os.makedirs(args.data, exist_ok=True)
    svm, vw = (os.path.join(args.data, f"clicks-{args.rows}.{e}") for e in ("svm", "vw"))
    if not (os.path.exists(svm) and os.path.exists(vw)):
        subprocess.run([generate, str(args.rows), "1", svm, vw], check=True)

    model = os.path.join(args.data, "model")
    ftrl = ["--rate", "0.1", "--beta", "1", "--l1", "1", "--l2", "1", "-a", "ftrl"]
    train = [parsimon, "train", "--quiet", *ftrl, "-o", model + ".psm"]
    vw_flags = "--ftrl --ftrl_alpha 0.1 --ftrl_beta 1 --l1 1 --l2 1 --loss_function logistic --holdout_off --quiet -b 20"
    contestants = {
        "parsimon, svmlight, 1 thread": [*train, svm, "--threads", "1"],
        "parsimon, svmlight, default threads": [*train, svm],
        "parsimon, VW text hashed into 2^20": [*train, vw, "-b", "20"],
        "parsimon, the same without names": [*train, vw, "-b", "20", "--no-names"],
    }
    has_vw = subprocess.run([sys.executable, "-c", "import vowpalwabbit"], stderr=subprocess.DEVNULL).returncode == 0
    if has_vw:
        contestants["vw --ftrl, VW text"] = [sys.executable, "-c", VW, f"{vw_flags} -d {vw} -f {model}.vw"]
    times = {name: [] for name in contestants}
    for round_ in range(args.rounds + 1):
        for name, command in contestants.items():
            measured = timed(command)
            if round_ > 0:  # the first round warms the page cache
                times[name].append(measured)

    size = os.path.getsize(svm) / 1e6
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    lines = [
        f"# Text to model beside Vowpal Wabbit, {datetime.date.today()}",
        "",
        f"{args.rows:,} rows x 40 features, svmlight {size:.0f} MB; ftrl, rate .1, beta 1, l1 1, l2 1; {os.cpu_count()} cores, "
        f"{platform.processor() or platform.machine()}; commit {commit}; median of {args.rounds} interleaved rounds, [least, most].",
        "",
        f"Command: `python3 bench/peers.py --rows {args.rows} --rounds {args.rounds}`",
        "",
        "| | wall s | CPU s | peak MB | Mfeatures/s |" + (" vw's wall / this | vw's CPU / this |" if has_vw else ""),
        "| --- | --- | --- | --- | --- |" + (" --- | --- |" if has_vw else ""),
    ]
    median = lambda name, k: statistics.median(t[k] for t in times[name])
    for name, runs in times.items():
        walls = [t[0] for t in runs]
        row = f"| {name} | {median(name, 0):.2f} [{min(walls):.2f}, {max(walls):.2f}] | {median(name, 1):.2f} | {median(name, 2):.0f} | {args.rows * 40 / median(name, 0) / 1e6:.1f} |"
        if has_vw:
            peer = "vw --ftrl, VW text"
            row += f" {median(peer, 0) / median(name, 0):.1f}x | {median(peer, 1) / median(name, 1):.1f}x |"
        lines.append(row)
    text = "\n".join(lines) + "\n"
    print(text)
    if args.out:
        with open(args.out, "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
