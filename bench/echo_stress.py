#!/usr/bin/env python3
"""Parsimon's canceller where it is hard: drifting clocks, no drift, late echoes, clipping, changed paths, no echo; live and from files.

    python3 bench/echo_stress.py [--data ../shared/data/audio] [--binary cancel_raw] [--only WORD] [--group choose|report]

Needs `cargo build --release -p parsimon-audio --example cancel_raw`; for the part on no echo `pip install pesq`.
True echo reduction as in echo_true.py. Every row is one scene, live (`parsimon cancel --raw`) beside the file, without and with the suppressor.
Scenes of the group `choose` were used to choose constants, those of `report` only to report.
- drift: the loudspeaker's clock is off by -500 to 500 ppm; reduction over the last 10 of 40 s.
- late: the echo begins up to 2 s after the reference; reduction over the last 10 s; the longest delay searched for is 2 s.
- clipping: the loudspeaker clips at a third of its peak, or the microphone at a third of its; reduction over seconds 10 to 30. A linear canceller cannot remove this echo.
- change: another room from second 15 on; reduction in the first 0.1 s, from .1 to 2 s and from 3 to 5 s after it, and finally.
- recordings: ERLE of the second half with and without following the drift.
- no echo: PESQ of a talker over an unrelated far end.
"""
import argparse, json, os, subprocess, tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.signal import fftconvolve

from echo_scenes import ROOMS, drifted, read, response, voices
from echo_true import ROOT, high_pass

RATE, SECONDS = 16000, 40
PAIRS = {"choose": (("aecc", "b", "c"), ("linear", "c", "b")), "report": (("linear", "a", "d"), ("ms2", "b", "d"))}


def level(e, r, a, b, loud):
    """Reduction between the seconds a and b, over frames of 20 ms in which the echo is active; None where there are none."""
    frame = RATE // 50
    pieces = [v[int(a * RATE):int(b * RATE)] for v in (e, r)]
    n = len(pieces[0]) // frame
    e, r = ((v[:n * frame].reshape(n, frame) ** 2).sum(1) for v in pieces)
    active = e > 1e-3 * frame * loud
    return "-" if not active.any() else f"{10 * np.log10(e[active].sum() / max(r[active].sum(), 1e-30)):.1f}"


def run(binary, folder, name, far, mic, rate, settings):
    paths = [os.path.join(folder, f"{name}.{end}") for end in ("far", "near", "out")]
    far.astype("<f4").tofile(paths[0])
    mic.astype("<f4").tofile(paths[1])
    done = json.loads(subprocess.run([binary, *paths[:2], str(rate), paths[2], *settings], check=True, capture_output=True, text=True).stdout)
    out = np.fromfile(paths[2], "<f4").astype(float)
    for path in paths:
        os.remove(path)
    return out, done


