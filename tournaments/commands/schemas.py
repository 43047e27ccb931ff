"""The JSON Schemas that programs may rely on, by name."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from protocol import codec
from tournaments.commands.rate import RATED_FORMAT, Rated
from tournaments.report.report import RESULTS_FORMAT, Results

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def results() -> dict[str, Any]:
    """Return the JSON Schema of results.json."""
    return _schema(Results, f"Boneyard results {RESULTS_FORMAT}")


def rated() -> dict[str, Any]:
    """Return the JSON Schema of the output of `boneyard rate --json`."""
    return _schema(Rated, f"Boneyard ratings {RATED_FORMAT}")


def _schema(of: type, title: str) -> dict[str, Any]:
    """Derive a JSON Schema from a type."""
    (whole,), definitions = msgspec.json.schema_components([of], ref_template="#/$defs/{name}")
    return {"$schema": DIALECT, "title": title, **whole, "$defs": definitions}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "protocol": codec.schema,
    "results": results,
    "rated": rated,
}
