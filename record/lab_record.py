"""Writes the outcomes of a report into record/verdicts.toml and into the tables of record/lab.md.

    python3 record/lab_record.py report/results.json

An experiment of the report replaces its entry and its rows; those of other experiments stay. Run `cargo xtask codegen` afterwards,
which writes the pages of docs/papers/.
"""

import json
import pathlib
import re
import sys

RECORD = pathlib.Path(__file__).resolve().parent
NAMES = {"other-data": "other data", "not-run": "not run"}
COUNTED = {"holds": "hold", "empty": "without a rival", "not-measured": "not measured"}


def said(verdict, category):
    """The word for a verdict: a theorem holds, an experiment reproduces."""
    if category == "theorem" and verdict == "reproduces":
        return "holds"
    return NAMES.get(verdict, verdict)


def count(findings):
    """Summary of the expectations: `5 hold, 1 refuted of 6`."""
    order = ["holds", "refuted", "undecided", "empty", "not-measured", "preview"]
    counts = [(sum(f["status"] == status for f in findings), status) for status in order]
    parts = [f"{n} {COUNTED.get(status, status)}" for n, status in counts if n]
    return f"{', '.join(parts)} of {len(findings)}"


def number(variant):
    """The number of a verdict: the size of the search and its worst case, or the count of the expectations."""
    findings = variant["findings"]
    searched = [f for f in findings if f["configurations"] and f["core"]]
    if not searched:
        return count(findings)
    excess = max(f["measured"][0] for f in searched)
    holding = sum(f["status"] == "holds" for f in findings)
    fewest = min(f["configurations"] for f in searched)
    return (
        f"{fewest:,} configurations searched, largest excess {excess:.3g}; "
        f"{holding} of {len(findings)} expectations hold"
    )


def run_of(outcome):
    """Date, effort and the number of trials of a run."""
    first = outcome["variants"][0]
    effort = re.search(r"(\w+) effort", outcome["how"])[1]
    run = f"{outcome['how'][:10]}, {effort} effort"
    if first["trials"] != first["planned"]:
        run += f", {first['trials']} of {first['planned']} trials"
    return run


def write_verdicts(outcomes):
    """Replaces the entries of the outcomes in record/verdicts.toml."""
    file = RECORD / "verdicts.toml"
    head, *entries = re.split(r"(?m)^(?=\[\")", file.read_text())
    known = {re.match(r'\["(.*)"\]', entry)[1]: entry.strip() for entry in entries}
    for outcome in outcomes:
        known[outcome["id"]] = "\n".join([
            f'["{outcome["id"]}"]',
            f'verdict = "{said(outcome["verdict"], outcome["category"])}"',
            f'number = "{number(outcome["variants"][0])}"',
            f'run = "{run_of(outcome)}"',
        ])
    file.write_text(head + "\n\n".join(known[id] for id in sorted(known)) + "\n")


def rows_of(outcomes):
    """Rows of the table of runs."""
    for outcome in outcomes:
        for v in outcome["variants"]:
            trials = str(v["trials"]) if v["trials"] == v["planned"] else f"{v['trials']} of {v['planned']}"
            verdict = said(v["verdict"], outcome["category"])
            date = outcome["how"][:10] + (", full" if "full effort" in outcome["how"] else "")
            cells = [outcome["id"], v["name"], date, trials, v["horizon"] or "", count(v["findings"]), verdict]
            yield f"| {' | '.join(cells)} |"


def open_claims(outcomes):
    """Rows of the table of core claims that are refuted or undecided."""
    for outcome in outcomes:
        for v in outcome["variants"]:
            claims = []
            for f in v["findings"]:
                if f["core"] and f["status"] in ("refuted", "undecided", "empty"):
                    measured = f"{f['measured'][0]:.4g}" if f["measured"] else "-"
                    claims.append(f"{f['status']}: {f['says']}: {measured}, to be {f['wanted']}")
            if claims:
                more = " ..." if len(claims) > 4 else ""
                yield f"| {outcome['id']} | {v['name']} | {'; '.join(claims[:4]).replace('|', chr(92) + '|')}{more} |"


def replaced(text, heading, new, ids):
    """The text with the rows of some experiments replaced in the first table behind a line, in the order of the ids."""
    start = text.index(heading)
    start = text.index("| --- |", start)
    start = text.index("\n", start) + 1
    end = re.compile(r"^(?!\|)", re.M).search(text, start).start()
    kept = [row for row in text[start:end].splitlines() if row.split("|")[1].strip(" *") not in ids]
    rows = sorted(kept + list(new), key=lambda row: row.split("|")[1].strip(" *"))
    return text[:start] + "\n".join(rows) + "\n" + text[end:]


def main():
    outcomes = json.loads(pathlib.Path(sys.argv[1]).read_text())
    write_verdicts(outcomes)
    ids = {outcome["id"] for outcome in outcomes}
    file = RECORD / "lab.md"
    text = replaced(file.read_text(), "## Runs", rows_of(outcomes), ids)
    file.write_text(replaced(text, "## Core claims", open_claims(outcomes), ids))


main()
