"""Each clause of the sources, and each choice of the rules, has a test."""

from arena.rules.variants import choices
from tests.support.clauses import collect_clauses

# Headings of the numbered list, which state no rule of their own.
HEADINGS = {4, 7, 14, 17, 21, 24, 29}
CLAUSES = {f"C.{number}" for number in range(1, 38) if number not in HEADINGS}
PARTS = {"C deal", "C play", "C score", "C Dutch", "C Puerto Rico", "C Austria", "C Egypt"}
# What is about the program, not about a clause: cut games.
NO_CLAUSE = {"max_rounds"}


def test_every_clause_has_a_test() -> None:
    clauses = {clause_test.clause for clause_test in collect_clauses()}
    assert not CLAUSES - clauses
    for part in PARTS | {"A", "B", "D", "E", "C partnership"}:
        assert any(clause.startswith(part) for clause in clauses), part


def test_every_choice_is_exercised_by_some_clause() -> None:
    exercised = {choice for clause_test in collect_clauses() for choice in clause_test.choices}
    assert not exercised - set(choices()), "a test names a choice that does not exist"
    assert not set(choices()) - exercised - NO_CLAUSE
