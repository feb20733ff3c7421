#!/usr/bin/env python3
"""Zeros that `parsimon identify` finds without any setting, beside `-a nlms`.

    python3 bench/identify_zeros.py [--binary target/release/parsimon] [--seeds 10] [--regressors vectors|signal]

Systems of 1,000 coefficients of which 0, 50 and 90% are zero (`--synthetic`), 20,000 samples. Right zeros are coefficients that are zero in the system and in the
estimate. The true system is used for this table only, never by the program's choice.
"""
import argparse, json, os, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def identify(binary, system, *more):
    words = [binary, "identify", "--synthetic", system, "--json", "-", "--quiet", *more]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "parsimon"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--regressors", default="vectors", choices=("vectors", "signal"))
    args = parser.parse_args()
    print("| zeros | seed | nlms, dB | identify, dB | method | threshold | right zeros | wrong zeros |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for zeros in (0.9, 0.5, 0):
        for seed in range(1, args.seeds + 1):
            system = f"n=1000,zeros={zeros},seed={seed},regressors={args.regressors}"
            plain, ours = identify(args.binary, system, "-a", "nlms"), identify(args.binary, system)
            pairs = list(zip(ours["taps"], ours["truth"]))
            right = sum(a == 0 and b == 0 for a, b in pairs)
            wrong = sum(a == 0 and b != 0 for a, b in pairs)
            print(f"| {zeros} | {seed} | {plain['mismatch_db']:.2f} | {ours['mismatch_db']:.2f} | {ours['settings']['algorithm']} | {ours['threshold']:.2g} | {right} | {wrong} |", flush=True)


if __name__ == "__main__":
    main()
