"""Recordings and synthesized scenes for echo.py.

Every scene has a far end, a microphone and, where they are known, the echo and the near end in it. `chosen` scenes were used to choose
settings; the others are only reported on. Recordings whose near end is not known carry a mask of far-end single talk made without any
contestant: frames of 20 ms where least squares over windows of 4 s (1,024 taps from the onset) explain at least 6 dB of the microphone.
"""
import os, struct
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import fftconvolve, resample_poly


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
        x = np.frombuffer(data[:len(data) // 2 * 2], "<i2") / 32768.0
    elif bits == 24:
        b = np.frombuffer(data[:len(data) // 3 * 3], np.uint8).reshape(-1, 3).astype(np.int32)
        x = ((b[:, 0] << 8 | b[:, 1] << 16 | b[:, 2] << 24) >> 8) / 8388608.0
    else:
        x = np.frombuffer(data[:len(data) // 4 * 4], "<f4").astype(float)
    return x[:len(x) // channels * channels].reshape(-1, channels)[:, channel], rate


@dataclass
class Scene:
    name: str
    rate: int
    far: np.ndarray
    mic: np.ndarray
    chosen: bool
    recording: bool
    far_only: bool
    echo: np.ndarray = None      # None: not known
    near: np.ndarray = None      # None: not known; zeros: silent
    single: np.ndarray = None    # far-end single talk, per sample

    def key(self):
        return self.name.replace(" ", "_").replace(",", "")


def frames(x, rate):
    w = rate // 50
    n = len(x) // w
    return (x[:n * w].reshape(n, w) ** 2).mean(1)


def spread(flags, length, rate):
    w = rate // 50
    return np.concatenate([np.repeat(flags, w), np.zeros(max(0, length - len(flags) * w), bool)])[:length]


def active(x, rate):
    p = frames(x, rate)
    return p > 1e-3 * np.mean(x ** 2)


def widen(flags, before, after):
    out = flags.copy()
    for k in range(1, before + 1):
        out[:-k] |= flags[k:]
    for k in range(1, after + 1):
        out[k:] |= flags[:-k]
    return out


def single_talk(scene):
    """Far end active, near end silent for 60 ms around."""
    a = active(scene.far, scene.rate)
    if scene.near is not None and np.any(scene.near):
        a &= ~widen(active(scene.near, scene.rate), 3, 3)
    elif scene.near is None:
        a &= explained(scene.far, scene.mic, scene.rate)
    return spread(a, len(scene.mic), scene.rate)


def explained(far, mic, rate, taps=1024):
    lag = onset(far, mic, rate)
    x = np.concatenate([np.zeros(max(lag, 0)), far[max(-lag, 0):]])[:len(mic)]
    x = np.concatenate([x, np.zeros(len(mic) - len(x))])
    window, left = 4 * rate, np.array(mic)
    for start in range(0, len(mic), window):
        s = slice(max(0, min(start, len(mic) - window)), min(len(mic), start + window))
        a, b = x[s], mic[s]
        size = len(a) * 2
        fx, fd = np.fft.rfft(a, size), np.fft.rfft(b, size)
        r = np.fft.irfft(np.abs(fx) ** 2)[:taps]
        p = np.fft.irfft(fd * np.conj(fx))[:taps]
        r[0] *= 1.001
        if r[0] > 0:
            left[s] = b - fftconvolve(a, solve_toeplitz(r, p))[:len(b)]
    kernel = np.ones(5) / 5
    d, e = (np.convolve(frames(v, rate), kernel, "same") for v in (mic, left))
    return e < 0.25 * d


def onset(far, mic, rate):
    """The earliest lag within 20 ms before the strongest peak of the cross-correlation that has a quarter of its height."""
    size = 1 << (len(far) + len(mic) - 1).bit_length()
    c = np.fft.rfft(mic, size) * np.conj(np.fft.rfft(far, size))
    c = np.abs(np.fft.irfft(c / np.maximum(np.abs(c), 1e-12)))
    most = rate
    c = np.concatenate([c[-most:], c[:most]])
    peak = int(np.argmax(c))
    early = c[max(0, peak - rate // 50):peak + 1]
    return peak - (len(early) - 1 - int(np.argmax(early > 0.25 * c[peak]))) - most - 8


def recordings(data):
    load = lambda n: read(os.path.join(data, "real_aec", n + ".wav"))
    for name, far, mic, only, chosen, cut in (
        ("real_linear, first 17 s", "real_linear_far", "real_linear_near", True, True, 17),
        ("real_linear", "real_linear_far", "real_linear_near", False, False, None),
        ("aecc_doubletalk", "aecc_doubletalk_lpb", "aecc_doubletalk_mic", False, True, None),
        ("aecc_doubletalk_movement", "aecc_doubletalk_movement_lpb", "aecc_doubletalk_movement_mic", False, False, None),
        ("ms2 simple talk, echo", "ms2_farend_simple_talk", "ms2_echo_simple_talk", True, True, None),
        ("ms2 double talk, echo", "ms2_farend_double_talk", "ms2_echo_double_talk", True, False, None),
        ("pyaec", "pyaec_x", "pyaec_d", False, False, None),
    ):
        (x, rate), (d, _) = load(far), load(mic)
        n = min(len(x), len(d), cut * rate if cut else 1 << 40)
        scene = Scene(name, rate, x[:n], d[:n], chosen, True, only, near=np.zeros(n) if only else None)
        yield scene
    parts = [load(f"ms2_{n}_double_talk")[0] for n in ("farend", "echo", "nearend")]
    n = min(map(len, parts))
    far, echo, near = (p[:n] for p in parts)
    yield Scene("ms2 double talk", 16000, far, echo + near, False, True, False, echo, near)
    far, echo = (load(f"real_linear_{n}")[0][:17 * 16000] for n in ("far", "near"))
    voice = voices(data, 16000)["arctic"][:9 * 16000]
    near = np.concatenate([np.zeros(8 * 16000), voice, np.zeros(9 * 16000)])[:len(echo)]
    near *= np.sqrt(np.mean(echo ** 2) / np.mean(near ** 2))
    yield Scene("real_linear, first 17 s, speech added", 16000, far, echo + near, True, True, False, echo, near)


def voices(data, rate):
    """Speakers by name, each at 0.05 RMS."""
    load = lambda group, *names: [read(os.path.join(data, group, n + ".wav")) for n in names]
    sets = {
        "librivox": load("speech", "pocketsphinx_librivox_0870_16k"),
        "arctic": load("speech", *(f"pra_cmu_arctic_us_aew_a000{i}" for i in (1, 2, 3))),
        "asterisk": load("speech", "asterisk_demo-instruct_8k"),
        "spandsp": load("speech", "spandsp_short_nb_voice"),
        "aecc": load("real_aec", "aecc_doubletalk_lpb"),
        "ms2": load("real_aec", "ms2_farend_double_talk"),
        "ms2 near": load("real_aec", "ms2_nearend_double_talk"),
        "linear": load("real_aec", "real_linear_far"),
    }
    out = {}
    for name, parts in sets.items():
        x = np.concatenate([resample_poly(p, rate, r) if r != rate else p for p, r in parts])
        out[name] = x / np.sqrt(np.mean(x ** 2)) * 0.05
    return out


def response(data, name, rate, seconds=0.4, gain=0.5):
    h, r = read(os.path.join(data, "rir", f"{name}.wav"))
    h = resample_poly(h, rate, r) if r != rate else h
    peak = int(np.argmax(np.abs(h)))
    h = h[max(0, peak - rate // 400):][:int(seconds * rate)]
    fade = int(0.2 * len(h))
    h = h.copy()
    h[-fade:] *= np.cos(np.linspace(0, np.pi / 2, fade)) ** 2
    return gain * h / np.linalg.norm(h)


def drifted(x, ppm):
    """x played by a clock that is `ppm` millionths fast: the sample t of the result is x at t (1 + ppm / 1e6), by windowed sinc."""
    if not ppm:
        return x
    at = np.arange(len(x)) * (1 + ppm * 1e-6)
    base = np.floor(at).astype(int)
    half, out = 24, np.zeros(len(x))
    for k in range(-half + 1, half + 1):
        u = at - (base + k)
        inside = (base + k >= 0) & (base + k < len(x))
        w = np.sinc(u) * np.cos(np.pi * u / (2 * half + 1)) ** 2
        out[inside] += w[inside] * x[base[inside] + k]
    return out


ROOMS = {"a": "audiomentations_impulse_response_0", "b": "lhotse_real_8ch", "c": "python-acoustics_living_room_1", "d": "spatialaudio_rir_clap",
         "e": "audiomentations_rir48000", "f": "openair_sportscentre_omni"}

# name: rate, far voice, room, delay ms, drift ppm, noise dB below the echo, near voice, signal-to-echo dB, second room and change, loudspeaker
MADE = {
    # used to choose settings
    "s01 16k plain": (16000, "aecc", "b", 20, 0, 30, None, 0, None, 0, True),
    "s02 16k drift 60": (16000, "linear", "a", 40, 60, 30, None, 0, None, 0, True),
    "s03 16k drift -200": (16000, "ms2", "c", 30, -200, 35, None, 0, None, 0, True),
    "s04 16k double talk": (16000, "aecc", "c", 10, 0, 35, "arctic", 0, None, 0, True),
    "s05 16k path change": (16000, "linear", "b", 10, 0, 30, None, 0, ("c", "jump"), 0, True),
    "s06 16k moving": (16000, "ms2", "c", 15, 0, 30, None, 0, ("b", "move"), 0, True),
    "s07 16k loudspeaker, noise": (16000, "linear", "d", 25, 0, 20, None, 0, None, 3.0, True),
    "s08 8k double talk": (8000, "asterisk", "a", 12, 0, 30, "spandsp", 0, None, 0, True),
    # only reported on
    "t01 8k plain": (8000, "asterisk", "b", 60, 0, 30, None, 0, None, 0, False),
    "t02 8k drift 100, noise": (8000, "asterisk", "d", 30, 100, 20, None, 0, None, 0, False),
    "t03 16k no drift": (16000, "linear", "d", 35, 0, 35, None, 0, None, 0, False),
    "t04 16k drift 200": (16000, "linear", "d", 35, 200, 35, None, 0, None, 0, False),
    "t05 16k double talk": (16000, "linear", "b", 22, 0, 30, "librivox", 0, None, 0, False),
    "t06 16k double talk, drift 60": (16000, "ms2", "a", 22, 60, 30, "ms2 near", 0, None, 0, False),
    "t07 16k moving, loudspeaker": (16000, "aecc", "d", 18, 0, 30, None, 0, ("a", "move"), 2.0, False),
    "t08 16k path change, noise": (16000, "aecc", "a", 18, 0, 20, None, 0, ("d", "jump"), 0, False),
    "t09 48k plain": (48000, "aecc", "e", 25, 0, 30, None, 0, None, 0, False),
    "t10 48k drift -100": (48000, "linear", "c", 25, -100, 30, None, 0, None, 0, False),
    "t11 48k double talk": (48000, "ms2", "b", 12, 0, 30, "arctic", 0, None, 0, False),
    "t12 16k long delay": (16000, "ms2", "e", 310, 0, 30, None, 0, None, 0, False),
    "t13 16k large hall": (16000, "linear", "f", 15, 0, 30, None, 0, None, 0, False),
}


def made(data, only=None):
    for seed, (name, (rate, far, room, delay, ppm, noise, near, ratio, change, drive, chosen)) in enumerate(MADE.items()):
        if only and only not in name:
            continue
        people = voices(data, rate)
        x = people[far][:(40 if ppm or far == "linear" else 30) * rate]
        if len(x) < 30 * rate:
            x = np.concatenate([x, x])[:(40 if ppm else 30) * rate]
        played = drifted(x, ppm)
        if drive:
            played = np.tanh(drive * played / np.std(played) / 6) * np.std(played) * 6 / drive
        late = np.zeros(delay * rate // 1000)
        through = lambda r: np.concatenate([late, fftconvolve(played, response(data, ROOMS[r], rate))])[:len(x)]
        echo = through(room)
        if change:
            other, half, t = through(change[0]), len(x) // 2, np.arange(len(x)) / len(x)
            if change[1] == "jump":
                echo = np.concatenate([echo[:half], other[half:]])
            else:  # to and fro between two places, three times
                share = 0.35 * (1 - np.cos(2 * np.pi * 3 * t))
                echo = (1 - share) * echo + share * other
        talk = np.zeros(len(x))
        if near:
            voice, third = people[near], len(x) // 3
            voice = np.concatenate([voice] * (1 + third // len(voice)))
            for start in (third, 2 * third + 2 * rate):  # two turns, from a third of the scene on
                piece = voice[:min(third - 3 * rate, len(x) - start)]
                talk[start:start + len(piece)] = piece
            talk *= np.sqrt(np.mean(echo ** 2) * 10 ** (ratio / 10) / np.mean(talk[talk != 0] ** 2))
        v = np.random.default_rng(seed).standard_normal(len(x))
        v *= np.sqrt(np.mean(echo ** 2) / 10 ** (noise / 10))
        mic = echo + talk + v
        yield Scene(name, rate, x, mic, chosen, False, near is None, echo, talk)


def scenes(data, only=None):
    for scene in (*recordings(data), *made(data, only)):
        if only and only not in scene.name:
            continue
        if scene.far_only:
            scene.near = np.zeros(len(scene.mic))
        scene.single = single_talk(scene)
        yield scene
