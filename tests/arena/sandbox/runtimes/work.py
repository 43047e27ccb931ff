"""Threads, a child process, an event loop, temporary files and memory that comes and goes."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


async def later() -> int:
    await asyncio.sleep(0.01)
    child = await asyncio.create_subprocess_exec("true")
    return await child.wait()


for _ in range(20):
    waste = [bytearray(1 << 20) for _ in range(40)]
    del waste
with ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(len, (bytes(n) for n in range(100)))) == 4950
thread = threading.Thread(target=threading.get_ident)
thread.start()
thread.join()
assert subprocess.run(["echo", "x"], capture_output=True).stdout == b"x\n"
assert asyncio.run(later()) == 0
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "one")
    path.write_text("x")
    shutil.copy2(path, path.with_name("two"))
    path.rename(path.with_name("three"))
if os.fork() == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
print("done")
