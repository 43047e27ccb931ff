"""Pipes and ends of processes: kernel and threads report the same, and block nobody."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from arena import machine
from arena.match import sources
from arena.match.sources import KernelStreams, Streams, ThreadedStreams, ThreadedWatch

PATIENCE_S = 20.0


@contextmanager
def run_code(kind: type[Streams], code: str) -> Iterator[tuple[Streams, subprocess.Popen[bytes]]]:
    process = subprocess.Popen(
        (sys.executable, "-c", code),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    threaded = kind is ThreadedStreams
    streams = ThreadedStreams(process, kill) if threaded else KernelStreams(process)
    try:
        yield streams, process
    finally:
        kill()
        assert streams.has_ended(int(1000 * PATIENCE_S))
        streams.close_stdin()
        streams.close()
        process.wait()


def new_watch(streams: Streams) -> Any:
    return ThreadedWatch() if isinstance(streams, ThreadedStreams) else select.epoll()


def read_until(streams: Streams, is_enough: Callable[[bytes], bool]) -> bytes:
    """Read stdout as a poller does, until it is enough."""
    watch, data = new_watch(streams), b""
    watch.register(streams.stdout, sources.CAN_READ)
    while not is_enough(data):
        assert watch.poll(PATIENCE_S), data
        chunk = streams.read(streams.stdout, sources.PIPE_READ_BYTES)
        if not chunk:
            break
        data += chunk
    watch.unregister(streams.stdout)
    watch.close()
    return data


stream_kinds = pytest.mark.parametrize("kind", [KernelStreams, ThreadedStreams])


@stream_kinds
def test_what_a_process_wrote_before_its_end_is_read(kind: type[Streams]) -> None:
    with run_code(kind, "print('x' * 50_000, flush=True); raise SystemExit(7)") as (streams, _):
        assert streams.has_ended(int(1000 * PATIENCE_S))
        assert streams.exit_code() == 7
        assert read_until(streams, lambda _: False) == b"x" * 50_000 + b"\n"
        assert streams.read(streams.stdout, 1) == b"", "the end stays"


@stream_kinds
def test_a_full_pipe_blocks_nobody_and_takes_the_rest_later(kind: type[Streams]) -> None:
    code = "import sys; input(); print(len(sys.stdin.readline()))"
    with run_code(kind, "import time; time.sleep(0.2);" + code) as (streams, _):
        data, watch = b"\n" + b"x" * 3_000_000 + b"\n", new_watch(streams)
        watch.register(streams.stdin, sources.CAN_WRITE)
        block_count = 0
        while data:
            try:
                data = data[streams.write(streams.stdin, data[:1_000_000]) :]
            except BlockingIOError:
                block_count += 1
                assert watch.poll(PATIENCE_S)
        assert block_count
        assert read_until(streams, lambda data: b"\n" in data) == b"3000001\n"


@stream_kinds
def test_a_flood_waits_in_its_pipe(kind: type[Streams]) -> None:
    with run_code(kind, "import os\nwhile True: os.write(1, bytes(65536))") as (streams, process):
        read_until(streams, lambda data: len(data) > 1_000_000)
        assert not streams.has_ended(200)
        process.kill()
        assert streams.has_ended(int(1000 * PATIENCE_S))
        assert streams.exit_code() == -signal.SIGKILL
        bound = sources.CHUNKS_AHEAD * sources.PIPE_READ_BYTES + 65_536
        assert len(streams.read(streams.stdout, bound)) <= bound


@stream_kinds
def test_a_child_that_holds_the_pipes_does_not_hold_up_the_end(kind: type[Streams]) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '60']); print('left', flush=True)"
    with run_code(kind, code) as (streams, _):
        assert streams.has_ended(int(1000 * PATIENCE_S))
        assert streams.exit_code() == 0
        assert read_until(streams, lambda data: b"\n" in data) == b"left\n"


def test_a_machine_without_threads_left_is_short_of_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    process = subprocess.Popen(("true",), stdin=-1, stdout=-1, stderr=-1, bufsize=0)
    with process, pytest.raises(BlockingIOError, match="can't start new thread"):
        ThreadedStreams(process, process.kill)


def test_the_variable_chooses_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BONEYARD_POLLER", "threads")
    machine.has_kernel_events.cache_clear()
    try:
        assert isinstance(sources.new_watch(), ThreadedWatch)
    finally:
        monkeypatch.undo()
        machine.has_kernel_events.cache_clear()
