#!/usr/bin/env python3
"""True echo reduction of parsimon and speexdsp in single talk, double talk and after path changes.

    python3 bench/echo_true.py [--data ../shared/data/audio] [--speex DIR] [--group choose|report] [--set NAME=VALUE ...]

Every scene is synthesized from measured room responses and recorded speech, so the echo, the near end and the noise in the microphone are
known. True echo reduction is 10 log10(sum echo^2 / sum (output - near end - noise)^2), both after a high-pass (Butterworth, order 4, 100 Hz),
over frames of 20 ms in which the echo is active. It counts what the canceller does to the echo and to the near end, and cannot be raised by
attenuating the near end. Parsimon runs as in a call: piece by piece, with its search for the delay, as `parsimon cancel --raw` does.
Scenes of the group `choose` were used to choose constants, those of `report` only to report.
"""
import argparse, json, os, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.signal import butter, fftconvolve, sosfilt

import echo_peers
from echo_scenes import ROOMS, response, voices

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPEECH_RATE = 16000

# name: group, rate, far voice, room, near voice, near end over the echo in dB (None: no near end), room after a change, second of the change
SCENES = {}
for group, pairs in {
    "choose": (("aecc", "b", "arctic", "c"), ("ms2", "c", "librivox", "a"), ("linear", "c", "arctic", "b")),
    "report": (("linear", "a", "ms2 near", "d"), ("aecc", "d", "librivox", "b"), ("ms2", "b", "arctic", "d"), ("asterisk", "d", "spandsp", "a")),
}.items():
    for far, room, near, other in pairs:
        rate = 8000 if far == "asterisk" else SPEECH_RATE
        label = f"{group[0]} {far} {room}"
        for ratio in (-10, 0, 10):
            SCENES[f"{label} static, near end {ratio:+d} dB"] = (group, rate, far, room, near, ratio, None, 0)
        SCENES[f"{label} change in double talk"] = (group, rate, far, room, near, 0, other, 14)
        SCENES[f"{label} change in single talk"] = (group, rate, far, room, None, 0, other, 15)
        SCENES[f"{label} no near end"] = (group, rate, far, room, None, 0, None, 0)
        SCENES[f"{label} unrelated far end"] = (group, rate, far, None, near, 0, None, 0)

SECONDS, NEAR_FROM, NEAR_TO = 35, 10, 20


def high_pass(v, rate):
    return sosfilt(butter(4, 100, "high", fs=rate, output="sos"), v)