def echo_of(data, far, room, late_ms=20):
    late = np.zeros(late_ms * RATE // 1000)
    return np.concatenate([late, fftconvolve(far, response(data, ROOMS[room], RATE))])[:len(far)]


def jobs(data, group):
    people = voices(data, RATE)
    n = SECONDS * RATE
    for far, room, other in PAIRS[group]:
        x = np.resize(people[far], n)
        echo = echo_of(data, x, room)
        noise = np.random.default_rng(1).standard_normal(n) * np.sqrt(np.mean(echo ** 2) / 10 ** 3.5)
        label = f"{group[0]} {far} {room}"
        for ppm in (0, 100, -100, 300, -300, 500, -500):
            e = echo_of(data, drifted(x, ppm), room) if ppm else echo
            yield f"{label} drift {ppm:+d} ppm", x, e, noise, e, [("last 10 s", 30, 40)], []
        for late in (100, 600, 1000, 1900):
            e = echo_of(data, x, room, late)
            yield f"{label} late {late} ms", x, e, noise, e, [("last 10 s", 30, 40)], ["max_delay=2"]
        limit = np.max(np.abs(x)) / 3
        e = echo_of(data, np.clip(x, -limit, limit), room)
        yield f"{label} clipping loudspeaker", x, e, noise, e, [("10 to 30 s", 10, 30)], []
        limit = np.max(np.abs(echo)) / 3
        yield f"{label} clipping microphone", x, np.clip(echo, -limit, limit), noise, echo, [("10 to 30 s", 10, 30)], []
        at = 15 * RATE
        e = np.concatenate([echo[:at], echo_of(data, x, other)[at:]])
        yield f"{label} change", x, e, noise, e, [("first .1 s", 15, 15.1), (".1 to 2 s", 15.1, 17), ("3 to 5 s", 18, 20), ("finally", 35, 40)], []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data", "audio"))
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "examples", "cancel_raw"))
    parser.add_argument("--only", default="")
    parser.add_argument("--group", choices=("choose", "report"))
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="parsimon-echo-")
    groups = [args.group] if args.group else ["choose", "report"]
    made = [j for g in groups for j in jobs(args.data, g) if args.only in j[0]]

    def work(job):
        name, x, e, noise, true, parts, more = job
        row = []
        for mode in (["live=1"], [], ["live=1", "suppress=1"], ["suppress=1"]):
            out, done = run(args.binary, folder, f"{name.replace(' ', '_')}{len(row)}", x, e + noise, RATE, mode + more)
            left = high_pass(out - noise[:len(out)], RATE)
            echo = high_pass(true, RATE)
            row.append(" ".join(level(echo, left, a, b, np.mean(echo ** 2)) for _, a, b in parts))
        return name, ", ".join(p[0] for p in parts), row

    print("| scene | over | live | file | live, suppress | file, suppress |\n| --- | --- | --- | --- | --- | --- |")
    with ThreadPoolExecutor(2) as pool:
        for name, over, row in pool.map(work, made):
            print(f"| {name} | {over} | " + " | ".join(row) + " |", flush=True)
    if args.only in "recordings":
        print("\n| recording | ERLE with drift followed | without | ppm |\n| --- | --- | --- | --- |")
        load = lambda n: read(os.path.join(args.data, "real_aec", n + ".wav"))
        for far, mic in (("real_linear_far", "real_linear_near"), ("aecc_doubletalk_lpb", "aecc_doubletalk_mic"), ("aecc_doubletalk_movement_lpb", "aecc_doubletalk_movement_mic"),
                         ("ms2_farend_simple_talk", "ms2_echo_simple_talk"), ("ms2_farend_double_talk", "ms2_echo_double_talk"), ("pyaec_x", "pyaec_d")):
            (x, rate), (d, _) = load(far), load(mic)
            found = [run(args.binary, folder, "recording", x, d, rate, [f"drift={k}"])[1]["report"] for k in (1, 0)]
            print(f"| {mic} | {found[0]['erle']['second_half']:.1f} | {found[1]['erle']['second_half']:.1f} | {found[0]['drift_ppm']:.1f} |")
    if args.only in "no echo":
        from pesq import pesq
        print("\n| no echo | microphone | live | file | live, suppress | file, suppress | PESQ\n| --- | --- | --- | --- | --- | --- |")
        people, n = voices(args.data, RATE), 20 * RATE
        for group in groups:
            for far, talker in {"choose": (("aecc", "arctic"), ("ms2", "librivox"), ("linear", "arctic")), "report": (("linear", "ms2 near"), ("aecc", "librivox"), ("ms2", "arctic"), ("librivox", "arctic"))}[group]:
                x, talk = np.resize(people[far], n), np.resize(people[talker], n)
                noise = np.random.default_rng(2).standard_normal(n) * np.sqrt(np.mean(talk ** 2) / 10 ** 6)
                outs = [run(args.binary, folder, "no_echo", x, talk + noise, RATE, m)[0] for m in (["live=1"], [], ["live=1", "suppress=1"], ["suppress=1"])]
                print(f"| {group[0]} {talker} over {far} | " + " | ".join(f"{pesq(RATE, talk, v, 'wb'):.2f}" for v in (talk + noise, *outs)) + " |", flush=True)


if __name__ == "__main__":
    main()
