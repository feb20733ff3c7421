"""Writes python/parsimon/_named.pyi, which editors and type checkers read: ``python python/tools/named.py``. A test sees that it is up to date."""

import json
from pathlib import Path

from parsimon import _named

TARGET = Path(__file__).parents[1] / "parsimon" / "_named.pyi"


def literal(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def stub(described: _named.Description) -> str:
    lines = [f"class {described.name}({described.base.__name__}):", f'    """{described.about[0]}"""', "", "    def __init__(", "        self,"]
    keywords = [*described.keywords, *described.frame]
    if keywords[0].name != "algorithm":
        lines.append("        *,")
    for keyword in keywords:
        lines.append(f"        {keyword.name}: {keyword.type} = {literal(keyword.default)},")
        if keyword.name == "algorithm":
            lines.append("        *,")
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def text() -> str:
    described = _named.descriptions()
    head = '# Every method under a name of its own. Written by python/tools/named.py from the registry: do not edit.\n\n'
    head += "from typing import Any, NamedTuple\n\nfrom ._classifier import Classifier\nfrom ._regressor import Regressor\n\n"
    head += "__all__ = [\n" + "".join(f'    "{d.name}",\n' for d in described) + "]\n\n"
    head += "class Keyword(NamedTuple):\n    name: str\n    default: Any\n    type: str\n    about: str\n\n"
    head += "class Description(NamedTuple):\n    name: str\n    base: type\n    algorithm: str | None\n    about: list[str]\n    keywords: list[Keyword]\n"
    head += "    @property\n    def frame(self) -> list[Keyword]: ...\n    @property\n    def doc(self) -> str: ...\n\n"
    head += "def descriptions() -> list[Description]: ...\n\n"
    return head + "\n".join(stub(d) for d in described)


if __name__ == "__main__":
    TARGET.write_text(text())
    print(f"wrote {TARGET}")
