"""Draws comment and rustdoc lines of product code, the same ones for a given seed and tree.

    python3 record/prose_sample.py SEED [COUNT]

Product code is `crates/*/src` without test files and without what follows `#[cfg(test)]`.
Lines inside code blocks of rustdoc and lines with fewer than four words are left out.
"""

import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def comment_lines(path):
    """Yields line number and text of every comment line of a file."""
    in_code = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if line.strip() == "#[cfg(test)]":
            return
        match = re.match(r"\s*//[/!]?\s?(.*)", line)
        if match is None:
            in_code = False
            continue
        text = match.group(1)
        if text.strip().startswith("```"):
            in_code = not in_code
        elif not in_code and len(text.split()) >= 4:
            yield number, text.strip()


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 160
    lines = []
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        if "tests" in path.parts or path.stem in ("test", "tests") or path.stem.endswith("_tests"):
            continue
        name = path.relative_to(ROOT).as_posix()
        lines += [(name, number, text) for number, text in comment_lines(path)]
    for name, number, text in sorted(random.Random(seed).sample(lines, count)):
        print(f"{name}:{number}: {text}")


main()
