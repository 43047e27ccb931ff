"""The JSON Schemas that programs may rely on, by the name under which they are printed."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from protocol import codec
from tournaments.commands.rate import RATED_FORMAT, Rated
from tournaments.report.report import RESULTS_FORMAT, Results

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def results() -> dict[str, Any]:
    """JSON Schema of results.json."""
    return _schema(Results, f"Boneyard results {RESULTS_FORMAT}")


def rated() -> dict[str, Any]:
    """JSON Schema of what `boneyard rate --json` prints."""
    return _schema(Rated, f"Boneyard ratings {RATED_FORMAT}")


def _schema(of: type, title: str) -> dict[str, Any]:
    """Made from the types themselves."""
    (whole,), definitions = msgspec.json.schema_components([of], ref_template="#/$defs/{name}")
    return {"$schema": DIALECT, "title": title, **whole, "$defs": definitions}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "protocol": codec.schema,
    "results": results,
    "rated": rated,
}
