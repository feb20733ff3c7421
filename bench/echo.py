#!/usr/bin/env python3
"""Echo cancellation, parsimon beside padasip, pyroomacoustics and speexdsp.

    python3 bench/echo.py [--data ../shared/data/audio] [--rounds 5] [--quick] [--out record/<date>-echo.md]

Needs `pip install numpy scipy padasip pyroomacoustics`, a C compiler and `apt-get install libspeexdsp-dev`.

Every output goes through the same metrics:
- ERLE: 10 log10(sum mic^2 / sum out^2) over frames of 20 ms whose reference power is above a thousandth of the file's mean.
- double talk (the near end is known): SDR of the output against the near end, the mean of the same over 20 ms segments
  (clamped to -10..35 dB) and the reduction of the echo itself.
- speech through measured impulse responses cut to 1024 taps, 20 dB of noise: reduction of the echo itself, misalignment of the
  filter at the end.
- path change: one response, then another; seconds until a window of 0.25 s has 15 dB of the echo itself removed.
Filters have 1024 taps; parsimon runs with its defaults (64 ms: 1024 taps at 16 kHz, 512 at 8 kHz), the delay searched by itself.
NLMS has delta = 1% of the mean power in the taps. speexdsp works on 16-bit samples in frames of 10 ms and has a DC notch that
removes low frequencies of the near end, too: "notched" compares it with what it makes of the microphone when the far end is silent.
"""
import argparse, ctypes, datetime, json, os, platform, statistics, struct, subprocess, sys, tempfile, time

import numpy as np
from scipy.signal import fftconvolve, resample_poly

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "bench")
TAPS = 1024


# Files.

