"""A table of decisions as Parquet: vector and mask are columns of lists of one fixed size.

The file's metadata has the key `boneyard`: the ruleset, the seats, the slice of each part of the
vector, and the option of each number of the mask, as JSON.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

import numpy as np
from msgspec import Struct

from protocol.errors import UserError

try:
    import pyarrow as pa
    from pyarrow import ipc, parquet
except ImportError as missing:
    raise UserError(
        "Parquet needs the package pyarrow, which is not installed: "
        "pip install '.[parquet]' in the clone. CSV needs nothing: --format csv."
    ) from missing

ROWS_A_GROUP = 1 << 14
"""Rows of a group at least, and in memory at most besides a piece: about 15 MB."""
KEY = b"boneyard"
TYPES: dict[Any, Any] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    list[float]: pa.list_(pa.float64()),
}


def encode_arrow(examples: Sequence[tuple[Struct, Any, Any]]) -> bytes:
    """Return decisions, each its facts, vector and mask, as one compressed Arrow stream."""
    facts, vectors, masks = zip(*examples, strict=True)
    kinds = {name: TYPES[_kind(hint)] for name, hint in get_type_hints(type(facts[0])).items()}
    columns = [
        pa.array([getattr(row, name) for row in facts], kind) for name, kind in kinds.items()
    ]
    names = [*kinds, "vector", "mask"]
    batch = pa.RecordBatch.from_arrays([*columns, _lists(vectors), _lists(masks)], names)
    stream = io.BytesIO()
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_stream(stream, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return stream.getvalue()


def _kind(hint: Any) -> Any:
    """Return the type of a field that may be empty."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return next(kind for kind in kinds if kind is not NoneType)


def _lists(rows: Sequence[Any]) -> Any:
    """Return arrays of equal length as a column."""
    return pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(rows)), len(rows[0]))


def parquet_file(table: bytes, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the file, in groups of rows; `table`: what its metadata say of it."""
    sink = _Sink()
    writer: Any = None
    waiting: list[Any] = []
    for piece in pieces:
        waiting += ipc.open_stream(piece)
        if writer is None:
            schema = waiting[0].schema.with_metadata({KEY: table})
            writer = parquet.ParquetWriter(sink, schema, compression="zstd")
        if sum(batch.num_rows for batch in waiting) >= ROWS_A_GROUP:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting = []
            yield sink.take()
    if waiting:
        writer.write_table(pa.Table.from_batches(waiting, schema))
    if writer:
        writer.close()
        yield sink.take()


class _Sink(io.RawIOBase):
    """A file in memory from which the bytes are taken as they come."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._taken = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._waiting.append(bytes(data))
        self._taken += len(self._waiting[-1])
        return len(self._waiting[-1])

    def tell(self) -> int:
        return self._taken

    def take(self) -> bytes:
        """Return the bytes since the last call."""
        data, self._waiting = b"".join(self._waiting), []
        return data
