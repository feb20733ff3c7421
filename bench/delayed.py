"""Labels that come late, in fast motion: python3 bench/delayed.py PROGRAM [--rows 200000] [--rate 5000] [--window 1] [--delay 0.12].

Rows are scored with ids; the label of a click comes after an exponential delay, in any order and sometimes twice, and the label of the others
never: they are learned with the default after the window. The model is taken after the last score. The same rows in the order of their scores, with their labels at once, are learned
by `train`. Both models predict the same rows that neither has seen.
"""

import argparse
import heapq
import http.client
import json
import math
import random
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

BATCH = 200


def generate(count, seed):
    rng = random.Random(seed)
    weights = random.Random(1)
    sizes = {"site": 200, "ad": 1000, "hour": 24, "device": 8}
    effects = {(name, k): weights.gauss(0, 0.7) for name, size in sizes.items() for k in range(size)}
    for k in range(count):
        row = {name: int(size * rng.random() ** 2) for name, size in sizes.items()}
        margin = -1.5 + sum(effects[item] for item in row.items())
        clicked = rng.random() < 1 / (1 + math.exp(-margin))
        yield {name: f"{name}{value}" for name, value in row.items()}, int(clicked)


def lines(rows):
    return "\n".join(json.dumps(row) for row in rows).encode()


def serve(program, folder, rows, rate, window, delay):
    command = [program, "serve", "--data", str(folder / "data"), "--model", "m", "--loss", "logistic", "-a", "ftrl", "--listen", "127.0.0.1:0",
               "--label-window", f"{window:g}s", "--label-default", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    port = next(int(found[1]) for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:(\d+)", line)))
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def post(path, body):
        connection.request("POST", f"/v1/models/m/{path}", body, {"content-type": "application/x-ndjson"})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise SystemExit(f"{path} was answered with {answer.status}: {text[:300]}")
        return text

    rng = random.Random(7)
    waiting, sent, repeated, refused, start = [], 0, 0, 0, time.perf_counter()
    while sent < len(rows):
        now = time.perf_counter()
        if now - start >= sent / rate:
            batch = rows[sent:sent + BATCH]
            left = [{"id": f"r{sent + k}", **row} for k, (row, _) in enumerate(batch)]
            # A row that could not be kept at once is scored again.
            while left:
                answers = [json.loads(line) for line in post("score", lines(left)).splitlines()]
                left = [row for row, answer in zip(left, answers) if not answer["tracked"]]
                refused += len(left)
            for k, (_, clicked) in enumerate(batch):
                if clicked:
                    late = rng.expovariate(1 / delay)
                    heapq.heappush(waiting, (now + late, sent + k))
                    if rng.random() < 0.05:
                        repeated += 1
                        heapq.heappush(waiting, (now + late + rng.random() * 0.2, sent + k))
            sent += len(batch)
        due = []
        while waiting and waiting[0][0] <= now:
            due.append({"id": f"r{heapq.heappop(waiting)[1]}", "label": 1})
        rng.shuffle(due)
        if due:
            post("label", lines(due))
        else:
            time.sleep(0.002)
    # As clients see it after the last score: the labels of the last rows are still to come.
    connection.request("GET", "/v1/models/m")
    about = json.loads(connection.getresponse().read())
    connection.request("GET", "/v1/models/m/download")
    model = folder / "live.psm"
    model.write_bytes(connection.getresponse().read())
    process.send_signal(signal.SIGTERM)
    process.wait()
    return model, about["rows"], repeated, refused


def loss(program, model, data):
    out = json.loads(subprocess.run([program, "evaluate", str(model), str(data), "--json", "-"], capture_output=True, text=True, check=True).stdout)
    return out["mean_loss"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("program")
    arguments.add_argument("--rows", type=int, default=200_000)
    arguments.add_argument("--rate", type=float, default=5000)
    arguments.add_argument("--window", type=float, default=1)
    arguments.add_argument("--delay", type=float, default=0.12)
    given = arguments.parse_args()
    rows, unseen = list(generate(given.rows, 2)), list(generate(50_000, 3))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, part in (("rows.jsonl", rows), ("unseen.jsonl", unseen)):
            (folder / path).write_bytes(lines({"label": y, **row} for row, y in part))
        late, learned, repeated, refused = serve(given.program, folder, rows, given.rate, given.window, given.delay)
        prompt = folder / "prompt.psm"
        train = [given.program, "train", str(folder / "rows.jsonl"), "-a", "ftrl", "--loss", "logistic", "--label-column", "label", "--quiet", "-o", str(prompt)]
        subprocess.run(train, check=True, capture_output=True)
        delayed, immediate = (loss(given.program, model, folder / "unseen.jsonl") for model in (late, prompt))
    print(f"rows scored {given.rows:,}, learned {learned:,}, labels sent twice {repeated:,}, scores that were not kept at once {refused:,}")
    print(f"log loss on 50,000 other rows: labels at once {immediate:.5f}, late {delayed:.5f}, {100 * (delayed / immediate - 1):+.2f}%")


if __name__ == "__main__":
    main()
