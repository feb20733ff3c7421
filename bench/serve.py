"""The service under load, in windows that take turns: python3 bench/serve.py PROGRAM [--windows 40] [--record record/serve-load.md].

PROGRAM is a release build of parsimon. Server and client share the machine. Requests are sent at fixed times (`parsimon client bench`), and a
latency counts from the time at which the request was due. Three kinds of windows of 5 seconds take turns: requests that do nothing, scores
of rows with 40 features, and the same scores while 2,000 rows a second are learned and a snapshot is written. Then: durable rows a second
in batches of 1,000 VW lines, rows per CPU second through `--vw-port`, and the restart with logged rows beside `train` from a cache.
"""

import argparse
import contextlib
import http.client
import json
import os
import platform
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

RATE, FEATURES, LEARNED, BATCH = 5000, 40, 2000, 20


def vw_lines(count, seed):
    rng = random.Random(seed)
    weights = [rng.gauss(0, 1) for _ in range(100_000)]
    for _ in range(count):
        features = [rng.randrange(100_000) for _ in range(FEATURES)]
        label = 1 if sum(weights[j] for j in features) + rng.gauss(0, 1) > 0 else -1
        yield f"{label} |f {' '.join(f'w{j}' for j in features)}"


class Server:
    """A service in a folder, with one model called m."""

    def __init__(self, program, folder, *flags):
        command = [program, "serve", "--data", str(folder), "--model", "m", "--loss", "logistic", "-a", "ftrl", "--listen", "127.0.0.1:0", *flags]
        self.start = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []
        self.port = None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                break
        if self.port is None:
            raise SystemExit("the service did not start:\n" + "".join(self.lines))
        self.ready = self.wait()
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        self.lines.extend(self.process.stdout)

    def wait(self):
        while True:
            with contextlib.suppress(OSError):
                connection = http.client.HTTPConnection("127.0.0.1", self.port)
                connection.request("GET", "/v2/health/ready")
                if connection.getresponse().status == 200:
                    return time.perf_counter() - self.start
            time.sleep(0.01)

    def url(self):
        return f"http://127.0.0.1:{self.port}/v1/models/m"

    def post(self, path, body=b"", kind="text/x-vw"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", f"/v1/models/m/{path}", body, {"content-type": kind})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def bench(program, server, op, *flags):
    command = [program, "client", "bench", "--url", server.url(), "--op", op, "--rate", str(RATE), "--features", str(FEATURES), "--json"]
    return json.loads(subprocess.run([*command, *flags], capture_output=True, text=True, check=True).stdout)


def learn_beside(server, bodies, stop, lags):
    """Learns at a rate, and measures how long after each acknowledgement a score has the row."""
    learner = http.client.HTTPConnection("127.0.0.1", server.port)
    scorer = http.client.HTTPConnection("127.0.0.1", server.port)
    due, k = time.perf_counter(), 0
    while not stop.is_set():
        learner.request("POST", "/v1/models/m/learn", bodies[k % len(bodies)], {"content-type": "text/x-vw"})
        answer = learner.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"learn was answered with {answer.status}: {found}")
        acknowledged, wanted = time.perf_counter(), version(found)
        if k % 10 == 0:
            while True:
                scorer.request("POST", "/v1/models/m/score", b"|f w1", {"content-type": "text/x-vw"})
                scored = json.loads(scorer.getresponse().read())
                if version(scored) >= wanted:
                    break
            lags.append(time.perf_counter() - acknowledged)
        k += 1
        due += BATCH / LEARNED
        time.sleep(max(0.0, due - time.perf_counter()))


def version(answer):
    """The sequence number, wherever the answer has it."""
    found = answer[0] if isinstance(answer, list) else answer
    return found.get("version", found)["seq"]


def windows(program, count, seconds):
    kinds = {"null": [], "score": [], "score and learn": []}
    lags = []
    bodies = ["\n".join(vw_lines(BATCH, seed)).encode() for seed in range(200)]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        for body in bodies:
            server.post("learn?ack=logged", body)
        for _ in range(count):
            for kind, found in kinds.items():
                stop = threading.Event()
                beside = []
                if kind == "score and learn":
                    beside = [
                        threading.Thread(target=learn_beside, args=(server, bodies, stop, lags)),
                        threading.Timer(seconds / 2, server.post, args=("snapshot",)),
                    ]
                for thread in beside:
                    thread.start()
                found.append(bench(program, server, "null" if kind == "null" else "score", "--seconds", str(seconds)))
                stop.set()
                for thread in beside:
                    thread.join()
        server.stop()
    return kinds, sorted(lags)