def read(path, channel=0):
    raw = open(path, "rb").read()
    at = 12
    while at + 8 <= len(raw):
        name, size = raw[at:at + 4], struct.unpack("<I", raw[at + 4:at + 8])[0]
        if name == b"fmt ":
            tag, channels, rate, _, _, bits = struct.unpack("<HHIIHH", raw[at + 8:at + 24])
        if name == b"data":
            data = raw[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    if bits == 16:
        x = np.frombuffer(data, "<i2") / 32768.0
    elif bits == 24:
        b = np.frombuffer(data[:len(data) // 3 * 3], np.uint8).reshape(-1, 3).astype(np.int32)
        x = ((b[:, 0] << 8 | b[:, 1] << 16 | b[:, 2] << 24) >> 8) / 8388608.0
    else:
        x = np.frombuffer(data, "<f4").astype(float)
    return x.reshape(-1, channels)[:, channel], rate


def write(path, x, rate):
    data = x.astype("<f4").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 3, 1, rate, rate * 4, 4, 32, b"data", len(data))
    open(path, "wb").write(head + data)


# Contestants: (far, near, rate) to (output, filter or None, seconds).

def padasip(step):
    import padasip as pa

    def run(far, near, rate, taps=TAPS):
        x = np.concatenate([np.zeros(taps - 1), far])
        windows = np.lib.stride_tricks.sliding_window_view(x, taps)[:, ::-1]
        f = pa.filters.FilterNLMS(n=taps, mu=step, eps=0.01 * taps * np.mean(far ** 2), w="zeros")
        out, seconds = np.empty(len(near)), 0.0
        for i in range(0, len(near), 4096):  # its history of weights would not fit the memory otherwise
            piece = windows[i:i + 4096].copy()
            start = time.perf_counter()
            _, out[i:i + 4096], _ = f.run(near[i:i + 4096], piece)
            seconds += time.perf_counter() - start
        return out, f.w.copy(), seconds
    return run


def pyroom(step):
    import pyroomacoustics as pra

    def run(far, near, rate, taps=TAPS):
        f, out = pra.adaptive.NLMS(taps, mu=step), np.empty(len(near))
        start = time.perf_counter()
        for i in range(len(near)):
            # update() does not hand out its error; this is the one it computes inside.
            w = f.w
            f.x[1:], f.x[0], f.d = f.x[:-1], far[i], near[i]
            e = near[i] - np.inner(f.x, w)
            w += f.mu * e * f.x / np.inner(f.x, f.x)
            out[i] = e
        return out, f.w.copy(), time.perf_counter() - start
    return run


def speex(library):
    def run(far, near, rate, taps=TAPS):
        q = lambda v: np.ascontiguousarray(np.clip(np.round(v * 32768), -32768, 32767).astype(np.int16))
        x, d, frame = q(far), q(near), rate // 100
        out, path = np.zeros(len(d), np.int16), np.zeros(taps + 2 * frame, np.int32)
        pointer = lambda a: ctypes.c_void_p(a.ctypes.data)
        seconds = library.speex_run(pointer(x), pointer(d), pointer(out), ctypes.c_long(len(d)), frame, taps, rate, pointer(path))
        # Its transform is scaled by its length, and so is its filter.
        return out / 32768.0, path[:taps] / 32767.0 / (2 * frame), seconds
    return run


def parsimon(binary, folder, *flags):
    def run(far, near, rate, taps=None):
        names = [os.path.join(folder, n) for n in ("far.wav", "near.wav", "clean.wav")]
        write(names[0], far, rate)
        write(names[1], near, rate)
        command = [binary, "cancel", "--reference", names[0], "--microphone", names[1], "-o", names[2], "--format", "float32",
                   "--json", "-", "--quiet", *flags, *(["--taps", str(taps)] if taps else [])]
        done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        run.last = done
        path = np.concatenate([np.zeros(max(done["shift"], 0)), done["echo_path"]])[max(-done["shift"], 0):]
        return read(names[2])[0], path, done["time"]
    return run


# Metrics.

def active(x, rate):
    w = rate // 50
    n = len(x) // w
    p = (x[:n * w].reshape(n, w) ** 2).mean(1) > 1e-3 * np.mean(x ** 2)
    return np.concatenate([np.repeat(p, w), np.zeros(len(x) - n * w, bool)])


def db(a, b):
    return float(10 * np.log10(np.sum(a ** 2) / max(np.sum(b ** 2), 1e-30)))


def erle(far, near, out, rate):
    a = active(far, rate)
    half = a & (np.arange(len(a)) >= len(a) // 2)
    return [db(near[half], out[half]), db(near[a], out[a])]


def double_talk(far, echo, talk, out, rate):
    a, both = active(far, rate), active(far, rate) & active(talk, rate)
    left, w = out - talk, rate // 50
    n = len(talk) // w
    s, e = [(v[:n * w].reshape(n, w) ** 2).sum(1) for v in (talk, left)]
    loud = s > 1e-3 * s.mean()
    segments = np.clip(10 * np.log10(s / (e + 1e-12)), -10, 35)
    far_active = a[:n * w:w] & loud
    return {"sdr": db(talk, left), "segmental": float(segments[loud].mean()), "segmental_in_double_talk": float(segments[far_active].mean()), "echo": db(echo[a], left[a]), "echo_in_double_talk": db(echo[both], left[both]),
            "erle": db((echo + talk)[a], out[a])}


def recovery(echo, noise, out, change, rate):
    left, w = out - noise, rate // 4
    settled = db(echo[change - 2 * rate:change], left[change - 2 * rate:change])
    for i in range(change, len(echo) - w, w // 5):
        # Windows of silence prove nothing.
        if np.mean(echo[i:i + w] ** 2) > 0.1 * np.mean(echo ** 2) and db(echo[i:i + w], left[i:i + w]) >= 15:
            return settled, (i + w - change) / rate
    return settled, None


# Scenes.

def recordings(data):
    for name, far, near in (
        ("real_linear", "real_linear_far", "real_linear_near"),
        ("aecc_doubletalk", "aecc_doubletalk_lpb", "aecc_doubletalk_mic"),
        ("aecc_doubletalk_movement", "aecc_doubletalk_movement_lpb", "aecc_doubletalk_movement_mic"),
        ("ms2 simple talk, echo alone", "ms2_farend_simple_talk", "ms2_echo_simple_talk"),
        ("pyaec", "pyaec_x", "pyaec_d"),
    ):
        (x, rate), (d, _) = (read(os.path.join(data, "real_aec", f"{n}.wav")) for n in (far, near))
        n = min(len(x), len(d))
        yield name, x[:n], d[:n], rate


def known_near_ends(data):
    """Far end, echo, near end: the microphone is the sum of the last two."""
    load = lambda n: read(os.path.join(data, "real_aec", n + ".wav"))[0]
    parts = [load(f"ms2_{n}_double_talk") for n in ("farend", "echo", "nearend")]
    n = min(map(len, parts))
    yield "ms2 double talk", *(p[:n] for p in parts), 16000
    # The first 17 s of real_linear are echo alone.
    far, echo = (load(f"real_linear_{n}")[:17 * 16000] for n in ("far", "near"))
    voice = speech(data)[:9 * 16000]
    talk = np.concatenate([np.zeros(8 * 16000), voice * np.sqrt(np.mean(echo ** 2) / np.mean(voice ** 2))])
    yield "real_linear's first 17 s (echo alone), read speech of the same power added from second 8", far, echo, talk, 16000


def speech(data):
    names = ("pocketsphinx_librivox_0870_16k", "pra_cmu_arctic_us_aew_a0001", "pra_cmu_arctic_us_aew_a0002", "pra_cmu_arctic_us_aew_a0003")
    parts = [read(os.path.join(data, "speech", f"{n}.wav"))[0] for n in names]
    return np.concatenate([p / np.sqrt(np.mean(p ** 2)) * 0.05 for p in parts])


def response(data, name, taps=TAPS):
    h, rate = read(os.path.join(data, "rir", f"{name}.wav"))
    h = resample_poly(h, 16000, rate) if rate != 16000 else h
    k = int(np.argmax(np.abs(h)))
    h = h[max(0, k - 40):][:taps]
    h = np.concatenate([h, np.zeros(taps - len(h))])
    return h / np.linalg.norm(h)


RESPONSES = ("audiomentations_impulse_response_0", "lhotse_real_8ch", "python-acoustics_living_room_1", "spatialaudio_rir_clap")
CHANGES = [(a, b) for a in range(4) for b in range(4) if a != b]


def noisy(echo, decibels, seed):
    v = np.random.default_rng(seed).standard_normal(len(echo))
    return v * np.sqrt(np.mean(echo ** 2) / 10 ** (decibels / 10) / np.mean(v ** 2))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def one(v):
    return "-" if v is None or not np.isfinite(v) or v > 100 else f"{v:.1f}"


def quality(args, crowd, peers, ours, theirs, result, text):
    rows, result["recordings"] = [], {}
    for name, far, near, rate in recordings(args.data):
        row = result["recordings"][name] = {}
        for who, run in crowd.items():
            row[who] = erle(far, near, run(far, near, rate)[0], rate)
        row["parsimon status"] = ours.last["status"] | {"delay": ours.last["delay"]}
        passed = theirs(np.zeros_like(far), near, rate)[0]
        row["speexdsp notched"] = erle(far, passed, theirs(far, near, rate)[0], rate)
        if not args.quick:
            with np.errstate(all="ignore"):
                row["pyroomacoustics NLMS .5"] = erle(far, near, pyroom(0.5)(far, near, rate)[0], rate)
        best = max(row[p][0] for p in peers)
        row["met"] = row["parsimon"][0] >= best
        columns = ["parsimon", *peers, "speexdsp notched"] + ([] if args.quick else ["pyroomacoustics NLMS .5"])
        rows.append([name, *(f"{one(row[c][0])} / {one(row[c][1])}" for c in columns), "yes" if row["met"] else f"no ({row['parsimon'][0] - best:+.1f})"])
        print(rows[-1], file=sys.stderr)
    mean = lambda c: statistics.fmean(r[c][0] for r in result["recordings"].values())
    best = statistics.fmean(max(r[p][0] for p in peers) for r in result["recordings"].values())
    rows.append(["mean of second halves", *(one(mean(c)) for c in columns), f"best peer of each: {best:.1f}"])
    text += ["## ERLE on recordings, dB, second half / whole\n", table(["recording", *columns, "no worse than the best of the first peers"], rows)]

    result["double talk"] = {}
    for name, far, echo, talk, rate in known_near_ends(args.data):
        scenes = result["double talk"][name] = {"microphone itself": double_talk(far, echo, talk, echo + talk, rate),
                                                "a perfect canceller": double_talk(far, echo, talk, talk, rate)}
        for who, run in crowd.items():
            scenes[who] = double_talk(far, echo, talk, run(far, echo + talk, rate)[0], rate)
        silent = np.zeros_like(far)
        scenes["speexdsp notched"] = double_talk(far, echo, theirs(silent, talk, rate)[0], theirs(far, echo + talk, rate)[0], rate)
        keys = ("sdr", "segmental", "segmental_in_double_talk", "echo", "echo_in_double_talk", "erle")
        text += [f"## Double talk with a known near end, dB: {name}\n",
                 table(["", "SDR of the near end", "segmental", "segmental while both speak", "echo removed", "echo removed while both speak", "ERLE by the microphone"],
                       [[who, *(one(s[k]) for k in keys)] for who, s in scenes.items()])]
        print(scenes, file=sys.stderr)

    rows, result["responses"] = [], {}
    x = speech(args.data)
    for name in RESPONSES:
        h = response(args.data, name)
        y = fftconvolve(x, h)[:len(x)]
        v = noisy(y, 20, 1)
        row = result["responses"][name] = {}
        for who, run in crowd.items():
            out, w, _ = run(x, y + v, 16000)
            half = slice(len(x) // 2, None)
            w = np.concatenate([w, np.zeros(max(0, TAPS - len(w)))])[:TAPS]
            row[who] = [db(y[half], (out - v)[half]), -db(h, h - w)]
        rows.append([name, *(f"{one(row[c][0])} / {one(row[c][1])}" for c in crowd)])
        print(rows[-1], file=sys.stderr)
    text += ["## Speech through measured responses, 20 dB of noise: echo removed in the second half / misalignment at the end, dB\n", table(["response", *crowd], rows)]

    rows, result["changes"] = [], {}
    swift = [who for who in crowd if who != "NLMS .1 (padasip)"]  # the slow step is no contestant here
    for a, b in CHANGES:
        x2 = np.concatenate([x, x])
        change = len(x)
        y = np.concatenate([fftconvolve(x2, response(args.data, RESPONSES[a]))[:change], fftconvolve(x2, response(args.data, RESPONSES[b]))[change:len(x2)]])
        v = noisy(y, 20, 2)
        name = f"{RESPONSES[a]} to {RESPONSES[b]}"
        row = result["changes"][name] = {who: recovery(y, v, crowd[who](x2, y + v, 16000)[0], change, 16000) for who in swift}
        cell = lambda r: f"{r[0]:.0f} dB, {'never' if r[1] is None else f'{r[1]:.2f} s'}"
        rows.append([name, *(cell(row[c]) for c in swift)])
        print(rows[-1], file=sys.stderr)
    text += ["## Path change: echo removed in the 2 s before, seconds until 15 dB are removed again\n", table(["change", *swift], rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data", "audio"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="without the Python filters, which take minutes")
    parser.add_argument("--time-only", action="store_true", help="the last section alone")
    parser.add_argument("--out")
    args = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-q"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    folder = tempfile.mkdtemp(prefix="parsimon-echo-")
    shared = os.path.join(folder, "echo_speex.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", os.path.join(HERE, "echo_speex.c"), "-o", shared, "-lspeexdsp"], check=True)
    library = ctypes.CDLL(shared)
    library.speex_run.restype = ctypes.c_double
    binary = os.path.join(target, "release", "parsimon")
    ours, theirs = parsimon(binary, folder), speex(library)
    crowd = {"parsimon": ours, "speexdsp": theirs}
    if not args.quick:
        crowd |= {"NLMS .1 (padasip)": padasip(0.1), "NLMS .5 (padasip)": padasip(0.5)}
    peers = [n for n in crowd if n != "parsimon"]
    result, text = {}, []

    if not args.time_only:
        quality(args, crowd, peers, ours, theirs, result, text)

    _, far, near, rate = next(recordings(args.data))
    variants = {
        "parsimon": (), "parsimon, delay known": ("--delay", "0"),
        "parsimon -a nlms": ("--delay", "0", "--detector", "off", "-a", "nlms"),
        "parsimon -a apa --order 2": ("--delay", "0", "--detector", "off", "-a", "apa", "--order", "2"),
        "parsimon -a pda --order 2": ("--delay", "0", "--detector", "off", "-a", "pda", "--order", "2", "--alpha", "0.3", "--l1", "0.001"),
    }
    entries = {(who, t): (parsimon(binary, folder, *flags), len(far)) for who, flags in variants.items() for t in (512, 1024)}
    entries |= {("speexdsp", t): (theirs, len(far)) for t in (512, 1024)}
    if not args.quick:
        entries |= {("NLMS (padasip)", t): (padasip(0.5), 20000) for t in (512, 1024)} | {("NLMS (pyroomacoustics)", t): (pyroom(0.5), 20000) for t in (512, 1024)}
    times = {k: [] for k in entries}
    for _ in range(args.rounds):
        for key, (run, n) in entries.items():
            times[key].append(run(far[:n], near[:n], rate, key[1])[2] / n)
    rows, result["time"] = [], {}
    for (who, taps), seconds in times.items():
        rate_of = sorted(1 / s / 1e6 for s in seconds)
        median = statistics.median(rate_of)
        result["time"][f"{who} {taps}"] = rate_of
        peer = times.get(("NLMS (padasip)", taps))
        ratio = f"{median * 1e6 * statistics.median(peer):.0f}" if peer else "-"
        rows.append([who, taps, f"{median:.3f} [{rate_of[0]:.3f}, {rate_of[-1]:.3f}]", f"{100 * 0.016 / median:.2f}%", ratio])
    text += [f"## Time, real_linear, one core, median of {args.rounds} interleaved rounds [least, most]\n",
             table(["", "taps", "million samples per second", "share of real time at 16 kHz", "times padasip"], rows),
             "parsimon's figures are what `parsimon cancel --json` calls time: search for the delay, filter, detector, guard and ERLE.\n"]

    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    head = [f"# Echo cancellation beside its peers, {datetime.date.today()}\n",
            f"Machine: {os.cpu_count()} vCPUs of {cpu}, {platform.system()}. Commit: {commit}.\n",
            f"Command: `python3 bench/echo.py {' '.join(sys.argv[1:])}`\n"]
    report = "\n".join(head + text + ["```json", json.dumps(result), "```", ""])
    print(report)
    if args.out:
        open(args.out, "w").write(report)


if __name__ == "__main__":
    main()
