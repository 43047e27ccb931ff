// A worker, a child process, files, compiled code, and memory that comes and goes.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync, readFileSync, copyFileSync, utimesSync, rmSync } from "node:fs";
import { Worker } from "node:worker_threads";

let kept = 0;
for (let round = 0; round < 60; round++) {
  const waste = [];
  for (let i = 0; i < 40000; i++) waste.push({ i, text: "x" + i });
  kept += waste.length;
}
if (execFileSync("echo", ["x"]).toString() !== "x\n") throw new Error("child");
const folder = mkdtempSync("/tmp/work-");
writeFileSync(folder + "/one", "x");
copyFileSync(folder + "/one", folder + "/two");
utimesSync(folder + "/two", 1, 1);  // As copyFile does from Node 22 on.
if (readFileSync(folder + "/two", "utf8") !== "x") throw new Error("file");
rmSync(folder, { recursive: true });
const worker = new Worker("require('worker_threads').parentPort.postMessage(7)", { eval: true });
const said = await new Promise((resolve) => worker.on("message", resolve));
const child = spawn("cat");
child.stdin.end("y");
const heard = await new Promise((resolve) => child.stdout.on("data", resolve));
if (said !== 7 || heard.toString() !== "y" || kept !== 2400000) throw new Error("talk");
console.log("done");
