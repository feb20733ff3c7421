#!/usr/bin/env python3
"""Echo cancellation, parsimon beside speexdsp, NLMS and the canceller of WebRTC.

    python3 bench/echo.py [--data ../shared/data/audio] [--only WORD] [--out record/echo.md]

Needs `pip install numpy scipy livekit`, a C compiler and `apt-get install libspeexdsp-dev` (or `--speex DIR` with include/ and lib/).

Scenes: echo_scenes.py. Those marked * were used to choose settings, the others are only reported on.
Contestants: parsimon with its defaults (crates/parsimon-audio/examples/cancel_raw.rs); speexdsp without its suppressor, frames of 10 ms, 16-bit samples;
NLMS, one sample at a time, steps 0.5 and 0.1, delta = 1% of the mean power in the taps; all three with the delay and the tail that parsimon reports. WebRTC's
echo canceller includes a suppressor; its noise suppression, gain control and high-pass are off, and it finds the delay by itself.
Every output and the microphone pass the same high-pass (Butterworth, order 4, 100 Hz) before anything is measured:
- ERLE: 10 log10(sum mic^2 / sum out^2) over the second half, frames of 20 ms of far-end single talk only.
- SDR of the near end while both speak: 10 log10(sum near^2 / sum (out - near)^2), outputs aligned with the microphone, no gain fitted.
- double talk: recall over frames in which both speak; false alarms over far-end single talk.
- CPU: milliseconds per second of audio, in the same run. WebRTC's includes the calls through its binding, parsimon's the search for the delay.
"""
import argparse, datetime, json, os, platform, subprocess, sys, tempfile

import numpy as np
from scipy.signal import butter, sosfilt

import echo_peers
from echo_scenes import active, scenes, spread

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINEAR = ("speexdsp", "NLMS .5", "NLMS .1")


def db(a, b):
    return float(10 * np.log10(np.sum(a ** 2) / max(np.sum(b ** 2), 1e-30)))


def high_pass(v, rate):
    return sosfilt(butter(4, 100, "high", fs=rate, output="sos"), v)


