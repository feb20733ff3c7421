"""Draws the figures of README.md and docs/explain/ from runs of the program: python3 bench/figures.py target/release/parsimon"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #222; }
.title { font-weight: 600; font-size: 13px; }
.axis { stroke: #888; fill: none; }
.one { stroke: #1664a8; fill: none; stroke-width: 2; } .one-dot { fill: #1664a8; }
.two { stroke: #b3541e; fill: none; stroke-width: 2; stroke-dasharray: 5 3; } .two-dot { fill: #b3541e; }
.faint { stroke: #999; fill: none; stroke-dasharray: 2 3; }
.box { fill: #eef4fa; stroke: #1664a8; }
</style>"""


def svg(name, width, height, body, title):
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        f'<title>{title}</title>{STYLE}<rect width="{width}" height="{height}" fill="#fff"/>{"".join(body)}</svg>\n'
    )
    (DOCS / name).write_text(text)
    print("wrote", DOCS / name)


def line(points, kind):
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def frame(x, y, w, h):
    return f'<path class="axis" d="M{x},{y}V{y + h}H{x + w}"/>'


def picture(program, folder):
    """The quickstart: the loss falls, few weights are kept."""
    out = subprocess.run([program, "quickstart"], cwd=folder, capture_output=True, text=True, check=True)
    table = [l.split() for l in (out.stdout + out.stderr).splitlines()]
    rows = [(int(c[3].replace(",", "")), float(c[2])) for c in table if len(c) == 9 and c[0][:2] == "0."]
    kept = next(l for l in (out.stdout + out.stderr).splitlines() if l.startswith("The model keeps"))
    weights = subprocess.run(
        [program, "inspect", "quickstart/clicks.psm", "--weights", "tsv"],
        cwd=folder, capture_output=True, text=True, check=True,
    ).stdout.splitlines()[2:]
    place = lambda n: 50 + 320 * math.log2(n) / math.log2(rows[-1][0])
    high = lambda loss: 50 + 170 * (0.7 - loss) / 0.4
    body = [
        text(40, 24, "average loss: predict a row, then learn it", "title"),
        frame(50, 45, 320, 180),
        line([(place(n), high(loss)) for n, loss in rows], "one"),
        *(text(place(n), 242, f"{n:,}", anchor="middle") for n in (1, 32, 1024, 32768)),
        text(210, 258, "rows learned, one pass", anchor="middle"),
        *(text(44, high(l) + 4, f"{l}", anchor="end") for l in (0.3, 0.5, 0.7)),
        text(430, 24, "weights that are not zero", "title"),
        f'<path class="axis" d="M430,140H760"/>',
    ]
    for feature, weight in (w.split("\t") for w in weights):
        x = 430 + 330 * int(feature) / 48068
        y = 140 - 42 * float(weight)
        body.append(f'<path d="M{x:.1f},140V{y:.1f}" stroke="#1664a8" stroke-width="0.8"/>')
    body += [text(430, 242, "feature 1"), text(760, 242, "48,068", anchor="end"), text(430, 258, kept.split(":")[0].replace("The model keeps", "kept:"))]
    svg("picture.svg", 800, 270, body, "The quickstart: loss over rows, and the weights that are kept")


def sparsity(program, folder):
    """Held-out loss against nonzeros, by l1."""
    subprocess.run(
        [program, "compare", "quickstart/clicks.svm", "--test", "quickstart/holdout.svm", "-a", "ftrl",
         "--sweep", "l1=0,0.03,0.1,0.3,1,3,10,30,100", "--json", "c.json"],
        cwd=folder, capture_output=True, check=True,
    )
    report = json.loads((Path(folder) / "c.json").read_text())
    points = []
    for run in report["methods"]:
        loss = run["test"]["mean_loss"]
        l1 = run["settings"]["l1"]
        points.append((run["nonzeros"], loss, l1))
    points.sort()
    place = lambda n: 70 + 480 * math.log10(n / 50) / math.log10(50000 / 50)
    high = lambda loss: 50 + 170 * (0.327 - loss) / 0.013
    body = [text(60, 24, "held-out log loss against nonzero weights, ftrl on the quickstart", "title"), frame(70, 45, 490, 185)]
    body.append(line([(place(n), high(loss)) for n, loss, _ in points], "one"))
    for n, loss, l1 in points:
        body.append(f'<circle class="one-dot" cx="{place(n):.1f}" cy="{high(loss):.1f}" r="3.5"/>')
        if l1 == 0 or l1 >= 0.3:
            body.append(text(place(n), high(loss) - 9, f"{l1:g}", anchor="middle"))
    body += [text(place(n), 247, f"{n:,}", anchor="middle") for n in (100, 1000, 10000)]
    body += [text(62, high(l) + 4, f"{l}", anchor="end") for l in (0.315, 0.32, 0.325)]
    body.append(text(310, 264, "nonzero weights (the number at a point is l1)", anchor="middle"))
    svg("explain/sparsity.svg", 600, 275, body, "Loss against sparsity")