def scene(data, name, cache={}):
    group, rate, far, room, near, ratio, other, change = SCENES[name]
    if rate not in cache:
        cache[rate] = voices(data, rate)
    people, n = cache[rate], SECONDS * rate
    x = np.resize(people[far], n)
    late = np.zeros(20 * rate // 1000)
    through = lambda r: np.concatenate([late, fftconvolve(x, response(data, ROOMS[r], rate))])[:n]
    echo = through(room) if room else np.zeros(n)
    if other:
        echo = np.concatenate([echo[:change * rate], through(other)[change * rate:]])
    talk = np.zeros(n)
    if near:
        start, end = (NEAR_FROM * rate, NEAR_TO * rate) if room else (0, n)
        talk[start:end] = np.resize(people[near], end - start)
        talk[start:end] *= np.sqrt(np.mean(echo ** 2 if room else (0.5 * x) ** 2) * 10 ** (ratio / 10) / np.mean(talk[start:end] ** 2))
    noise = np.random.default_rng(list(SCENES).index(name)).standard_normal(n)
    noise *= np.sqrt(np.mean(echo ** 2) / 10 ** 3.5) if room else np.sqrt(np.mean(talk ** 2) / 10 ** 6)
    return rate, x, echo, talk, noise


def reductions(rate, x, echo, talk, noise, out):
    """True echo reduction in single talk before, in double talk, 3 s after its end, and finally."""
    left = high_pass(out - talk - noise, rate)
    if not np.any(echo):
        return None
    echo = high_pass(echo, rate)
    frame = rate // 50
    n = len(echo) // frame
    e, r = ((v[:n * frame].reshape(n, frame) ** 2).sum(1) for v in (echo, left))
    at = np.arange(n) / 50
    active = e > 1e-3 * e.mean()

    def over(start, end, most=None):
        where = np.flatnonzero(active & (at >= start) & (at < end))[:most]
        return float(10 * np.log10(e[where].sum() / max(r[where].sum(), 1e-30)))
    return {"single": over(NEAR_FROM - 3, NEAR_FROM), "double": over(NEAR_FROM, NEAR_TO), "second double": over(NEAR_FROM + 2, NEAR_TO),
            "3 s later": over(NEAR_TO + 3, SECONDS, 75), "final": over(SECONDS - 4, SECONDS)}


def parsimon(binary, folder, name, far, mic, rate, settings):
    paths = [os.path.join(folder, f"{name.replace(' ', '_')}.{end}") for end in ("far", "near", "out")]
    far.astype("<f4").tofile(paths[0])
    mic.astype("<f4").tofile(paths[1])
    done = json.loads(subprocess.run([binary, *paths[:2], str(rate), paths[2], "live=1", *settings], check=True, capture_output=True, text=True).stdout)
    out = np.fromfile(paths[2], "<f4").astype(float)
    for path in paths:
        os.remove(path)
    return out, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data", "audio"))
    parser.add_argument("--only", default="")
    parser.add_argument("--group", choices=("choose", "report"))
    parser.add_argument("--speex", help="folder with include/ and lib/ of speexdsp; without it the peer is left out")
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "examples", "cancel_raw"))
    parser.add_argument("--set", nargs="*", default=[], help="settings for cancel_raw, NAME=VALUE")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="parsimon-echo-")
    speex = None
    if args.speex:
        speex = echo_peers.speex(folder, f"-I{args.speex}/include", f"-L{args.speex}/lib", f"-Wl,-rpath,{args.speex}/lib")
    names = [n for n, s in SCENES.items() if args.only in n and args.group in (None, s[0])]
    made = {n: scene(args.data, n) for n in names}

    def run(name):
        rate, x, echo, talk, noise = made[name]
        out, _ = parsimon(args.binary, folder, name, x, echo + talk + noise, rate, args.set)
        found = {"parsimon": (reductions(*made[name], out), out)}
        if speex:
            late = echo_peers.shifted(x, 15 * rate // 1000, len(x))
            out, _ = speex(late, echo + talk + noise, rate, 256 * rate // 1000)
            found["speexdsp"] = (reductions(*made[name], out), out)
        return found

    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(names, pool.map(run, names)))
    os.rmdir(folder) if not speex else None
    who = ["parsimon"] + (["speexdsp"] if speex else [])
    unrelated = [n for n in names if SCENES[n][3] is None]
    echoes = [n for n in names if n not in unrelated]
    fields = ("single", "double", "second double", "3 s later", "final")
    print("| scene |", " | ".join(f"{w}: {f}" for w in who for f in fields), "|")
    print("|", " | ".join(["---"] * (1 + len(who) * len(fields))), "|")
    for n in echoes:
        print("|", n, "|", " | ".join(f"{results[n][w][0][f]:.1f}" for w in who for f in fields), "|")
    for kind in ("static", "change in double", "change in single", "no near end"):
        some = [n for n in echoes if kind in n]
        if some:
            print(f"| mean: {kind} |", " | ".join(f"{np.mean([results[n][w][0][f] for n in some]):.1f}" for w in who for f in fields), "|")
    if unrelated:
        from pesq import pesq
        print("\n| scene |", " | ".join(["microphone", *who]), "| PESQ\n|", " | ".join(["---"] * (2 + len(who))), "|")
        for n in unrelated:
            rate, x, echo, talk, noise = made[n]
            score = lambda v: pesq(rate, talk, v, "wb" if rate == 16000 else "nb")
            print("|", n, "|", " | ".join(f"{score(v):.2f}" for v in (talk + noise, *(results[n][w][1] for w in who))), "|")


if __name__ == "__main__":
    main()