def lag(out, mic, rate):
    """WebRTC's output is late; the others are aligned with the microphone."""
    size = 1 << (2 * len(mic) - 1).bit_length()
    c = np.fft.irfft(np.fft.rfft(out, size) * np.conj(np.fft.rfft(mic, size)))
    return int(np.argmax(c[:rate // 20]))


def measures(scene, out):
    rate, mic, clean = scene.rate, high_pass(scene.mic, scene.rate), high_pass(out, scene.rate)
    half = scene.single & (np.arange(len(mic)) >= len(mic) // 2)
    late = scene.single & (np.arange(len(mic)) >= 20 * rate)
    found = {"erle": db(mic[half], clean[half]), "whole": db(mic[scene.single], clean[scene.single])}
    if np.any(late):
        found["after 20 s"] = db(mic[late], clean[late])
    if scene.echo is not None and np.any(scene.near):
        near = high_pass(scene.near, rate)
        both = spread(active(scene.near, rate) & active(scene.far, rate), len(mic), rate)
        found |= {"sdr before": db(near[both], (mic - near)[both]), "sdr": db(near[both], (clean - near)[both])}
    return found


def parsimon(binary, folder, scene):
    names = [os.path.join(folder, n) for n in ("far", "near", "out")]
    scene.far.astype("<f4").tofile(names[0])
    scene.mic.astype("<f4").tofile(names[1])
    done = json.loads(subprocess.run([binary, names[0], names[1], str(scene.rate), names[2]], check=True, capture_output=True, text=True).stdout)
    out = np.fromfile(names[2], "<f4").astype(float)
    talk = np.repeat(np.array([c == "1" for c in done["double_talk"]]), done["block"])[:len(out)]
    return out, done, np.concatenate([talk, np.zeros(len(out) - len(talk), bool)])


def verdicts(scene, talk):
    """Recall and share of false alarms, None where unknown."""
    far = spread(active(scene.far, scene.rate), len(talk), scene.rate)
    recall = None
    if scene.near is not None and np.any(scene.near):
        both = spread(active(scene.near, scene.rate), len(talk), scene.rate) & far
        recall = float((talk & both).sum() / max(1, both.sum()))
    single = far if scene.far_only else scene.single
    return recall, float((talk & single).sum() / max(1, single.sum()))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def one(v, form="{:.1f}"):
    return "" if v is None or not np.isfinite(v) else form.format(v)


def summary(rows, name):
    if not rows:
        return []
    mean = lambda who: float(np.mean([r[who]["erle"] for r in rows]))
    behind = [r["parsimon"]["erle"] - max(r[p]["erle"] for p in LINEAR) for r in rows]
    return [name, len(rows), *(one(mean(w)) for w in ("parsimon", *LINEAR, "WebRTC")),
            f"{mean('parsimon') - max(mean(p) for p in LINEAR):+.1f}", f"{100 * np.mean(np.array(behind) >= -0.5):.0f}%", f"{min(behind):+.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data", "audio"))
    parser.add_argument("--only", help="scenes whose name holds this word")
    parser.add_argument("--speex", help="folder with include/ and lib/ of speexdsp")
    parser.add_argument("--binary", help="cancel_raw, built already")
    parser.add_argument("--out")
    args = parser.parse_args()
    binary = args.binary
    if not binary:
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "parsimon-audio", "--example", "cancel_raw"], cwd=ROOT, check=True)
        binary = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release", "examples", "cancel_raw")
    folder = tempfile.mkdtemp(prefix="parsimon-echo-")
    flags = [f"-I{args.speex}/include", f"-L{args.speex}/lib", f"-Wl,-rpath,{args.speex}/lib"] if args.speex else []
    peers = {"speexdsp": echo_peers.speex(folder, *flags), "NLMS .5": echo_peers.nlms(folder, 0.5), "NLMS .1": echo_peers.nlms(folder, 0.1), "WebRTC": echo_peers.webrtc}
    results = []
    for scene in scenes(args.data, args.only):
        out, done, talk = parsimon(binary, folder, scene)
        report, seconds = done["report"], len(scene.mic) / scene.rate
        row = {"scene": scene, "parsimon": measures(scene, out) | {"cpu": 1000 * done["seconds"] / seconds}, "talk": verdicts(scene, talk), "drift": report["drift_ppm"]}
        aligned = echo_peers.shifted(scene.far, report["shift"], len(scene.mic))
        for who, run in peers.items():
            out, cpu = run(scene.far if who == "WebRTC" else aligned, scene.mic, scene.rate, report["taps"])
            if who == "WebRTC":
                by = lag(out, scene.mic, scene.rate)
                out = np.concatenate([out[by:], np.zeros(by)])
            row[who] = measures(scene, out) | {"cpu": 1000 * cpu / seconds}
        results.append(row)
        print(scene.name, {w: round(row[w]["erle"], 1) for w in ("parsimon", *peers)}, file=sys.stderr, flush=True)

    everyone = ("parsimon", *LINEAR, "WebRTC")
    mark = lambda s: s.name + (" *" if s.chosen else "")
    text = ["## ERLE in the second half, far-end single talk, dB\n",
            table(["scene", *everyone, "to the best linear peer", "drift found, ppm"],
                  [[mark(r["scene"]), *(one(r[w]["erle"]) for w in everyone), f"{r['parsimon']['erle'] - max(r[p]['erle'] for p in LINEAR):+.1f}", one(r["drift"], "{:.0f}")] for r in results])]
    groups = {"recordings": lambda s: s.recording, "synthesized": lambda s: not s.recording, "used to choose settings": lambda s: s.chosen,
              "only reported on": lambda s: not s.chosen, "all": lambda s: True}
    text += ["## Means\n", table(["group", "scenes", *everyone, "to the best linear peer's mean", "no worse than the better by 0.5 dB", "worst"],
                                 filter(None, (summary([r for r in results if f(r["scene"])], n) for n, f in groups.items())))]
    known = [r for r in results if "sdr" in r["parsimon"]]
    if known:
        text += ["## Near-end SDR while both speak, dB\n", table(["scene", "microphone", *everyone], [[mark(r["scene"]), one(r["parsimon"]["sdr before"]), *(one(r[w]["sdr"]) for w in everyone)] for r in known])]
    text += ["## Double talk of parsimon\n", table(["scene", "recall", "false in far-end single talk"], [[mark(r["scene"]), one(r["talk"][0] and 100 * r["talk"][0], "{:.0f}%"), one(100 * r["talk"][1], "{:.1f}%")] for r in results])]
    rates = sorted({r["scene"].rate for r in results})
    text += ["## CPU, ms per second of audio\n", table(["rate", *everyone], [[rate, *(one(float(np.median([r[w]["cpu"] for r in results if r["scene"].rate == rate])), "{:.2f}") for w in everyone)] for rate in rates])]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    head = [f"# Echo cancellation beside its peers, {datetime.date.today()}\n", f"Machine: {os.cpu_count()} vCPUs of {cpu}, {platform.system()}. Commit: {commit}.\n",
            f"Command: `python3 bench/echo.py {' '.join(sys.argv[1:])}`\n"]
    report = "\n".join(head + text)
    print(report)
    if args.out:
        open(args.out, "w").write(report)


if __name__ == "__main__":
    main()
