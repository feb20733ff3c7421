#!/usr/bin/env python3
"""The residual echo suppressor, `parsimon cancel --suppress`, beside WebRTC's echo canceller.

    python3 bench/echo_suppress.py [--scenes choose|report|all] [--data ../shared/data/audio] [--binary cancel_raw]
                                   [--tail 256] [--settings "NAME=VALUE"] [--out TABLES.md]

Needs `pip install numpy scipy speechmos onnxruntime librosa livekit` and `cargo build --release -p parsimon-audio --example cancel_raw`.
WebRTC's canceller runs with its noise suppression,
gain control and high-pass filter off, in frames of 10 ms.

Scenes: the recordings, and scenes made from speech, impulse responses and noise. Settings are chosen on `--scenes choose` and
reported on `--scenes report`; the two share no room and no near-end talker.

- echo, degradation: AECMOS (speechmos, with the scenario), from 1 to 5, the mean over the first three pieces of 15 s.
- removed: level of the microphone minus level of the output, dB, where only the far end speaks.
- near lost: level of the near end minus level of the output, dB, over the cells of frames of 32 ms and frequencies in which both sides speak
  and the near end is 6 dB above everything else in the microphone. Phases do not matter; those of WebRTC's output change.
- LSD: log-spectral distance to the near end, dB; frames of 32 ms (Hann, half overlapped), 100 Hz to 7 kHz, powers below -60 dB of the near
  end's largest are raised to that, over frames in which the near end is within 40 dB of its loudest frame.
- attenuation: level of the near end minus level of the output, dB, with a silent far end.
Outputs are aligned with the near end (at most 40 ms) before they are compared.
"""
import argparse, json, os, subprocess, sys, tempfile

import numpy as np
from scipy.signal import fftconvolve, resample_poly

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from echo_scenes import active as active_frames, read, spread  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def active(x, rate):
    return spread(active_frames(x, rate), len(x), rate)


# Scenes.

def wav(data, name, rate=16000, channel=0):
    x, own = read(os.path.join(data, name + ".wav"), channel)
    return x if own == rate else resample_poly(x, rate, own)


