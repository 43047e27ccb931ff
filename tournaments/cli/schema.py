"""The command `help schema`: prints the JSON Schemas that programs may rely on."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from arena.ui.console import print_json
from protocol.codec import protocol_schema, schema_of
from protocol.errors import unknown_name
from tournaments.cli.results.rate import RATED_FORMAT, Rated
from tournaments.report.results_file import RESULTS_FORMAT, Results
from tournaments.report.review.sums import ReviewSummary
from tournaments.storage.review_log import REVIEW_FORMAT

SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "protocol": protocol_schema,
    "results": partial(schema_of, Results, f"Boneyard results {RESULTS_FORMAT}"),
    "review": partial(schema_of, ReviewSummary, f"Boneyard review {REVIEW_FORMAT}"),
    "rated": partial(schema_of, Rated, f"Boneyard ratings {RATED_FORMAT}"),
}
"""Both directions of the protocol, results.json, review.json, and `show A B --json`."""


def print_schema(name: str = "protocol") -> None:
    """Print a schema by its name. Raises UserError."""
    if name not in SCHEMAS:
        raise unknown_name("schema", name, SCHEMAS)
    print_json(SCHEMAS[name](), indent=2)
