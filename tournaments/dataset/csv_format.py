"""A table of decisions as CSV: the vector is the columns v0, v1, …, the mask m0, m1, ….

A program reads both with no other package: `table.filter(regex="^v[0-9]")` in pandas,
`table.select("^v[0-9]+$")` in polars.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec.structs import astuple

from protocol.codec import encode_json
from tournaments.dataset.example import Example, Facts, Table, encoding_of


def encode_csv(table: Table, examples: Sequence[Example]) -> bytes:
    """Return the lines of these decisions."""
    shares = encoding_of(table).parts["tiles"].start
    text = io.StringIO()
    rows = (
        (
            *(
                encode_json(one).decode() if isinstance(one, list) else one
                for one in astuple(facts)
            ),
            *vector[:shares].astype(np.int8).tolist(),
            # Always with a point: readers guess a column's type from its first rows.
            *(float(f"{value:.9g}") for value in vector[shares:].tolist()),
            *mask.tolist(),
        )
        for facts, vector, mask in examples
    )
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def csv_file(table: Table, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the file: the names of its columns, then the lines."""
    encoding = encoding_of(table)
    vector = (f"v{at}" for at in range(encoding.size))
    mask = (f"m{at}" for at in range(len(encoding.actions.options)))
    yield ",".join((*Facts.__struct_fields__, *vector, *mask)).encode() + b"\n"
    yield from pieces
