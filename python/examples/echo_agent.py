"""A voice agent that hears no echo of itself: frames of 20 ms, 16-bit samples at 16 kHz.

    arecord -q -t raw -f S16_LE -r 16000 -c 1 | python echo_agent.py answer.raw > heard.raw

Every 20 ms the agent plays a frame of its answer and reads a frame of the microphone. What it would hand to speech recognition goes to
standard output. Without arguments the microphone is generated, and hears nothing but the loudspeaker.
"""

import subprocess
import sys

import numpy as np

from parsimon import EchoCanceller

RATE, BYTES = 16_000, 640


def converse(answer, microphone, play, hear):
    """Plays the answer and hears the microphone without it; stops speaking when somebody interrupts for half a second."""
    canceller, talking = EchoCanceller(RATE, suppress=True), 0
    while frame := microphone():
        spoken = next(answer, bytes(BYTES)).ljust(BYTES, b"\0")
        canceller.play(spoken)
        play(spoken)
        hear(canceller.record(frame[: len(frame) // 2 * 2]))
        talking = talking + 1 if canceller.status.double_talk else 0
        if talking > 25:
            answer = iter(())
    return canceller.status


def frames(data):
    return (data[start : start + BYTES] for start in range(0, len(data), BYTES))


def generated():
    spoken = (np.random.default_rng(0).normal(size=20 * RATE) * 3000).astype("<i2")
    echo = np.concatenate([np.zeros(400, "<i2"), (spoken[:-400] * 0.5).astype("<i2")])
    source, heard = frames(echo.tobytes()), []
    status = converse(frames(spoken.tobytes()), lambda: next(source, b""), lambda _: None, heard.append)
    left = np.frombuffer(b"".join(heard), "<i2")[10 * RATE :].astype(float)
    assert np.mean(left**2) < 1e-3 * np.mean(echo[10 * RATE :].astype(float) ** 2), "echo is left"
    print(f"ERLE {status.erle_db:.0f} dB, warning: {status.warning}")


if len(sys.argv) == 1:
    generated()
else:
    with open(sys.argv[1], "rb") as file:
        answer = frames(file.read())
    player = subprocess.Popen(["aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", str(RATE), "-c", "1"], stdin=subprocess.PIPE)
    microphone, out = sys.stdin.buffer, sys.stdout.buffer
    print(converse(answer, lambda: microphone.read(BYTES), player.stdin.write, out.write), file=sys.stderr)
