"""Sealed JavaScript: a bot's answers as those of Node, and what it finds inside."""

import json
import shutil
from pathlib import Path

import pytest

from arena.sealed.module import JAVASCRIPT
from tests.support.fast_run import slow_except
from tests.support.interpreted import GAME, LINES, output_inside, output_outside

NODE = shutil.which("node")
FRAME = """
function answer(line) {
  const message = JSON.parse(line);
  if (message.type === "hello") console.log("hello");
  else if (message.type === "ask") { BODY }
}
"""
RAW = """
let rest = "";
process.stdin.on("data", (piece) => {
  const lines = (rest + piece).split("\\n");
  rest = lines.pop();
  lines.forEach(answer);
});
"""
SYNC = """
const { readSync } = require("node:fs");
const buffer = Buffer.from(" ".repeat(64));
let text = "";
for (let size; (size = readSync(0, buffer, 0, 64)) > 0; ) {
  const lines = (text + buffer.toString().slice(0, size)).split("\\n");
  text = lines.pop();
  lines.forEach(answer);
}
"""
LOOPS = {
    "iteration.mjs": "for await (const piece of process.stdin) "
    "piece.toString().split('\\n').filter(Boolean).forEach(answer);",
    "readline.mjs": "import { createInterface } from 'node:readline';"
    "for await (const line of createInterface({ input: process.stdin })) answer(line);",
    "events.js": "require('readline').createInterface(process.stdin).on('line', answer);",
    "data.cjs": RAW,
    "sync.cjs": SYNC,
}
"""Ways to read, by the name of the bot's file."""
BODIES = {
    "write": "process.stdout.write(message.id + '\\n')",
    "words": "console.log(process.argv.slice(2), process.argv.length)".replace("(2)", "(2)[0]"),
    "file": "console.log(JSON.parse(require('fs').readFileSync('data.json')).a)",
    "import": "console.log(require('./helper.cjs').value, require('./data.json').a)",
    "missing": "console.log(require('fs').existsSync('nothing'))",
    "path": "const p = require('path'); console.log(p.extname('a.b.c'), p.dirname('a/b/c'),"
    " p.basename(p.join(__dirname, 'x', '..', 'y.js'), '.js'))",
    "numbers": "console.log(0.1 + 0.2, 2n ** 70n === 1180591620717411303424n, (1234.5).toFixed(2))",
    "sort": "console.log([3, 1, 2].sort((a, b) => b - a).join(), [...new Set([2, 1, 2])].join())",
    "clone": "const c = structuredClone({ a: [new Map([[1, new Set([2])]])] });"
    "console.log(c.a[0].get(1).has(2))",
    "timer": "setTimeout(() => console.log('late', message.id), 1)",
    "promise": "Promise.all([1, Promise.resolve(2)]).then((all) => console.log(all.join()))",
    "recursion": "const f = () => f(); try { f() } catch (error) { console.log('deep') }",
    "unicode": "console.log('→ ä'.length, '😀'.codePointAt(0), 'ß'.toUpperCase())",
    "stderr": "console.error('seen'); console.log(1)",
    "exit": "process.exit(3)",
    "buffer": "console.log(Buffer.from('ä→').length, Buffer.from([104, 105]).toString())",
    "tick": "process.nextTick((word) => console.log(word), 'tick')",
    "regexp": "console.log('a1b22'.replace(/\\d+/g, (word) => `<${word}>`))",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a bot's folder with modules and data of its own."""
    (tmp_path / "helper.cjs").write_text("exports.value = 7;")
    (tmp_path / "helper.mjs").write_text("export const value = 8;")
    (tmp_path / "data.json").write_text('{"a": 3}')
    return tmp_path


# Slow: the other ways.
@pytest.mark.parametrize("file", slow_except([*LOOPS][:2], LOOPS))
def test_each_way_to_read_gets_the_lines(folder: Path, file: str) -> None:
    (folder / file).write_text(FRAME.replace("BODY", "console.log(message.id)") + LOOPS[file])
    assert output_inside(folder, word=JAVASCRIPT.word, file=file)[:2] == ["1", "2"]
    assert not NODE or output_outside(folder, NODE, file) == ["1", "2"]


@pytest.mark.skipif(not NODE, reason="Node is not here to compare with")
@pytest.mark.parametrize("body", slow_except(["import", "clone", "timer"], [*BODIES]))
def test_a_bot_writes_what_it_writes_outside(folder: Path, body: str) -> None:
    (folder / "bot.js").write_text(FRAME.replace("BODY", BODIES[body]) + LOOPS["events.js"])
    sealed_lines = output_inside(folder, word=JAVASCRIPT.word, file="bot.js")
    native_lines = output_outside(folder, NODE or "", "bot.js")
    assert [line for line in sealed_lines if line[0] != "!"] == native_lines
    assert any(line[0] == "!" for line in sealed_lines) == (body == "exit")


REFUSALS = {
    "socket": ('import "node:net";', "Cannot find module 'node:net': a sealed bot has"),
    "package": ('require("lodash")', "Cannot find module 'lodash'"),
    "outside": ('require("fs").readFileSync("/etc/passwd")', "ENOENT: no such file"),
    "above": ('require("../../etc/passwd")', "Cannot find module"),
    "error": ("\n  null.x;", "at <anonymous> (/bot/bot.js:2"),
    "rejected": ("\nPromise.reject(new Error('lost'));", "at <anonymous> (/bot/bot.js:2"),
    "memory": ("const a = []; for (;;) a.push(new Uint8Array(1e7))", "out of memory"),
    "frozen": ("export {}; await 0; x = 1;", "at <anonymous> (/bot/bot.js"),
}


@pytest.mark.parametrize("case", slow_except(["socket", "package", "outside"], REFUSALS))
def test_what_a_bot_cannot_have_fails_in_words(folder: Path, case: str) -> None:
    program, words = REFUSALS[case]
    (folder / "bot.js").write_text(program)
    assert words in "\n".join(output_inside(folder, word=JAVASCRIPT.word, file="bot.js", last=9))


def test_chance_and_time_follow_from_the_seed(folder: Path) -> None:
    body = "console.log(Math.random(), Date.now(), performance.now(), process.hrtime.bigint())"
    (folder / "bot.js").write_text(FRAME.replace("BODY", body) + LOOPS["events.js"])
    lines, twin = (output_inside(folder, word=JAVASCRIPT.word, file="bot.js") for _ in range(2))
    assert lines == twin
    changed_lines = [LINES[0], GAME.replace(b"5a", b"5b"), *LINES[2:]]
    assert output_inside(folder, changed_lines, JAVASCRIPT.word, "bot.js")[0] != lines[0]


def test_modules_import_each_other(folder: Path) -> None:
    (folder / "bot.mjs").write_text(
        "#!/usr/bin/env node\n"
        'import { value } from "./helper.mjs"; import old from "./helper.cjs";\n'
        'import data from "./data.json" with { type: "json" };\n'
        'import fs, { readFileSync } from "node:fs"; import { fileURLToPath } from "node:url";\n'
        'const text = readFileSync(new URL("./data.json", import.meta.url), "utf8");\n'
        "console.log('hello'); console.log(JSON.stringify([value, old.value, data.a, text,"
        " fs.existsSync(fileURLToPath(import.meta.url))]));"
        "for await (const line of process.stdin);"
    )
    assert json.loads(output_inside(folder, word=JAVASCRIPT.word, file="bot.mjs")[0]) == [
        *(8, 7, 3, '{"a": 3}', True)
    ]
