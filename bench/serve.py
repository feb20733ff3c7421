"""The service under load, in windows that take turns: python3 bench/serve.py PROGRAM [--windows 20] [--record record/serve-load.md].

PROGRAM is a release build of parsimon. Server and client share the machine. Requests are sent at fixed times (`parsimon client bench`), and a
latency counts from the time at which the request was due. Rows have features that the model knows, and rows with ids have ids that it does
not know. The table of ids is filled before. Kinds of windows take turns:

null                requests that do nothing
score               scores
score ids           scores of rows with ids, which the service logs and keeps for their labels
all                 the same, while rows are learned and labelled
all, snapshot       the same, while a snapshot is written

Then: durable rows in batches of 1,000, rows through `--vw-port` with and without bad lines, and the restart with logged rows beside `train`
from a cache of the same rows. VW's daemon (`--vw PROGRAM`) and River behind FastAPI are measured in the same run where they are installed.
Every line is printed when it is known.
"""

import argparse
import contextlib
import http.client
import importlib.util
import json
import os
import platform
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

FEATURES, LEARNED, BATCH = 40, 2000, 20
# Windows in which the machine was busy with other things say nothing about the service.
MOST_NULL_P99 = 5.0

LINES = []


def say(line=""):
    LINES.append(line)
    print(line, flush=True)


def vw_lines(count, seed):
    rng = random.Random(seed)
    weights = [random.Random(j).gauss(0, 1) for j in range(100_000)]
    for _ in range(count):
        features = [rng.randrange(100_000) for _ in range(FEATURES)]
        label = 1 if sum(weights[j] for j in features) + rng.gauss(0, 1) > 0 else -1
        yield f"{label} |f {' '.join(f'w{j}' for j in features)}"


