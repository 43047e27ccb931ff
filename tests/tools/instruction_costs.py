"""The time that instructions of a sealed bot take the host: PROMISES.md states the worst.

python -m tests.tools.instruction_costs
"""

import time
from contextlib import suppress

import wasmtime

from arena.sealed import host

MILLION = 1_000_000
PAGES, LINE_BYTES, LINES = 2100, 64, 2**21
"""Memory of 131 MiB, which no cache holds, and the cache lines of 128 MiB of it."""
INIT = f"""(loop $more
  (i32.store (i32.mul (local.get $i) (i32.const {LINE_BYTES})) (i32.mul (i32.const {LINE_BYTES})
    (i32.rem_u (i32.add (i32.mul (local.get $i) (i32.const 1664525)) (i32.const 1013904223))
      (i32.const {LINES}))))
  (local.set $i (i32.add (local.get $i) (i32.const 1)))
  (br_if $more (i32.lt_u (local.get $i) (i32.const {LINES}))))"""
"""Each line holds the address of another one, at random."""
BODIES = {
    "counting": "(local.set $i (i32.add (local.get $i) (i32.const 1)))",
    "loads, one by one": f"(local.set $i {'(i32.load ' * 64}(local.get $i){')' * 64})",
    "memory.grow": "(drop (memory.grow (i32.const 0)))",
    "memory.grow, too much": "(drop (memory.grow (i32.const 60000)))",
    "memory.fill of nothing": "(memory.fill (i32.const 0) (i32.const 0) (i32.const 0))",
    "memory.copy of nothing": "(memory.copy (i32.const 0) (i32.const 0) (i32.const 0))",
    "table.grow": "(drop (table.grow $t (ref.null func) (i32.const 0)))",
    "table.set": "(table.set $t (i32.const 0) (ref.func $f))",
    "ref.func": "(drop (ref.func $f))",
    "f64.sqrt, one by one": f"(local.set $x {'(f64.sqrt ' * 64}(local.get $x){')' * 64})",
    "f64.div, one by one": f"(local.set $x {'(f64.div ' * 64}(local.get $x)"
    f"{' (f64.const 1.01))' * 64})",
}


def ns_an_instruction(body: str, million: int = 20) -> float:
    """Return the ns that each instruction of a loop takes, over so many million of them."""
    text = f"""(module (memory (export "memory") {PAGES}) (table $t 10 funcref) (func $f)
      (elem declare func $f) (func (export "init") (local $i i32) {INIT})
      (func (export "go") (local $i i32) (local $x f64) (loop $more {body} (br $more))))"""
    engine = wasmtime.Engine(host.configuration())
    store = wasmtime.Store(engine)
    store.set_limits(2**28, host.TABLE, 1, 8, 1)
    store.set_fuel(1000 * MILLION)
    module = wasmtime.Module(engine, bytes(wasmtime.wat2wasm(text)))
    functions = wasmtime.Linker(engine).instantiate(store, module).exports(store)
    for name in ("init", "go"):
        if name == "go":
            store.set_fuel(million * MILLION)
        function = functions[name]
        assert isinstance(function, wasmtime.Func)
        began = time.perf_counter()
        with suppress(wasmtime.Trap):
            function(store)
    return (time.perf_counter() - began) * 1e9 / (million * MILLION)


if __name__ == "__main__":
    for name, body in BODIES.items():
        print(f"{name:24} {ns_an_instruction(body):8.2f} ns")
