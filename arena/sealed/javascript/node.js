// Node's names for a sealed bot: those that a bot reads, writes, waits and looks up its files with.
//
// `start.c` evaluates it in each game, gives it the host's functions, and calls what it returns.
// It runs inside, beside the bot, and guards nothing: the bot may change all of it.

(function (host) {
  const HOME = "/bot";
  // Lines of a traceback that a bot's author did not write.
  const OUR_CALLS = /( +at (run|call) \(native\)\n)? +at .*\(lib\/node\.js.*\n?/g;
  const why = "a sealed bot has its own files and a few of Node's modules";

  // --- texts, bytes and paths ---

  class Buffer extends Uint8Array {
    static from(value) {
      return typeof value === "string" ? new Buffer(host.bytesOf(value)) : super.from(value);
    }
    toString() {
      return host.textOf(this.buffer.slice(this.byteOffset, this.byteOffset + this.byteLength));
    }
  }

  const toText = (value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : `${value}`);

  function normalize(path) {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  const path = {
    sep: "/",
    join: (...parts) => parts.filter(Boolean).join("/").replace(/\/+/g, "/") || ".",
    resolve: (...parts) =>
      normalize(parts.reduce((left, right) => (right[0] === "/" ? right : `${left}/${right}`), HOME)),
    dirname: (name) => name.replace(/\/?[^/]*\/*$/, "") || (name[0] === "/" ? "/" : "."),
    basename: (name, end = "") => name.replace(/\/+$/, "").replace(/.*\//, "").replace(end, ""),
    extname: (name) => /[^/](\.[^./]*)$/.exec(name)?.[1] ?? "",
  };

  class URL {
    constructor(name, base = "file:///") {
      const home = path.dirname(`${base}`.replace(/^file:\/\//, ""));
      const word = `${name}`.replace(/^file:\/\//, "");
      this.pathname = normalize(word[0] === "/" ? word : `${home}/${word}`);
      this.href = `file://${this.pathname}`;
    }
    toString() {
      return this.href;
    }
  }

  const pathOf = (name) => path.resolve(`${name}`.replace(/^file:\/\//, ""));

  function inspect(value) {
    if (value instanceof Error) return `${value}\n${value.stack.replace(OUR_CALLS, "")}`.trimEnd();
    if (typeof value !== "object" || value === null) return String(value);
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  }

  const format = (...values) => values.map(inspect).join(" ");

  function structuredClone(value, copies = new Map()) {
    if (typeof value === "function") throw new Error("A function cannot be cloned.");
    if (typeof value !== "object" || value === null) return value;
    if (copies.has(value)) return copies.get(value);
    if (ArrayBuffer.isView(value) || value instanceof Date) return new value.constructor(value);
    if (value instanceof ArrayBuffer) return value.slice(0);
    const copyOf = (part) => structuredClone(part, copies);
    const copy = Array.isArray(value) ? [] : value instanceof Map ? new Map() : value instanceof Set ? new Set() : {};
    copies.set(value, copy);
    if (value instanceof Map) value.forEach((part, key) => copy.set(copyOf(key), copyOf(part)));
    else if (value instanceof Set) value.forEach((part) => copy.add(copyOf(part)));
    else for (const key of Object.keys(value)) copy[key] = copyOf(value[key]);
    return copy;
  }

  // --- events and timers ---

  class EventEmitter {
    #listeners = {};
    on(name, listener) {
      (this.#listeners[name] ??= []).push(listener);
      return this;
    }
    once(name, listener) {
      const call = (...values) => {
        this.off(name, call);
        listener.apply(this, values);
      };
      return this.on(name, call);
    }
    off(name, listener) {
      this.#listeners[name] = (this.#listeners[name] ?? []).filter((other) => other !== listener);
      return this;
    }
    emit(name, ...values) {
      const listeners = [...(this.#listeners[name] ?? [])];
      for (const listener of listeners) listener.apply(this, values);
      return listeners.length > 0;
    }
    listenerCount(name) {
      return this.#listeners[name]?.length ?? 0;
    }
  }
  EventEmitter.prototype.addListener = EventEmitter.prototype.on;
  EventEmitter.prototype.removeListener = EventEmitter.prototype.off;
  EventEmitter.EventEmitter = EventEmitter;

  const timers = new Map();
  let timersSet = 0;

  function setTimeout(call, ms = 0, ...values) {
    timersSet += 1;
    timers.set(timersSet, { due: host.now() + Math.max(ms, 0) * 1e6 || 0, call, values });
    return timersSet;
  }

  function runTimer() {
    const [id, timer] = [...timers].reduce((left, right) => (right[1].due < left[1].due ? right : left));
    timers.delete(id);
    host.sleep(Math.max(0, timer.due - host.now()));
    timer.call(...timer.values);
  }

  // --- stdin and stdout ---

  class Stdin extends EventEmitter {
    fd = 0;
    isOver = false;
    waiting = [];
    setEncoding = () => this;
    resume = () => this;
    pause = () => this;
    ref = () => this;
    unref = () => this;
    isRead() {
      return !this.isOver && (this.waiting.length > 0 || this.listenerCount("data") > 0);
    }
    // Reads one line and hands it to whoever waits; the end is an empty text.
    read() {
      const line = host.readLine();
      this.isOver = !line;
      this.waiting.splice(0).forEach((resolve) => resolve(line));
      if (line) this.emit("data", line);
      else this.emit("end") | this.emit("close");
    }
    async *[Symbol.asyncIterator]() {
      while (!this.isOver) {
        const line = await new Promise((resolve) => this.waiting.push(resolve));
        if (line) yield line;
      }
    }
  }

  function output(fd) {
    const write = (data, ...rest) => {
      host.writeText(fd, toText(data));
      const done = rest.at(-1);
      if (typeof done === "function") queueMicrotask(done);
      return true;
    };
    return Object.assign(new EventEmitter(), { fd, write, end: (data = "") => write(data) });
  }

  const [stdin, stdout, stderr] = [new Stdin(), output(1), output(2)];
  const withoutEnd = (line) => line.replace(/\r?\n$/, "");

  class Interface extends EventEmitter {
    #take = (line) => this.emit("line", withoutEnd(line));
    on(name, listener) {
      if (name === "line" && !this.listenerCount("line")) stdin.on("data", this.#take);
      if (name === "close") stdin.on("end", listener);
      return super.on(name, listener);
    }
    question(text, ...rest) {
      stdout.write(text);
      const line = new Promise((resolve) => stdin.waiting.push(resolve)).then(withoutEnd);
      return rest.length ? void line.then(rest.at(-1)) : line;
    }
    close() {
      stdin.off("data", this.#take);
    }
    async *[Symbol.asyncIterator]() {
      for await (const line of stdin) yield withoutEnd(line);
    }
  }

  // --- modules ---

  function readFileSync(name, options) {
    const bytes = host.readFile(pathOf(name).slice(1));
    if (!bytes) throw Object.assign(new Error(`ENOENT: no such file, open '${name}'`), { code: "ENOENT" });
    return options ? host.textOf(bytes) : new Buffer(bytes);
  }

  let unread = new Uint8Array();

  function readSync(fd, buffer, offset = 0, length = buffer.length - offset) {
    if (!unread.length) unread = Buffer.from(host.readLine());
    const piece = unread.subarray(0, length);
    buffer.set(piece, offset);
    unread = unread.subarray(piece.length);
    return piece.length;
  }

  const exit = (status) => {
    process.exitCode = status ?? process.exitCode;
    process.emit("exit", process.exitCode ?? 0);
    host.exit(process.exitCode ?? 0);
  };
  const performance = { now: () => host.now() / 1e6, timeOrigin: 0 };
  const hrtime = () => [Math.floor(host.now() / 1e9), host.now() % 1e9];
  hrtime.bigint = () => BigInt(host.now());
  const createInterface = () => new Interface();
  const readline = { createInterface, Interface };
  const fs = {
    readFileSync,
    readSync,
    writeSync: (fd, data) => void host.writeText(fd, toText(data)),
    existsSync: (name) => host.readFile(pathOf(name).slice(1)) !== undefined,
  };
  const process = Object.assign(new EventEmitter(), {
    ...{ stdin, stdout, stderr, exit, hrtime, argv: ["node"], execArgv: [], env: {}, pid: 1, platform: "wasi" },
    version: "quickjs",
    versions: { quickjs: "2025-04-26" },
    cwd: () => HOME,
    uptime: () => host.now() / 1e9,
    nextTick: (call, ...values) => queueMicrotask(() => call(...values)),
    getBuiltinModule: (name) => builtins[name.replace(/^node:/, "")],
  });
  const builtins = {
    fs,
    path,
    process,
    readline,
    buffer: { Buffer },
    events: EventEmitter,
    "fs/promises": { readFile: async (...words) => readFileSync(...words) },
    os: { EOL: "\n" },
    perf_hooks: { performance },
    "readline/promises": readline,
    "timers/promises": { setTimeout: (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value)) },
    url: { URL, fileURLToPath: pathOf, pathToFileURL: (name) => new URL(path.resolve(name)) },
    util: { format, inspect },
  };
  const CANDIDATES = ["", ".js", ".mjs", ".cjs", ".json", "/index.js"];

  // The file, or `node:` and the name, that a module means by a name.
  function resolve(name, base) {
    const word = name.replace(/^node:/, "");
    if (Object.hasOwn(builtins, word)) return `node:${word}`;
    const place = /^(file:|[./])/.test(name) ? pathOf(name[0] === "." ? `${path.dirname(base)}/${name}` : name) : "";
    const end = place && CANDIDATES.find((ending) => host.readFile((place + ending).slice(1)));
    if (!place || end === undefined) throw new Error(`Cannot find module '${name}': ${why}`);
    return place + end;
  }

  const isModule = (file, text) =>
    file.endsWith(".mjs") || (!file.endsWith(".cjs") && /^\s*(import\b(?!\s*\()|export\b)/m.test(text));

  const readProgram = (file) => readFileSync(file, "utf8").replace(/^#!.*/, "");
  const loaded = {};

  function require(name, base) {
    const file = resolve(name, base);
    if (file.startsWith("node:")) return process.getBuiltinModule(file);
    const text = readProgram(file);
    if (file.endsWith(".json")) return JSON.parse(text);
    if (!loaded[file]) {
      const module = (loaded[file] = { exports: {} });
      const call = host.run(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, file, false);
      call.call(module.exports, module.exports, (word) => require(word, file), module, file, path.dirname(file));
    }
    return loaded[file].exports;
  }

  // The text of a module that is imported.
  function source(file) {
    const isOurs = file.startsWith("node:");
    const text = isOurs ? "" : readProgram(file);
    if (!isOurs && !file.endsWith(".json") && isModule(file, text)) return moduleText(file, text);
    globalThis[Symbol.for("require")] = require;
    const names = isOurs ? Object.keys(builtins[file.slice(5)]).filter((name) => /^\w+$/.test(name)) : [];
    const exports = names.map((name) => `export const ${name} = it.${name};`).join("");
    return `const it = globalThis[Symbol.for("require")](${JSON.stringify(file)});export default it;${exports}`;
  }

  // The text of a file as QuickJS takes a module: import.meta is set on the first line, so that no
  // number of a line changes; of import attributes it knows nothing, and there is one kind to import.
  function moduleText(file, text) {
    const meta = JSON.stringify({ url: `file://${file}`, filename: file, dirname: path.dirname(file) });
    return `Object.assign(import.meta,${meta});${text.replace(/(from\s*["'][^"']*["'])\s*with\s*\{[^}]*\}/g, "$1")}`;
  }

  const print = (stream) => (...values) => stream.write(`${format(...values)}\n`);
  const [log, error] = [print(stdout), print(stderr)];
  Object.assign(globalThis, {
    ...{ process, Buffer, URL, performance, structuredClone, setTimeout, global: globalThis },
    console: { log, info: log, debug: log, error, warn: error, trace: error },
    clearTimeout: (id) => void timers.delete(id),
    setImmediate: (call, ...values) => setTimeout(call, 0, ...values),
    clearImmediate: (id) => void timers.delete(id),
    queueMicrotask: (call) => void Promise.resolve().then(call),
  });

  return {
    begin(words) {
      const file = pathOf(words[0]);
      process.argv.push(file, ...words.slice(1));
      const text = readProgram(file);
      if (isModule(file, text)) host.run(moduleText(file, text), file, true);
      else require(file, file);
    },
    // Runs what is due, or reads a line; false once nothing is waited for.
    step() {
      if (timers.size) runTimer();
      else if (stdin.isRead()) stdin.read();
      else if (process.exitCode !== undefined) exit();
      else return false;
      return true;
    },
    resolve,
    source,
    describe: (value) => `Uncaught ${inspect(value)}\n`,
  };
});