def durable(program, seconds, connections):
    """Rows a second that are acknowledged as durable, in batches of 1,000 VW lines."""
    bodies = ["\n".join(vw_lines(1000, seed)).encode() for seed in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        done = [0] * connections
        end = time.perf_counter() + seconds

        def send(place):
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            k = place
            while time.perf_counter() < end:
                connection.request("POST", "/v1/models/m/learn", bodies[k % len(bodies)], {"content-type": "text/x-vw"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    done[place] += 1000
                k += 1

        start = time.perf_counter()
        threads = [threading.Thread(target=send, args=(place,)) for place in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = sum(done) / (time.perf_counter() - start)
        per_cpu = sum(done) / server.cpu()
        server.stop()
    return rate, per_cpu


def vw_port(program, rows):
    """Rows per CPU second through VW's protocol, pipelined; answers come when rows are durable and learned."""
    text = "".join(line + "\n" for line in vw_lines(min(rows, 20_000), 5)).encode() * max(1, rows // 20_000)
    with socket.socket() as spare, tempfile.TemporaryDirectory() as folder:
        spare.bind(("127.0.0.1", 0))
        port = spare.getsockname()[1]
        spare.close()
        server = Server(program, folder, "--vw-port", str(port))
        before = server.cpu()
        connection = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=connection.sendall, args=(text,), daemon=True).start()
        answered, start = 0, time.perf_counter()
        while answered < text.count(b"\n"):
            answered += connection.recv(1 << 20).count(b"\n")
        took, cpu = time.perf_counter() - start, server.cpu() - before
        server.stop()
    return answered / cpu, answered / took


def restart(program, rows):
    """Seconds until ready with so many logged rows, and seconds of `train` from a cache of them."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "rows.vw")
        lines = list(vw_lines(100_000, 9))
        with data.open("w") as out:
            for k in range(rows // len(lines)):
                random.Random(k).shuffle(lines)
                out.write("\n".join(lines) + "\n")
        server = Server(program, Path(folder, "data"), "--snapshot-every", str(10**12))
        learn = [program, "client", "learn", str(data), "--url", server.url(), "--ack", "logged", "--batch", "5000"]
        subprocess.run(learn, check=True, capture_output=True)
        server.process.kill()
        server.process.wait()
        cache = str(Path(folder, "rows.cache"))
        subprocess.run([program, "convert", str(data), "-o", cache], check=True, capture_output=True)
        start = time.perf_counter()
        subprocess.run([program, "train", cache, "-a", "ftrl", "--loss", "logistic", "--quiet", "-o", str(Path(folder, "m.psm"))], check=True, capture_output=True)
        trained = time.perf_counter() - start
        server = Server(program, Path(folder, "data"))
        server.stop()
    return server.ready, trained


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("program")
    arguments.add_argument("--windows", type=int, default=40)
    arguments.add_argument("--seconds", type=float, default=5)
    arguments.add_argument("--restart-rows", type=int, default=10_000_000)
    arguments.add_argument("--record")
    given = arguments.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = [
        "# The service under load",
        "",
        f"Date: {time.strftime('%Y-%m-%d')}. Machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}. Commit: {commit}.",
        "",
        f"Command: `python3 bench/serve.py {' '.join(sys.argv[1:])}`. Milliseconds; medians over the windows, the largest for `max`.",
        "",
        "| window | p50 | p99 | p99.9 | max | errors |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    kinds, lags = windows(given.program, given.windows, given.seconds)
    for kind, found in kinds.items():
        middle = [statistics.median(window[name] for window in found) for name in ("p50_ms", "p99_ms", "p99_9_ms")]
        errors = sum(sum(window["errors"].values()) for window in found)
        lines.append(f"| {kind} | {' | '.join(f'{ms:.2f}' for ms in middle)} | {max(window['max_ms'] for window in found):.1f} | {errors} |")
    lines += ["", f"Visible after the acknowledgement: p50 {lags[len(lags) // 2] * 1e3:.1f} ms, p99 {lags[len(lags) * 99 // 100] * 1e3:.1f} ms, of {len(lags)} batches.", ""]
    for connections in (1, 2, 4):
        rates = [durable(given.program, 5, connections) for _ in range(3)]
        rate, per_cpu = statistics.median(r for r, _ in rates), statistics.median(c for _, c in rates)
        lines.append(f"* durable rows in batches of 1,000 VW lines, {connections} connections: {rate:,.0f} a second, {per_cpu:,.0f} per CPU second of the server")
    found = [vw_port(given.program, 1_000_000) for _ in range(3)]
    per_cpu, rate = (statistics.median(column) for column in zip(*found))
    lines.append(f"* `--vw-port`, pipelined: {per_cpu:,.0f} rows per CPU second, {rate:,.0f} a second")
    ready, trained = restart(given.program, given.restart_rows)
    lines.append(f"* restart with {given.restart_rows:,} logged rows and no snapshot: ready after {ready:.1f} s; `train` from a cache of the same rows {trained:.1f} s")
    text = "\n".join(lines) + "\n"
    print(text)
    if given.record:
        Path(given.record).write_text(text)


if __name__ == "__main__":
    main()