def room(data, name, rate, seconds=0.4):
    h = wav(data, "rir/" + name, rate)
    h = h[max(0, int(np.argmax(np.abs(h))) - rate // 400):][:int(seconds * rate)]
    return h / np.linalg.norm(h)


TALKERS = {
    "read": ["speech/pocketsphinx_librivox_0870_16k"],
    "arctic": ["speech/pra_cmu_arctic_us_aew_a0001", "speech/pra_cmu_arctic_us_aew_a0002", "speech/pra_cmu_arctic_us_aew_a0003"],
    "near 2": ["real_aec/ms2_nearend_double_talk"],
    "near 1": ["real_aec/ms2_nearend_simple_talk"],
    "far 1": ["real_aec/ms2_farend_simple_talk"],
    "far 2": ["real_aec/ms2_farend_double_talk"],
    "menu": ["speech/asterisk_demo-instruct_8k"],
    "phone": ["speech/spandsp_short_nb_voice"],
}


def talker(data, name, rate):
    parts = [wav(data, n, rate) for n in TALKERS[name]]
    return np.concatenate([p / np.sqrt(np.mean(p[np.abs(p) > 0.01 * np.abs(p).max()] ** 2)) * 0.06 for p in parts])


# (name, group, rate, far, near or None, room, second room or None, near-to-echo ratio, echo-to-noise ratio, distortion)
MADE = [
    ("living room", "choose", 16000, "far 1", "read", "python-acoustics_living_room_1", None, 0, 40, 0),
    ("clap room, louder echo", "choose", 16000, "menu", "arctic", "spatialaudio_rir_clap", None, -8, 30, 0),
    ("living room, distorted", "choose", 16000, "near 1", "read", "python-acoustics_living_room_1", None, 0, 35, 3),
    ("living to clap, 48 kHz", "choose", 48000, "far 1", "arctic", "python-acoustics_living_room_1", "spatialaudio_rir_clap", 5, 40, 1),
    ("clap room, far end only", "choose", 16000, "near 2", None, "spatialaudio_rir_clap", None, 0, 30, 2),
    ("living to clap, far end only", "choose", 16000, "menu", None, "python-acoustics_living_room_1", "spatialaudio_rir_clap", 0, 45, 0),
    ("near end only", "choose", 16000, None, "read", None, None, 0, 30, 0),
    ("small room", "report", 16000, "menu", "near 2", "audiomentations_impulse_response_0", None, 0, 40, 0),
    ("hall, louder echo", "report", 16000, "arctic", "near 1", "audiomentations_rir48000", None, -6, 35, 0),
    ("great hall, distorted", "report", 16000, "read", "near 2", "guitarix_greathall", None, 0, 35, 3),
    ("array, 8 kHz", "report", 8000, "phone", "near 1", "lhotse_real_8ch", None, 0, 30, 1),
    ("small room, 48 kHz", "report", 48000, "menu", "near 2", "audiomentations_impulse_response_0", None, 5, 30, 1),
    ("array to small room", "report", 16000, "far 2", "near 1", "lhotse_real_8ch", "audiomentations_impulse_response_0", 0, 40, 0),
    ("hall, far end only", "report", 16000, "far 2", None, "audiomentations_rir48000", None, 0, 30, 2),
    ("array to great hall, far end only", "report", 16000, "menu", None, "lhotse_real_8ch", "guitarix_greathall", 0, 40, 1),
    ("near end only", "report", 16000, None, "near 2", None, None, 0, 40, 0),
]


def repeat(x, n):
    return np.tile(x, -(-n // len(x)))[:n]


def made(data, groups):
    random = np.random.default_rng(18)
    for name, group, rate, far, near, first, second, ratio, noise, distortion in MADE:
        n = 20 * rate
        hiss = random.standard_normal(n) * 0.03 * 10 ** (-noise / 20)
        if group not in groups:
            continue
        if far is None:
            x, echo = np.zeros(n), np.zeros(n)
        else:
            x = repeat(talker(data, far, rate), n)
            x[:rate // 4] = 0
            played = x if distortion == 0 else np.tanh(distortion * x / 0.3) * 0.3 / distortion
            echo = fftconvolve(played, room(data, first, rate))[:n]
            if second:
                other = fftconvolve(played, room(data, second, rate))[:n]
                echo = np.concatenate([echo[:n // 2], other[n // 2:]])
            delay = rate // 50
            echo = np.concatenate([np.zeros(delay), echo[:n - delay]])
            echo *= 0.03 / np.sqrt(np.mean(echo ** 2))
        talk = np.zeros(n)
        if near:
            start = 0 if far is None else 5 * rate
            voice = repeat(talker(data, near, rate), n - start)
            talk[start:] = voice * 0.03 / np.sqrt(np.mean(voice ** 2)) * 10 ** (ratio / 20)
        kind = "nst" if far is None else "dt" if near else "st"
        yield dict(name=name, rate=rate, far=x, mic=echo + talk + hiss, near=talk if near else None, kind=kind)


def recorded(data, groups):
    load = lambda n, rate=16000: wav(data, "real_aec/" + n, rate)
    if "choose" in groups:
        far, mic = (load(f"real_linear_{n}")[:17 * 16000] for n in ("far", "near"))
        yield dict(name="real_linear, first 17 s", rate=16000, far=far, mic=mic, near=None, kind="st")
        far, mic = load("aecc_doubletalk_lpb"), load("aecc_doubletalk_mic")
        yield dict(name="aecc_doubletalk", rate=16000, far=far, mic=mic, near=None, kind="dt")
    if "report" in groups:
        for scene in ("double", "simple"):
            far, echo, near = (load(f"ms2_{n}_{scene}_talk") for n in ("farend", "echo", "nearend"))
            n = min(map(len, (far, echo, near)))
            yield dict(name=f"ms2 {scene} talk", rate=16000, far=far[:n], mic=(echo + near)[:n], near=near[:n], kind="dt")
        yield dict(name="ms2 simple talk, echo alone", rate=16000, far=far[:n], mic=echo[:n], near=None, kind="st")
        far, mic = (load(f"real_linear_{n}") for n in ("far", "near"))
        yield dict(name="real_linear", rate=16000, far=far, mic=mic, near=None, kind="dt", first=17)
        far, mic = load("aecc_doubletalk_movement_lpb"), load("aecc_doubletalk_movement_mic")
        yield dict(name="aecc_doubletalk_movement", rate=16000, far=far, mic=mic, near=None, kind="dt")
        far, mic = load("pyaec_x", 8000), load("pyaec_d", 8000)
        yield dict(name="pyaec", rate=8000, far=far, mic=mic, near=None, kind="st")


# Contestants.

def webrtc(scene, delay):
    from livekit import rtc
    from livekit.rtc.apm import AudioProcessingModule

    rate, frame = scene["rate"], scene["rate"] // 100
    apm = AudioProcessingModule(echo_cancellation=True)
    apm.set_stream_delay_ms(delay)
    ints = lambda v: np.clip(np.round(v * 32768), -32768, 32767).astype(np.int16)
    far, mic = ints(scene["far"]), ints(scene["mic"])
    out = np.zeros(len(mic))
    for at in range(0, len(mic) - frame + 1, frame):
        render = rtc.AudioFrame(bytearray(far[at:at + frame].tobytes()), rate, 1, frame)
        capture = rtc.AudioFrame(bytearray(mic[at:at + frame].tobytes()), rate, 1, frame)
        apm.process_reverse_stream(render)
        apm.process_stream(capture)
        out[at:at + frame] = np.frombuffer(bytes(capture.data), np.int16) / 32768.0
    return out


def parsimon(binary, tail, *settings):
    def run(scene, _):
        with tempfile.TemporaryDirectory() as folder:
            far, mic, out = (os.path.join(folder, n) for n in ("far", "mic", "out"))
            scene["far"].astype("<f4").tofile(far)
            scene["mic"].astype("<f4").tofile(mic)
            rate = scene["rate"]
            length = [f"taps={tail * rate // 1000}", "growth=1"] if tail else []
            subprocess.run([binary, far, mic, str(rate), out, *length, *settings], check=True, stdout=subprocess.DEVNULL)
            return np.fromfile(out, "<f4").astype(float)
    return run


# Measures.

def db(a, b):
    return float(10 * np.log10(max(np.sum(a ** 2), 1e-30) / max(np.sum(b ** 2), 1e-30)))


def align(out, near, rate):
    most = rate // 25
    size = 1 << int(np.ceil(np.log2(len(out) + most)))
    cross = np.fft.irfft(np.fft.rfft(out, size) * np.conj(np.fft.rfft(near, size)), size)
    late = int(np.argmax(cross[:most]))
    return np.concatenate([out[late:], np.zeros(late)])


def frames(x, rate):
    n = int(0.032 * rate)
    w = np.hanning(n + 1)[:n]
    return np.fft.rfft(np.lib.stride_tricks.sliding_window_view(x, n)[::n // 2] * w, axis=1)


def near_measures(scene, out):
    rate, near = scene["rate"], scene["near"]
    out = align(out, near, rate)
    s, o = frames(near, rate), frames(out, rate)
    f = np.arange(s.shape[1]) * rate / (2 * (s.shape[1] - 1))
    band = (f >= 100) & (f <= min(7000, rate / 2))
    power = (np.abs(s) ** 2).sum(1)
    on = power > 1e-4 * power.max()
    floor = 1e-6 * (np.abs(s) ** 2).max()
    log = lambda v: 10 * np.log10(np.maximum(np.abs(v[on][:, band]) ** 2, floor))
    lsd = np.sqrt(((log(s) - log(o)) ** 2).mean(1)).mean()
    far = active(scene["far"], rate)
    both = on & far[s.shape[1] - 1::s.shape[1] - 1][:len(on)] if scene["kind"] == "dt" else on
    rest = frames(scene["mic"] - near, rate)
    cells = both[:, None] & band[None, :] & (np.abs(s) ** 2 > 4 * np.abs(rest) ** 2)
    lost = {"near lost": db(np.abs(s[cells]), np.abs(o[cells]))} if cells.any() else {}
    return {"lsd": float(lsd), **lost}


def mos(scene, out):
    from speechmos import aecmos

    rate, start = scene["rate"], scene.get("first", 0)
    model = 48000 if rate == 48000 else 16000
    to = lambda v: np.clip(v if rate == model else resample_poly(v, model, rate), -1, 1)
    lpb, mic, enh = (to(v[start * rate:]) for v in (scene["far"], scene["mic"], out))
    scores = []
    step = 15 * model
    for at in range(0, max(len(mic) - step // 2, 1), step)[:3]:
        piece = {k: v[at:at + step].astype(np.float32) for k, v in (("lpb", lpb), ("mic", mic), ("enh", enh))}
        got = aecmos.run(piece, model, talk_type=scene["kind"])
        scores.append((got["echo_mos"], got["deg_mos"]))
    return np.mean(scores, 0)


def measure(scene, out):
    got = {}
    echo, degradation = mos(scene, out)
    if scene["kind"] != "nst":
        got["echo"] = echo
    if scene["kind"] != "st":
        got["degradation"] = degradation
    if scene["kind"] == "st":
        on = active(scene["far"], scene["rate"])
        got["removed"] = db(scene["mic"][on], out[on])
    elif scene["near"] is not None:
        got |= near_measures(scene, out)
    if scene["kind"] == "nst":
        got["attenuation"] = db(scene["mic"], align(out, scene["near"], scene["rate"]))
    return {k: float(v) for k, v in got.items()}


COLUMNS = ["echo", "degradation", "removed", "near lost", "lsd", "attenuation"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default=os.path.join(ROOT, "../shared/data/audio"))
    p.add_argument("--binary", default=os.path.join(ROOT, "target/release/examples/cancel_raw"))
    p.add_argument("--tail", type=int, help="length of the echo path in ms, if not the program's default")
    p.add_argument("--settings", default="", help="more settings of cancel_raw, NAME=VALUE")
    p.add_argument("--scenes", choices=["choose", "report", "all"], default="report")
    p.add_argument("--only", help="scenes whose name contains this")
    p.add_argument("--skip", default="", help="contestants to leave out, separated by commas")
    p.add_argument("--cache", help="a folder for WebRTC's results")
    p.add_argument("--out")
    args = p.parse_args()
    groups = {"choose", "report"} if args.scenes == "all" else {args.scenes}
    settings = args.settings.split()
    contestants = {
        "parsimon --suppress": parsimon(args.binary, args.tail, "suppress=1", *settings),
        "parsimon, linear": parsimon(args.binary, args.tail, *settings),
        "WebRTC": webrtc,
    }
    for name in filter(None, args.skip.split(",")):
        contestants.pop(name)
    lines = ["| scene | " + " | ".join(["output"] + COLUMNS) + " |", "| --- " * (len(COLUMNS) + 2) + "|"]
    sums = {}
    for scene in (*recorded(args.data, groups), *made(args.data, groups)):
        if args.only and args.only not in scene["name"]:
            continue
        for name, run in contestants.items():
            key = args.cache and os.path.join(args.cache, f"{sorted(groups)} {scene['name']}.json".replace("/", " "))
            if name == "WebRTC" and key and os.path.exists(key):
                got = json.load(open(key))
            else:
                got = measure(scene, run(scene, 20))
                if name == "WebRTC" and key:
                    json.dump(got, open(key, "w"))
            for column, value in got.items():
                sums.setdefault(name, {}).setdefault((scene["kind"], column), []).append(value)
            cells = [f"{got[c]:.2f}" if c in got else "" for c in COLUMNS]
            lines.append(f"| {scene['name']} ({scene['kind']}) | {name} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    lines.append("")
    lines += ["| mean over scenes | " + " | ".join(["output"] + COLUMNS) + " |", "| --- " * (len(COLUMNS) + 2) + "|"]
    titles = {"st": "far end only", "dt": "double talk", "nst": "near end only"}
    for kind, title in titles.items():
        for name in contestants:
            means = {c: np.mean(v) for (k, c), v in sums.get(name, {}).items() if k == kind}
            if means:
                cells = [f"{means[c]:.2f}" if c in means else "" for c in COLUMNS]
                lines.append(f"| {title} | {name} | " + " | ".join(cells) + " |")
                print(lines[-1])
    if args.out:
        open(args.out, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
