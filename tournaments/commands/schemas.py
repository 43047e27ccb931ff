"""The JSON Schemas that programs may rely on, by name."""

from collections.abc import Callable, Mapping
from typing import Any

from protocol.codec import schema, schema_of
from tournaments.commands.rate import RATED_FORMAT, Rated
from tournaments.report.report import RESULTS_FORMAT, Results


def results() -> dict[str, Any]:
    """Return the JSON Schema of results.json."""
    return schema_of(Results, f"Boneyard results {RESULTS_FORMAT}")


def rated() -> dict[str, Any]:
    """Return the JSON Schema of the output of `boneyard rate --json`."""
    return schema_of(Rated, f"Boneyard ratings {RATED_FORMAT}")


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "protocol": schema,
    "results": results,
    "rated": rated,
}
