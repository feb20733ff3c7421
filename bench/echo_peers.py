"""The peers of echo.py: far end, microphone and rate in; output and CPU seconds out."""
import ctypes, os, subprocess, time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def compiled(folder, source, *flags):
    shared = os.path.join(folder, source.replace(".c", ".so"))
    subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", os.path.join(HERE, source), "-o", shared, *flags], check=True)
    return ctypes.CDLL(shared)


def pointer(a):
    return ctypes.c_void_p(a.ctypes.data)


def shifted(far, shift, length):
    """The far end made `shift` samples later."""
    x = np.concatenate([np.zeros(max(shift, 0)), far[max(-shift, 0):]])[:length]
    return np.concatenate([x, np.zeros(length - len(x))])


def int16(v):
    return np.ascontiguousarray(np.clip(np.round(v * 32768), -32768, 32767).astype(np.int16))


def nlms(folder, step):
    library = compiled(folder, "echo_nlms.c")
    library.nlms_run.restype = ctypes.c_double

    def run(far, mic, rate, taps):
        x = np.concatenate([np.zeros(taps - 1), far]).astype(np.float32)
        d, out = mic.astype(np.float32), np.zeros(len(mic), np.float32)
        delta = 0.01 * taps * float(np.mean(far ** 2))
        seconds = library.nlms_run(pointer(x), pointer(d), pointer(out), ctypes.c_long(len(d)), taps, ctypes.c_float(step), ctypes.c_float(delta))
        return out.astype(float), seconds
    return run


def speex(folder, *flags):
    library = compiled(folder, "echo_speex.c", *flags, "-lspeexdsp")
    library.speex_run.restype = ctypes.c_double

    def run(far, mic, rate, taps):
        x, d, frame = int16(far), int16(mic), rate // 100
        out = np.zeros(len(d), np.int16)
        seconds = library.speex_run(pointer(x), pointer(d), pointer(out), ctypes.c_long(len(d)), frame, taps, rate, None)
        return out / 32768.0, seconds
    return run


def webrtc(far, mic, rate, taps):
    """The echo canceller of WebRTC with its suppressor; its noise suppression, gain control and high-pass are off.

    It finds the delay by itself. Frames of 10 ms; the call through the binding is measured with it.
    """
    from livekit import rtc
    module = rtc.AudioProcessingModule(echo_cancellation=True, noise_suppression=False, high_pass_filter=False, auto_gain_control=False)
    x, d, frame = int16(far), int16(mic), rate // 100
    out, seconds = d.copy(), 0.0
    for i in range(0, len(d) - frame + 1, frame):
        a = rtc.AudioFrame(x[i:i + frame].tobytes(), rate, 1, frame)
        b = rtc.AudioFrame(d[i:i + frame].tobytes(), rate, 1, frame)
        start = time.process_time()
        module.process_reverse_stream(a)
        module.set_stream_delay_ms(0)
        module.process_stream(b)
        seconds += time.process_time() - start
        out[i:i + frame] = np.frombuffer(bytes(b._data), np.int16)
    return out / 32768.0, seconds
