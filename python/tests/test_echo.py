"""The echo canceller in Python: two callbacks, kinds of samples, threads, status."""

import pickle
import threading

import numpy as np
import pytest

import parsimon
from parsimon import EchoCanceller

RATE = 16_000


def scene(seconds=8.0, late=300, seed=0):
    far = np.random.default_rng(seed).normal(size=int(seconds * RATE)).astype(np.float32) * 0.1
    near = 0.5 * np.concatenate([np.zeros(late, np.float32), far[:-late]])
    return far, near.astype(np.float32)


def run(canceller, far, near, piece=320):
    out = []
    for start in range(0, len(near), piece):
        canceller.play(far[start : start + piece])
        out.append(canceller.record(near[start : start + piece]))
    return np.concatenate(out)


def level(v):
    return 10 * np.log10(np.mean(np.square(v, dtype=np.float64)) + 1e-20)


def test_the_echo_goes_in_any_kind_of_samples():
    far, near = scene()
    clean = run(EchoCanceller(RATE), far, near)
    assert clean.dtype == np.float32 and len(clean) == len(near)
    half = len(near) // 2
    assert level(clean[half:]) < level(near[half:]) - 30
    whole = lambda v: np.clip(np.round(v * 32768), -32768, 32767).astype(np.int16)
    as_int = run(EchoCanceller(RATE), whole(far), whole(near))
    assert as_int.dtype == np.int16
    assert level(as_int[half:] / 32768) < level(near[half:]) - 30
    canceller, parts = EchoCanceller(RATE), []
    for start in range(0, len(near), 320):
        canceller.play(whole(far[start : start + 320]).tobytes())
        parts.append(canceller.record(whole(near[start : start + 320]).tobytes()))
    assert all(isinstance(part, bytes) for part in parts)
    assert np.array_equal(np.frombuffer(b"".join(parts), np.int16), as_int)
    assert run(EchoCanceller(RATE), far.astype(float), near.astype(float)).dtype == np.float64


def test_pieces_of_any_size_give_the_same_samples():
    far, near = scene(3)
    one = EchoCanceller(RATE)
    one.play(far[: 2 * RATE])
    whole = one.record(near[: 2 * RATE])
    other = EchoCanceller(RATE)
    parts = [other.record(near[s : s + 77]) for s in range(0, 2 * RATE, 77) if other.play(far[s : s + 77]) is None]
    assert np.array_equal(np.concatenate(parts)[: 2 * RATE], whole[: sum(map(len, parts))])


def test_the_linear_output_is_beside_the_suppressed_one():
    far, near = scene(3)
    canceller = EchoCanceller(RATE, suppress=True, max_delay=0)
    plain = EchoCanceller(RATE, max_delay=0)
    with pytest.raises(AttributeError, match="nothing was recorded"):
        canceller.linear  # noqa: B018
    linear = []
    for start in range(0, len(near), 500):
        canceller.play(far[start : start + 500])
        canceller.record(near[start : start + 500])
        linear.append(canceller.linear)
    expected = run(plain, far, near)
    late = canceller.latency - plain.latency
    assert late > 0
    assert np.array_equal(np.concatenate(linear)[late:], expected[:-late])


def test_status_reset_and_pickle():
    far, near = scene(4)
    canceller = EchoCanceller(RATE)
    assert canceller.status.erle_db is None
    first = run(canceller, far, near)
    status = canceller.status
    assert status.erle_db > 15 and status.warning is None and status.missing == 0
    assert status.frames == len(near) // 64 * 64
    again = pickle.loads(pickle.dumps(canceller))
    assert np.array_equal(run(again, far, near), run(canceller, far, near))
    canceller.reset()
    assert canceller.status.frames == 0
    assert np.array_equal(run(canceller, far, near), first)
    assert len(canceller.echo_path) >= 4096


def test_one_side_alone_is_bounded_and_named():
    far, near = scene(2)
    canceller = EchoCanceller(RATE)
    for _ in range(60):
        canceller.play(far)
    assert canceller.status.waiting == 2 * RATE
    assert canceller.status.dropped == 118 * RATE
    assert "nothing is recorded" in canceller.status.warning
    for _ in range(10):
        assert np.isfinite(canceller.record(near)).all()
    assert "nothing is played" in canceller.status.warning
    assert canceller.record(np.zeros(0, np.float32)).size == 0
    broken = near.copy()
    broken[:5] = [np.nan, np.inf, -np.inf, 1e30, 0]
    assert np.isfinite(canceller.record(broken[5:])).all()
    canceller.play(broken)
    canceller.record(near)
    assert canceller.status.not_finite == 3


def test_two_threads_call_at_their_own_times():
    far, near = scene(6)
    canceller, out = EchoCanceller(RATE), []
    ahead = threading.Semaphore(0)

    def play():
        for start in range(0, len(far), 160):
            canceller.play(far[start : start + 160])
            ahead.release()

    def record():
        for start in range(0, len(near) - 480, 480):
            for _ in range(3):
                ahead.acquire()
            out.append(canceller.record(near[start : start + 480]))

    threads = [threading.Thread(target=f) for f in (play, record)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    out = np.concatenate(out)
    # The one that plays is faster, so the queue may have dropped; the output is whole and finite either way.
    assert len(out) == len(range(0, len(near) - 480, 480)) * 480
    assert np.isfinite(out).all()


def test_two_loudspeakers_and_two_microphones():
    n = 8 * RATE
    left, right = np.random.default_rng(3).normal(size=(2, n)).astype(np.float32) * 0.1
    echo = lambda a, b: a * np.concatenate([np.zeros(100, np.float32), left[:-100]]) + b * np.concatenate([np.zeros(90, np.float32), right[:-90]])
    heard = np.stack([echo(0.5, 0.3), echo(-0.2, 0.6)], axis=1).astype(np.float32)
    canceller = EchoCanceller(RATE, speakers=2, microphones=2)
    out = run(canceller, np.stack([left, right], axis=1), heard)
    assert out.shape == heard.shape
    for channel in range(2):
        assert level(out[n // 2 :, channel]) < level(heard[n // 2 :, channel]) - 15
    with pytest.raises(ValueError, match="2 channels"):
        canceller.play(np.zeros((10, 3), np.float32))
    with pytest.raises(ValueError, match="multiple"):
        canceller.record(np.zeros(11, np.float32))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1,), "rate must be between"),
        ((0,), "rate must be between"),
        ((16000.5,), "whole number"),
        ((-8,), "whole number"),
    ],
)
def test_impossible_rates_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        EchoCanceller(*arguments)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_delay": 61}, "search must be between"),
        ({"max_delay": float("nan")}, "search must be between"),
        ({"delay": 10**9}, "delay must be at most"),
        ({"taps": 0}, "taps must be between"),
        ({"speakers": 0}, "loudspeakers must be between"),
        ({"microphones": 65}, "microphones must be between"),
    ],
)
def test_impossible_settings_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        EchoCanceller(RATE, **settings)


@pytest.mark.parametrize("samples", [b"odd", np.zeros((2, 2, 2), np.float32), np.zeros(3, np.int64), np.float32(1), ["a"]])
def test_samples_of_no_known_kind_are_refused(samples):
    with pytest.raises(ValueError):
        EchoCanceller(RATE).record(samples)


def test_the_names_are_exported():
    assert "EchoCanceller" in parsimon.__all__
