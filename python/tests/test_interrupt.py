"""Ctrl-C, threads and the interpreter's lock."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import parsimon
import pytest
import scipy.sparse as sp


@pytest.fixture(autouse=True)
def heard():
    """Background jobs of a shell ignore Ctrl-C; a test that presses it must not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def long_stream(rows=400_000, width=50):
    """Rows that take seconds."""
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, 1000, (rows, width)), axis=1).ravel().astype(np.int32)
    indptr = np.arange(0, rows * width + 1, width, dtype=np.int32)
    return sp.csr_array((np.ones(rows * width), indices, indptr), (rows, 1000)), rng.integers(0, 2, rows)


def interrupted(work, after):
    """Ctrl-C so many seconds into it; how long it then took to stop."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return time.perf_counter() - pressed[0]
    finally:
        timer.cancel()


@pytest.mark.skipif(os.name == "nt", reason="signals are another thing on Windows")
@pytest.mark.parametrize("how", ["fit", "partial_fit", "first partial_fit"])
def test_ctrl_c_leaves_a_usable_model(how):
    X, y = long_stream()
    model = parsimon.FTRLClassifier(passes=100)
    if how == "partial_fit":
        model.partial_fit(X[:10], y[:10], classes=[0, 1])

    def work():
        if how == "fit":
            model.fit(X, y)
        else:
            for _ in range(100):
                model.partial_fit(X, y, classes=[0, 1])

    stopped = interrupted(work, 1.0)
    # A chunk is a thousand rows, some milliseconds; the rest is a loaded machine. All of it takes minutes.
    assert stopped < 5.0
    if how != "fit":
        assert model._learner.rows > 0
    model.predict(X[:10])
    before = model._learner.rows
    model.partial_fit(X[:100], y[:100])
    assert model._learner.rows == before + 100


@pytest.mark.skipif(os.name == "nt", reason="signals are another thing on Windows")
@pytest.mark.parametrize("how", ["learn_file", "learn_arrow"])
def test_ctrl_c_is_heard_while_tables_are_read(how, tmp_path):
    rows = [f"{i % 2},{i % 7},{i % 11}" for i in range(5000)]
    path = tmp_path / "d.csv"
    path.write_text("y,a,b\n" + "\n".join(rows) + "\n")
    model = parsimon.FTRLClassifier()

    def work():
        if how == "learn_file":
            model.learn_file(path, label="y", passes=1_000_000)
        else:
            data = pytest.importorskip("pyarrow.csv").read_csv(path)
            model.learn_arrow(data, label="y", passes=1_000_000)

    assert interrupted(work, 1.0) < 5.0
    assert model._learner.rows > 0 and model.predict_file(path).shape == (5000,)
    before = model._learner.rows
    model.learn_file(path, label="y")
    assert model._learner.rows == before + 5000


@pytest.mark.skipif(os.name == "nt", reason="signals are another thing on Windows")
def test_what_was_interrupted_is_a_prefix_of_the_stream():
    X, y = long_stream()
    model = parsimon.FTRLClassifier()
    interrupted(lambda: [model.partial_fit(X, y, classes=[0, 1]) for _ in range(100)], 0.5)
    rows = model._learner.rows % X.shape[0]
    passes = model._learner.rows // X.shape[0]
    twin = parsimon.FTRLClassifier()
    for _ in range(passes):
        twin.partial_fit(X, y, classes=[0, 1])
    if rows:
        twin.partial_fit(X[:rows], y[:rows], classes=[0, 1])
    assert twin._learner.checkpoint() == model._learner.checkpoint()


def test_other_threads_run_while_rows_are_learned():
    X, y = long_stream()
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    model = parsimon.FTRLClassifier()
    thread.start()
    start = time.perf_counter()
    model.partial_fit(X, y, classes=[0, 1])
    took = time.perf_counter() - start
    done.set()
    thread.join()
    # With the lock held throughout, the count would be one or two; on a loaded machine it is far below a thousand a second.
    assert counted > 10, f"{counted} in {took:.2f} s"


def test_threads_may_share_a_model():
    X, y = long_stream(20_000, 10)
    model = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    wanted, wrong = model.predict(X), []

    def ask():
        for _ in range(5):
            if not np.array_equal(model.predict(X), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_progress_is_a_line_where_there_is_no_tqdm():
    program = """
        import sys
        sys.modules["tqdm"] = None
        sys.modules["tqdm.auto"] = None
        import numpy as np, parsimon
        X = np.random.default_rng(0).normal(size=(3000, 5))
        parsimon.FTRLClassifier(passes=2).fit(X, X[:, 0] > 0, progress=True)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert "6,000 of 6,000 rows, loss 0." in ran.stderr and ran.stdout == ""


def test_progress_is_a_bar_of_tqdm(capsys):
    pytest.importorskip("tqdm")
    X = np.random.default_rng(0).normal(size=(3000, 5))
    quiet = parsimon.FTRLClassifier(passes=2).fit(X, X[:, 0] > 0)
    assert capsys.readouterr().err == ""
    told = parsimon.FTRLClassifier(passes=2).fit(X, X[:, 0] > 0, progress=True)
    shown = capsys.readouterr().err
    assert "6.00k/6.00k" in shown and "loss=0." in shown
    assert told._learner.checkpoint() == quiet._learner.checkpoint()
