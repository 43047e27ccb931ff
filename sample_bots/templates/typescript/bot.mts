// my-bot: a bot for draw dominoes. Your idea goes into `choose`.
//
// Node runs this file as it is and only leaves out the types (so no `enum`, and `import type` for
// types). An editor checks them; so does `npx tsc --noEmit bot.mts`, with @types/node installed.

import { createInterface } from "node:readline";

type Tile = [number, number]; // in your hand [high, low], in the line [left, right]

// Options of other kinds (draw, pass, bid and more) stand in SPEC.md.
type Option =
  | { do: "play"; tile: Tile; end: "left" | "right" | "lead" }
  | { do: "play_two"; left: Tile; right: Tile }
  | { do: "other" };

// All that you may know: this, and the rest of what SPEC.md lists under `ask`.
interface Ask {
  type: "ask";
  id: number;
  time_ms: number; // how long you may think
  hand: Tile[];
  line: Tile[];
  ends: number[]; // the pips to match, left then right; empty before the first tile
  hands: number[]; // how many tiles each seat holds
  options: Option[];
}

type Message = { type: "hello" } | { type: "bye" } | Ask;

// The index of the option that the bot takes.
function choose(ask: Ask): number {
  const weights = ask.options.map(weight);
  return weights.indexOf(Math.max(...weights)); // the heaviest play; the first option if none
}

// The pips that an option plays; whatever plays nothing weighs less.
function weight(option: Option): number {
  switch (option.do) {
    case "play":
      return pips(option.tile);
    case "play_two":
      return pips(option.left) + pips(option.right);
    default:
      return -1;
  }
}

function pips([high, low]: Tile): number {
  return high + low;
}

function say(message: object): void {
  process.stdout.write(JSON.stringify(message) + "\n");
}

// The referee writes one JSON object a line. Two of them want an answer, the others are news.
// Write nothing else to stdout: to look inside the bot, use console.error.
// An answer may also have "info": {"value": 1.5}: replays chart such numbers.
for await (const line of createInterface({ input: process.stdin })) {
  const message: Message = JSON.parse(line);
  if (message.type === "hello") {
    say({ type: "hello", name: "my-bot", version: "1" });
  } else if (message.type === "ask") {
    say({ type: "choose", id: message.id, choice: choose(message) });
  } else if (message.type === "bye") {
    break;
  }
}
