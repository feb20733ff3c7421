"""The echo canceller, for programs that play and record."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _parsimon

_Samples: TypeAlias = "bytes | bytearray | memoryview | NDArray[np.int16] | NDArray[np.float32]"


class EchoStatus(NamedTuple):
    """What an :class:`EchoCanceller` knows about its signals. Counts are of frames: one sample of every channel."""

    erle_db: float | None
    """by how many dB the linear filter has made the microphone quieter, over the last seconds with a sounding loudspeaker"""
    delay_ms: float
    """delay applied to what is played"""
    drift_ppm: float
    """clock of the loudspeaker against that of the microphone, positive where the loudspeaker is fast"""
    double_talk: bool
    """whether the near end speaks over the echo"""
    warning: str | None
    """what is wrong with the signals or the calls, and what to do about it"""
    frames: int
    """frames processed"""
    waiting: int
    """frames played and not yet used"""
    missing: int
    """frames recorded without played ones: the loudspeaker counted as silent"""
    dropped: int
    """frames played and dropped, because nothing was recorded for two seconds"""
    not_finite: int
    """samples that were not finite and counted as zero"""


class EchoCanceller:
    """Removes the sound of the loudspeaker from the microphone while both run.

    :meth:`play` takes what goes to the loudspeaker, :meth:`record` takes what the microphone heard and returns the same number of samples
    without the echo. The two may be called from different threads, at their own times and in pieces of any length. Other Python threads
    run meanwhile. Samples are ``bytes`` or arrays of 16-bit integers, or arrays of floats between -1 and 1; what ``record`` returns
    is of the kind that it was given. The output is :attr:`latency` samples late.

    Parameters
    ----------
    sample_rate
        samples per second, at least 1000
    suppress
        also attenuate the echo that remains after the linear filter; :attr:`linear` then has the output without that
    max_delay
        longest delay between loudspeaker and microphone to search for, in seconds; 0 for no search
    delay
        the delay in samples where it is known
    taps
        length of the echo path in samples; by default 256 ms, and up to 512 ms if the echo lasts longer
    high_pass
        remove hum and rumble below 100 Hz
    drift
        detect and compensate clocks that differ
    speakers, microphones
        channels of what is played and of what is recorded. Samples of several channels are interleaved, or arrays of two dimensions with
        a column for each channel

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import EchoCanceller
    >>> far = np.random.default_rng(0).normal(size=160_000).astype(np.float32) * 0.1
    >>> near = 0.5 * np.concatenate([np.zeros(300, np.float32), far[:-300]])
    >>> canceller = EchoCanceller(16_000)
    >>> for start in range(0, len(far), 320):
    ...     canceller.play(far[start : start + 320])
    ...     clean = canceller.record(near[start : start + 320])
    >>> bool(np.abs(clean).max() < 0.01)
    True
    >>> canceller.status.warning is None
    True
    """

    def __init__(
        self,
        sample_rate: int,
        *,
        suppress: bool = False,
        max_delay: float = 0.5,
        delay: int = 0,
        taps: int | None = None,
        high_pass: bool = True,
        drift: bool = True,
        speakers: int = 1,
        microphones: int = 1,
    ) -> None:
        self._settings = {
            "suppress": bool(suppress),
            "search": float(max_delay),
            "delay": _count("delay", delay),
            "taps": None if taps is None else _count("taps", taps),
            "high_pass": bool(high_pass),
            "drift": bool(drift),
            "speakers": _count("speakers", speakers),
            "microphones": _count("microphones", microphones),
        }
        self._rate = _count("sample_rate", sample_rate)
        self._native = _parsimon.Echo(self._rate, **self._settings)  # type: ignore[arg-type]
        self._linear: Any = None

    @property
    def sample_rate(self) -> int:
        """Samples per second."""
        return self._rate

    @property
    def latency(self) -> int:
        """By how many samples the output is later than the microphone."""
        return self._native.latency

    def play(self, samples: _Samples) -> None:
        """Takes samples that go to the loudspeaker. Those that nothing is recorded for are dropped after two seconds."""
        floats, _, _ = _floats("play", samples, int(self._settings["speakers"] or 1))
        self._native.play(floats)

    def record(self, samples: _Samples) -> Any:
        """Takes samples of the microphone and returns as many without the echo, of the same kind."""
        floats, kind, shape = _floats("record", samples, int(self._settings["microphones"] or 1))
        clean, linear = self._native.record(floats)
        self._linear = (linear, kind, shape)
        return _back(clean, kind, shape)

    @property
    def linear(self) -> Any:
        """What the last :meth:`record` would have returned without the suppressor."""
        if self._linear is None:
            raise AttributeError("nothing was recorded yet")
        return _back(*self._linear)

    @property
    def echo_path(self) -> NDArray[np.float32]:
        """The estimated path from the loudspeaker to the first microphone, after the delay."""
        return self._native.echo_path

    @property
    def status(self) -> EchoStatus:
        """What is known about the signals so far."""
        return EchoStatus(**self._native.status())

    def reset(self) -> None:
        """Starts over with the same settings, as for a new call."""
        self._native.reset()
        self._linear = None

    def __getstate__(self) -> dict[str, Any]:
        return {"rate": self._rate, "settings": self._settings, "state": self._native.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._rate, self._settings, self._linear = state["rate"], state["settings"], None
        self._native = _parsimon.Echo(self._rate, **self._settings)  # type: ignore[arg-type]
        self._native.restore(state["state"])

    def __repr__(self) -> str:
        return f"EchoCanceller({self._rate}, suppress={self._settings['suppress']})"


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(value)


def _floats(call: str, samples: Any, channels: int) -> tuple[NDArray[np.float32], Any, tuple[int, ...]]:
    """The samples as floats in one dimension, what they were, and their shape."""
    kind: Any
    if isinstance(samples, (bytes, bytearray, memoryview)):
        data = bytes(samples)
        if len(data) % 2:
            raise ValueError(f"{call} takes bytes of 16-bit samples, got an odd number of bytes ({len(data)})")
        array, kind = np.frombuffer(data, dtype="<i2"), bytes
    else:
        array = np.asarray(samples)
        kind = array.dtype
    if array.ndim == 2 and array.shape[1] != channels:
        raise ValueError(f"{call} takes {channels} channels, got an array with {array.shape[1]} columns")
    if array.ndim > 2 or (array.ndim == 0):
        raise ValueError(f"{call} takes samples in one or two dimensions, got {array.ndim}")
    if array.size % channels:
        raise ValueError(f"{call} takes {channels} channels, and {array.size} samples are no multiple of that")
    if array.dtype == np.int16:
        floats = array.astype(np.float32) / np.float32(32768)
    elif array.dtype in (np.float32, np.float64):
        floats = array.astype(np.float32)
    else:
        raise ValueError(f"{call} takes samples of int16 or float32, or bytes, got {array.dtype}")
    return np.ascontiguousarray(floats.reshape(-1)), kind, array.shape


def _back(floats: NDArray[np.float32], kind: Any, shape: tuple[int, ...]) -> Any:
    """Floats as what was given."""
    if kind is bytes or kind == np.int16:
        whole = np.clip(np.round(floats * np.float32(32768)), -32768, 32767).astype("<i2")
        return whole.tobytes() if kind is bytes else whole.astype(np.int16).reshape(shape)
    return floats.astype(kind).reshape(shape)