def lazy():
    """An untouched weight: eager steps, and the closed form when it is read again."""
    place, high = (lambda t: 60 + 24 * t), (lambda w: 200 - 150 * w)
    eager, w = [(0, 1.0)], 1.0
    for t in range(1, 19):
        w = max(0.0, w - 0.16 / math.sqrt(t))
        eager.append((t, w))
    body = [text(50, 24, "a weight whose feature is absent in rounds 1 to 17", "title"), frame(60, 45, 450, 155)]
    body += [line([(place(t), high(w)) for t, w in eager], "two")]
    body += [f'<circle class="two-dot" cx="{place(t)}" cy="{high(w):.1f}" r="3"/>' for t, w in eager]
    t, w = eager[17]
    body += [f'<path class="one" d="M{place(0)},{high(1.0)}H{place(17)}V{high(w):.1f}"/>', f'<circle class="one-dot" cx="{place(17)}" cy="{high(w):.1f}" r="5"/>']
    body += [text(place(3), high(1.0) - 6, "lazy: stored as it was, brought up to date when it is read"), text(place(6), high(0.42), "eager: a proximal step every round")]
    body += [text(place(t), 217, str(t), anchor="middle") for t in (0, 5, 10, 17)] + [text(280, 235, "round", anchor="middle")]
    svg("explain/lazy.svg", 560, 245, body, "Lazy and eager updates of one weight")


def merge():
    """Two workers' sums are below the threshold, their sum is above."""
    body = [text(20, 24, "sums of gradients of one feature, threshold l1 = 1", "title")]
    for k, (name, z) in enumerate([("worker A", 0.7), ("worker B", 0.6), ("merged", 1.3)]):
        y = 55 + 45 * k
        kind = "#b3541e" if k == 2 else "#1664a8"
        body += [text(20, y + 16, name), f'<rect x="100" y="{y}" width="{240 * z:.0f}" height="24" fill="{kind}"/>',
                 text(110 + 240 * z, y + 16, f"z = {z}: weight {'is not zero' if z > 1 else '0'}")]
    body.append('<path class="faint" d="M340,45V185"/>')
    body.append(text(340, 200, "l1", anchor="middle"))
    svg("explain/merge.svg", 620, 210, body, "Sums add up, the threshold is applied once")


def race():
    """Which settings are still in the race of the quickstart's click log; ends are an example."""
    body = [text(20, 24, "fifteen settings and a constant; a look whenever the rows have doubled", "title")]
    looks = [1024 * 2**k for k in range(7)]
    place = lambda k: 150 + 58 * k
    for k, rows in enumerate(looks):
        body += [f'<path class="faint" d="M{place(k)},40V212"/>', text(place(k), 228, f"{rows:,}", anchor="middle")]
    ends = [1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    for k, end in enumerate(ends):
        y, last = 46 + 10.5 * k, place(end - 1) if end < 7 else 540
        body.append(f'<path d="M100,{y}H{last}" stroke="{"#b3541e" if k == 15 else "#1664a8"}" stroke-width="{4 if k == 15 else 2}"/>')
    body += [text(20, 60, "surely"), text(20, 75, "worse: leave"), text(20, 208, "the winner"), text(330, 246, "learned rows (schematic)", anchor="middle")]
    svg("explain/race.svg", 580, 256, body, "Settings leave a race")


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        picture(program, folder)
        sparsity(program, folder)
    lazy()
    merge()
    race()


if __name__ == "__main__":
    main()
