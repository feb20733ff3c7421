"""Echo cancellation between a sound card's two callbacks, with the package ``sounddevice`` (pip install sounddevice).

    python echo_sounddevice.py music.wav clean.wav

Plays a WAV file of 16-bit samples and one channel, records the microphone, and writes the microphone without the music.
Without arguments it says so and ends.
"""

import sys
import time
import wave

from parsimon import EchoCanceller


def main(source, target):
    import sounddevice

    with wave.open(source) as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            sys.exit(f"{source}: expected 16-bit samples of one channel")
        rate, samples = file.getframerate(), file.readframes(file.getnframes())
    canceller = EchoCanceller(rate, suppress=True)
    position = 0

    def play(out, frames, _time, _flags):
        nonlocal position
        piece = samples[position : position + 2 * frames].ljust(2 * frames, b"\0")
        position += 2 * frames
        out[:] = piece
        canceller.play(piece)

    with wave.open(target, "wb") as clean:
        clean.setparams((1, 2, rate, 0, "NONE", ""))

        def record(data, _frames, _time, _flags):
            clean.writeframes(canceller.record(bytes(data)))

        card = {"samplerate": rate, "channels": 1, "dtype": "int16"}
        with sounddevice.RawOutputStream(callback=play, **card), sounddevice.RawInputStream(callback=record, **card):
            while position < len(samples):
                time.sleep(0.5)
                print(canceller.status, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        print(__doc__)