def json_rows(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        row = {"label": rng.randrange(2)}
        row.update((f"f{j}", f"v{rng.randrange(10 ** (1 + j % 4))}") for j in range(FEATURES))
        yield row


class Server:
    """A service in a folder, with one model called m."""

    def __init__(self, program, folder, *flags):
        command = [program, "serve", "--data", str(folder), "--model", "m", "--loss", "logistic", "-a", "ftrl", "--kinds", "cell"]
        command += ["--listen", "127.0.0.1:0", *flags]
        self.start = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines, self.port, self.vw = [], None, None
        for line in self.process.stdout:
            self.lines.append(line)
            if found := re.search(r"listening at http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
            if found := re.search(r"daemon protocol at 127\.0\.0\.1:(\d+)", line):
                self.vw = int(found[1])
            if self.port and (self.vw or "--vw-port" not in flags):
                break
        if self.port is None:
            raise SystemExit("the service did not start:\n" + "".join(self.lines))
        self.ready = time.perf_counter() - self.start
        threading.Thread(target=self.drain, daemon=True).start()

    def drain(self):
        self.lines.extend(self.process.stdout)

    def url(self):
        return f"http://127.0.0.1:{self.port}/v1/models/m"

    def post(self, path, body=b"", kind="text/x-vw"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", f"/v1/models/m/{path}", body, {"content-type": kind})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def cpu(self):
        return cpu_of(self.process.pid)

    def resident(self):
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bench(given, server, op, *flags):
    command = [given.client or given.program, "client", "bench", str(given.rows), "--url", server.url(), "--op", op, "--rate", str(given.rate), "--json"]
    return json.loads(subprocess.run([*command, *flags], capture_output=True, text=True, check=True).stdout)


def fill(server, ids):
    """Rows with ids that are learned, until the table has that many."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    batch, start = 5000, time.perf_counter()
    for first in range(0, ids, batch):
        body = "".join(f'{{"id":{k},"label":{k & 1},"f0":"v{k % 10}"}}\n' for k in range(first, min(ids, first + batch)))
        while True:
            connection.request("POST", "/v1/models/m/learn?ack=logged", body, {"content-type": "application/x-ndjson"})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 200:
                break
            if answer.status != 429:
                raise SystemExit(f"filling the table: {answer.status} {text}")
            time.sleep(0.05)
    return time.perf_counter() - start


def learn_beside(server, rows, stop, lags):
    """Learns at a rate, labels rows that were scored, and measures how long after each acknowledgement a score has the row."""
    learner = http.client.HTTPConnection("127.0.0.1", server.port)
    scorer = http.client.HTTPConnection("127.0.0.1", server.port)

    def ask(connection, path, body):
        connection.request("POST", f"/v1/models/m/{path}", body, {"content-type": "application/x-ndjson"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 429):
            raise SystemExit(f"{path} was answered with {answer.status}: {text}")
        return answer.status, text

    due, k, run = time.perf_counter(), 0, time.time_ns()
    while not stop.is_set():
        part = [rows[(k * BATCH + i) % len(rows)] for i in range(BATCH)]
        learned = [{"id": f"{run}-{k}-{i}", **row} for i, row in enumerate(part[: BATCH // 2])]
        scored = [{"id": f"{run}-{k}-{i + BATCH}", **{f: x for f, x in row.items() if f != "label"}} for i, row in enumerate(part[BATCH // 2 :])]
        status, text = ask(learner, "learn", "\n".join(map(json.dumps, learned)))
        acknowledged = time.perf_counter()
        if k % 10 == 0 and status == 200:
            wanted = json.loads(text)["seq"]
            while json.loads(ask(scorer, "score", '{"f0":"v1"}')[1])["version"]["seq"] < wanted:
                pass
            lags.append(time.perf_counter() - acknowledged)
        ask(scorer, "score", "\n".join(map(json.dumps, scored)))
        ask(learner, "label", "\n".join(json.dumps({"id": row["id"], "label": 1}) for row in scored))
        k += 1
        due += BATCH / LEARNED
        time.sleep(max(0.0, due - time.perf_counter()))


KINDS = ["null", "score", "score ids", "all", "all, snapshot"]


def window(given, server, kind, rows, lags):
    stop, beside, snapshot = threading.Event(), [], []
    if kind.startswith("all"):
        beside.append(threading.Thread(target=learn_beside, args=(server, rows, stop, lags)))
    if kind == "all, snapshot":
        beside.append(threading.Timer(given.seconds / 4, lambda: snapshot.append(server.post("snapshot"))))
    for thread in beside:
        thread.start()
    flags = [] if kind in ("null", "score") else ["--ids"]
    found = bench(given, server, "null" if kind == "null" else "score", "--seconds", str(given.seconds), *flags)
    stop.set()
    for thread in beside:
        thread.join()
    if snapshot and snapshot[0][0] != 200:
        raise SystemExit(f"the snapshot failed: {snapshot}")
    return found


def windows(given):
    kinds, lags = {kind: [] for kind in KINDS}, []
    rows = list(json_rows(10_000, 1))
    given.rows.write_text("".join(json.dumps({f: x for f, x in row.items() if f != "label"}) + "\n" for row in rows))
    with tempfile.TemporaryDirectory() as folder:
        server = Server(given.program, folder, "--snapshot-after", "10h", "--snapshot-every", str(10**12))
        for first in range(0, len(rows), 1000):
            server.post("learn", "\n".join(map(json.dumps, rows[first : first + 1000])), "application/x-ndjson")
        took = fill(server, given.ids)
        say(f"{given.ids:,} ids were learned in {took:.0f} s; the process has {server.resident() / 1e6:,.0f} MB.")
        say()
        say("| round | kind | p50 | p99 | p99.9 | max | errors |")
        say("| --- | --- | --- | --- | --- | --- | --- |")
        for k in range(given.windows):
            for kind in random.Random(k).sample(KINDS, len(KINDS)):
                found = window(given, server, kind, rows, lags)
                kinds[kind].append(found)
                columns = " | ".join(f"{found[name]:.2f}" for name in ("p50_ms", "p99_ms", "p99_9_ms", "max_ms"))
                say(f"| {k + 1} | {kind} | {columns} | {sum(found['errors'].values())} |")
        server.stop()
    say()
    summary(kinds, sorted(lags))


def summary(kinds, lags):
    quiet = [k for k, found in enumerate(kinds["null"]) if found["p99_ms"] < MOST_NULL_P99]
    discarded = len(kinds["null"]) - len(quiet)
    say(f"Rounds whose null handler has a p99 of {MOST_NULL_P99:g} ms or more: {discarded} of {len(kinds['null'])}, left out below.")
    say()
    if not quiet:
        say("No round is left: the machine was too busy.")
        return
    say("| kind, medians over the rounds | p50 | p99 | p99.9 | max | p99 above null's |")
    say("| --- | --- | --- | --- | --- | --- |")
    for kind, found in kinds.items():
        middle = {name: statistics.median(found[k][name] for k in quiet) for name in ("p50_ms", "p99_ms", "p99_9_ms", "max_ms")}
        above = statistics.median(found[k]["p99_ms"] - kinds["null"][k]["p99_ms"] for k in quiet)
        words = "" if kind == "null" else f"{above:.2f} ms" if above > 0 else "none: noise"
        say(f"| {kind} | {' | '.join(f'{ms:.2f}' for ms in middle.values())} | {words} |")
    say()
    ratio = statistics.median(kinds["all, snapshot"][k]["max_ms"] / kinds["all"][k]["max_ms"] for k in quiet)
    say(f"Longest score with a snapshot to that without, median of the rounds: {ratio:.2f} (goal: 2).")
    if lags:
        say(f"Visible after the acknowledgement: p50 {lags[len(lags) // 2] * 1e3:.1f} ms, p99 {lags[len(lags) * 99 // 100] * 1e3:.1f} ms, {len(lags)} batches.")
    say()


def durable(given, connections):
    """Rows a second that are acknowledged as durable, in batches of 1,000 VW lines."""
    bodies = ["\n".join(vw_lines(1000, seed)).encode() for seed in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        server = Server(given.program, folder)
        server.post("learn", bodies[0])
        before, done = server.cpu(), [0] * connections
        end = time.perf_counter() + given.seconds

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
        found = sum(done) / (time.perf_counter() - start), sum(done) / (server.cpu() - before)
        server.stop()
    return found


def pipelined(port, text):
    """Sends lines without waiting, and counts the answers. Returns their number and the errors among them."""
    connection = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=connection.sendall, args=(text,), daemon=True).start()
    answered, errors, wanted, rest = 0, 0, text.count(b"\n"), b""
    while answered < wanted:
        part = connection.recv(1 << 20)
        if not part:
            raise SystemExit(f"the connection ended after {answered} answers")
        errors += (rest + part).count(b"error")
        rest = part[-4:]
        answered += part.count(b"\n")
    connection.close()
    return answered, errors


def line_texts(given):
    """Labelled lines, bare lines, and labelled and bare lines of which 20 in 20,000 are bad."""
    lines = list(vw_lines(20_000, 5))
    repeat = max(1, given.lines // len(lines))
    bare = [line.split(" ", 1)[1] for line in lines]

    def spoiled(lines, bad):
        return [bad if k % 1000 == 500 else line for k, line in enumerate(lines)]

    texts = {
        "labelled": lines,
        "labelled, bad ones": spoiled(lines, "1 |f a:x"),
        "bare": bare,
        "bare, bad ones": spoiled(bare, "|f a:x"),
    }
    return {kind: ("\n".join(lines) + "\n").encode() * repeat for kind, lines in texts.items()}


def through_ports(given):
    texts, found = line_texts(given), {}
    vw = given.vw or shutil.which("vw")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(given.program, folder, "--vw-port", str(free_port()))
        ours = ("parsimon", server.vw, server.process.pid)
        peers, daemon = [ours], None
        if vw:
            port = free_port()
            command = [vw, "--daemon", "--foreground", "--num_children", "1", "--port", str(port), "--ftrl", "--loss_function", "logistic", "-b", "22", "--quiet"]
            daemon = subprocess.Popen(command)
            time.sleep(2)
            peers.append(("vw", port, daemon.pid))
        pipelined(server.vw, texts["labelled"][: texts["labelled"].rindex(b"\n", 0, 1 << 20) + 1])
        for k in range(given.repeats):
            for name, port, pid in peers:
                for kind, text in texts.items():
                    if name == "vw" and "bad" in kind:
                        continue
                    before, start = cpu_of(pid), time.perf_counter()
                    answered, _ = pipelined(port, text)
                    took, cpu = time.perf_counter() - start, cpu_of(pid) - before
                    found.setdefault((name, kind), []).append((answered / cpu, answered / took))
                    say(f"* {k + 1}: {name}, {kind}: {answered / cpu:,.0f} rows per CPU second, {answered / took:,.0f} a second")
        server.stop()
        if daemon:
            daemon.kill()
    say()
    cpu = {key: statistics.median(c for c, _ in rates) for key, rates in found.items()}
    for kind in ("labelled", "bare"):
        ours, bad = cpu["parsimon", kind], cpu["parsimon", f"{kind}, bad ones"]
        peer = f"{ours / cpu['vw', kind]:.2f} times VW's" if ("vw", kind) in cpu else "VW is not installed"
        say(f"{kind}: {ours:,.0f} rows per CPU second ({peer}); with 20 bad lines in 20,000 it is {bad / ours:.2f} of that.")
    say()


def free_port():
    with socket.socket() as spare:
        spare.bind(("127.0.0.1", 0))
        return spare.getsockname()[1]


RIVER = """
from fastapi import FastAPI, Request
from river import linear_model, optim
model = linear_model.LogisticRegression(optim.FTRLProximal())
app = FastAPI()
@app.post("/learn")
async def learn(request: Request):
    for row in await request.json():
        y = row.pop("label")
        model.learn_one({f"{k}={v}": 1 for k, v in row.items()}, y)
    return {}
"""


def river(given):
    if any(importlib.util.find_spec(name) is None for name in ("river", "fastapi", "uvicorn")):
        say("River behind FastAPI: not installed.")
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "app.py").write_text(RIVER)
        port = free_port()
        process = subprocess.Popen([sys.executable, "-m", "uvicorn", "app:app", "--port", str(port), "--log-level", "error"], cwd=folder)
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        bodies = [json.dumps(list(json_rows(1000, seed))) for seed in range(4)]
        connection, before, done = http.client.HTTPConnection("127.0.0.1", port), cpu_of(process.pid), 0
        end = time.perf_counter() + given.seconds
        while time.perf_counter() < end:
            connection.request("POST", "/learn", bodies[done // 1000 % 4], {"content-type": "application/json"})
            connection.getresponse().read()
            done += 1000
        say(f"River behind FastAPI, batches of 1,000, nothing durable: {done / (cpu_of(process.pid) - before):,.0f} rows per CPU second.")
        process.kill()


def restart(given):
    """Seconds until ready with logged rows and no snapshot, and seconds of `train` from a cache of them, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "rows.vw")
        lines = list(vw_lines(min(100_000, given.restart_rows), 9))
        with data.open("w") as out:
            for k in range(given.restart_rows // len(lines)):
                random.Random(k).shuffle(lines)
                out.write("\n".join(lines) + "\n")
        flags = ("--snapshot-every", str(10**12), "--snapshot-after", "10h", "--no-proof")
        server = Server(given.program, Path(folder, "data"), *flags)
        learn = [given.program, "client", "learn", str(data), "--url", server.url(), "--ack", "durable", "--batch", "5000"]
        subprocess.run(learn, check=True, capture_output=True)
        server.process.kill()
        server.process.wait()
        cache = str(Path(folder, "rows.cache"))
        subprocess.run([given.program, "convert", str(data), "-o", cache], check=True, capture_output=True)
        ratios = []
        for k in range(given.repeats):
            start = time.perf_counter()
            train = [given.program, "train", cache, "-a", "ftrl", "--loss", "logistic", "--quiet", "-o", str(Path(folder, "m.psm"))]
            subprocess.run(train, check=True, capture_output=True)
            trained = time.perf_counter() - start
            server = Server(given.program, Path(folder, "data"), *flags)
            server.process.kill()
            server.process.wait()
            ratios.append(server.ready / trained)
            say(f"* {k + 1}: restart with {given.restart_rows:,} logged rows {server.ready:.2f} s, `train` from a cache of them {trained:.2f} s")
    say()
    say(f"Restart to `train`, median: {statistics.median(ratios):.2f} (goal: 1.5).")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("program")
    arguments.add_argument("--windows", type=int, default=20, help="rounds of windows, each of all kinds")
    arguments.add_argument("--seconds", type=float, default=5)
    arguments.add_argument("--rate", type=float, default=2000, help="scores per second")
    arguments.add_argument("--ids", type=int, default=10_000_000, help="ids in the table")
    arguments.add_argument("--lines", type=int, default=1_000_000, help="lines through --vw-port")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--restart-rows", type=int, default=10_000_000)
    arguments.add_argument("--vw", help="VW's program")
    arguments.add_argument("--client", help="another build of parsimon that sends the requests")
    arguments.add_argument("--only", nargs="*", default=["windows", "durable", "ports", "river", "restart"])
    arguments.add_argument("--record")
    given = arguments.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    say(f"# The service under load, {time.strftime('%Y-%m-%d')}")
    say()
    machine = f"Machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}. Commit {commit}."
    say(f"{machine} Command: `python3 bench/serve.py {' '.join(sys.argv[1:])}`. Latencies in milliseconds from the time a request was due.")
    say()
    with tempfile.TemporaryDirectory() as folder:
        given.rows = Path(folder, "rows.jsonl")
        if "windows" in given.only:
            windows(given)
    if "durable" in given.only:
        for connections in (1, 2, 4):
            rates = [durable(given, connections) for _ in range(given.repeats)]
            rate, per_cpu = (statistics.median(column) for column in zip(*rates))
            say(f"* durable rows in batches of 1,000 VW lines, {connections} connections: {rate:,.0f} a second, {per_cpu:,.0f} per CPU second of the server")
        say()
    if "ports" in given.only:
        through_ports(given)
    if "river" in given.only:
        river(given)
        say()
    if "restart" in given.only:
        restart(given)
    say(f"Load at the end: {os.getloadavg()[0]:.1f}.")
    if given.record:
        Path(given.record).write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
