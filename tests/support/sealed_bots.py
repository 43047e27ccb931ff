"""Sealed bots for the tests, in the text form of WebAssembly: they need no compiler."""

from pathlib import Path

import pytest

from arena.sandbox.command import Command
from arena.sealed.module import wasmtime_folder
from protocol.messages import Clock

HERE = wasmtime_folder() is not None
needs_wasmtime = pytest.mark.skipif(not HERE, reason="wasmtime is not installed")
EFFORT = Clock(start_ms=20_000, move_ms=20, bank_ms=5, effort=20, effort_bank=5)
"""A clock of 20 million instructions for each question, with 5 million in the bank."""
TEXT = r"""
(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get"
    (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  IMPORTS
  (memory (export "memory") 4)
  (data (i32.const 64)
    "{\22type\22:\22hello\22,\22name\22:\22w\22,\22version\22:\221\22,\22tables\22:9}\0a")
  (data (i32.const 256) "{\22type\22:\22choose\22,\22id\22:")
  (data (i32.const 400) ",\22choice\22:0,\22note\22:\22")
  (global $note (mut i64) (i64.const 0))
  (global $asked (mut i32) (i32.const 0))
  (func $say (param $to i32) (param $at i32) (param $size i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $size))
    (drop (call $write (local.get $to) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $spin (param $times i32)
    (loop $more
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $more (local.get $times))))
  MORE
  (func (export "_start") (local $from i32) (local $to i32)
    START
    (loop $next
      (i32.store (i32.const 0) (i32.const 1024))
      (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.eqz (i32.load (i32.const 8))) (then return))
      LINE
      (if (i32.eq (i32.load8_u (i32.const 1033)) (i32.const 104)) (then
        (call $say (i32.const 1) (i32.const 64) (i32.const 53))))
      (if (i32.eq (i32.load8_u (i32.const 1033)) (i32.const 97)) (then
        (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
        ASK
        (local.set $from (i32.const 1043))
        (local.set $to (i32.const 278))
        (loop $digits
          (i32.store8 (local.get $to) (i32.load8_u (local.get $from)))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (br_if $digits (i32.ne (i32.load8_u (local.get $from)) (i32.const 44))))
        (memory.copy (local.get $to) (i32.const 400) (i32.const 20))
        (local.set $to (i32.add (local.get $to) (i32.const 20)))
        (local.set $from (i32.const 16))
        (loop $letters
          (i32.store8 (local.get $to)
            (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (global.get $note) (i64.const 15)))))
          (global.set $note (i64.shr_u (global.get $note) (i64.const 4)))
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (local.set $from (i32.sub (local.get $from) (i32.const 1)))
          (br_if $letters (local.get $from)))
        (i32.store (local.get $to) (i32.const 0x0a7d22))
        (call $say (i32.const 1) (i32.const 256)
          (i32.sub (i32.add (local.get $to) (i32.const 3)) (i32.const 256)))
        AFTER))
      (br $next))))
"""
"""A bot that takes the first option; what stands in capitals is filled in. Its note is a number in
letters."""


def text(**parts: str) -> str:
    """Return the bot's text with these parts filled in."""
    whole = TEXT
    for name in ("IMPORTS", "MORE", "START", "LINE", "ASK", "AFTER"):
        whole = whole.replace(f"{name}\n", f"{parts.get(name.lower(), '')}\n", 1)
        if name == "AFTER":
            whole = whole.replace("AFTER))", f"{parts.get('after', '')}))")
    return whole


def sealed(folder: Path, name: str = "w", **parts: str) -> Command:
    """Write a sealed bot into a folder; return its command."""
    from wasmtime import wat2wasm

    path = folder / f"{name}.wasm"
    path.write_bytes(wat2wasm(text(**parts)))
    return of(path)


def of(path: Path, *words: str) -> Command:
    return Command((f"{path}", *words), f"{path.parent}", (f"{path}",), (f"{path}",))


def spin(million: float) -> str:
    """Return code that takes about so many million instructions."""
    return f"(call $spin (i32.const {int(million * 1e6 / 6)}))"


NOTE_CHANCE = "(drop (call $random (i32.const 16) (i32.const 8)))" + (
    "(global.set $note (i64.load (i32.const 16)))"
)
NOTE_TIME = "(drop (call $clock (i32.const 0) (i64.const 0) (i32.const 16)))" + (
    "(global.set $note (i64.load (i32.const 16)))"
)
NOTE_COUNT = "(global.set $note (i64.extend_i32_u (global.get $asked)))"
