"""The catalogues of faults and of inputs that must be refused: every number is there, and the tests that it names exist.

The tests are found by reading their files, not by running them: a row that names a test which was renamed or removed
fails here, and so does one that names a test which does not say the row's number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FAULTS = [*(f"F{number}" for number in range(1, 103)), *(f"W{number}" for number in range(1, 13))]
NEGATIVES = [f"N{number}" for number in range(1, 40)]
NEGATIVES[13:13] = ["N13b"]
NEGATIVES[NEGATIVES.index("N25") + 1 : NEGATIVES.index("N25") + 1] = ["N25b"]
CATALOGUES = {"faults": FAULTS, "negatives": NEGATIVES}

Row = tuple[str, str, str, str, list[str]]


def rows(name: str) -> Iterator[Row]:
    """(number, fault, outcome, what happens, tests) of each row that begins with a number."""
    for line in (ROOT / "docs" / f"{name}.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and re.fullmatch(r"[FWN]\d+b?", cells[0]):
            assert len(cells) == 5, f"{cells[0]}: five columns"
            number, fault, outcome, here, tests = cells
            yield number, fault, outcome, here, re.findall(r"`([^`]+)`", tests)


@cache
def functions_of(path: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse((ROOT / "tests" / path).read_text("utf-8"))
    return {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def numbers_named(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The numbers in a test's name, docstring and parameters; ``f70_to_f83`` names all between."""
    said = [node.name.replace("_", " "), ast.get_docstring(node) or ""]
    said += [ast.unparse(decorator) for decorator in node.decorator_list]
    found = set()
    for text in said:
        for kind, low, high in re.findall(r"\b([fnw])0*(\d+) to [fnw]0*(\d+)\b", text, re.IGNORECASE):
            found |= {f"{kind.upper()}{number}" for number in range(int(low), int(high) + 1)}
        for kind, number in re.findall(r"\b([fnw])0*(\d+b?)\b", text, re.IGNORECASE):
            found.add(f"{kind.upper()}{number}")
    return found


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_number_has_one_row_in_order(name: str) -> None:
    assert [number for number, *_ in rows(name)] == CATALOGUES[name]


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_row_says_what_must_come_of_it_and_what_does(name: str) -> None:
    for number, fault, outcome, here, tests in rows(name):
        assert fault, number
        assert outcome, number
        assert here, number
        assert tests, f"{number} has no test"


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_test_that_is_named_exists_and_names_the_number(name: str) -> None:
    for number, _, _, _, tests in rows(name):
        assert len(set(tests)) == len(tests), f"{number}: a test is named twice"
        for test in tests:
            path, _, function = test.partition("::")
            assert (ROOT / "tests" / path).is_file(), f"{number}: there is no tests/{path}"
            assert function in functions_of(path), f"{number}: there is no {test}"
            assert number in numbers_named(functions_of(path)[function]), f"{test} does not say {number}"
