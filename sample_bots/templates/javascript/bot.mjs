// my-bot: a bot for draw dominoes. Your idea goes into `choose`.

import { createInterface } from "node:readline";

// The index of the option that the bot takes. It may think for ask.time_ms milliseconds.
// `ask` is all that you may know: your `hand`, the `line` and its open `ends`, how many tiles the
// other `hands` hold, what happened in `events`. The fields are explained in SPEC.md.
function choose(ask) {
  const weights = ask.options.map(weight);
  return weights.indexOf(Math.max(...weights)); // the heaviest play; the first option if none
}

// The pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less.
function weight(option) {
  switch (option.do) {
    case "play":
      return pips(option.tile);
    case "play_two":
      return pips(option.left) + pips(option.right);
    default:
      return -1;
  }
}

function pips([high, low]) {
  return high + low;
}

// The index of the option that plays a tile, either way round, at an end; -1 if there is none.
function indexOf(ask, tile, end) {
  const same = (option) => option.tile.includes(tile[0]) && pips(option.tile) === pips(tile);
  return ask.options.findIndex(
    (option) => option.do === "play" && same(option) && (!end || option.end === end),
  );
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

// The referee writes one JSON object a line. Two of them want an answer, the others are news.
// Write nothing else to stdout: to look inside the bot, use console.error.
// An answer may also have "info": {"value": 1.5}: replays chart such numbers.
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    say({ type: "hello", name: "my-bot", version: "1" });
  } else if (message.type === "ask") {
    say({ type: "choose", id: message.id, choice: choose(message) });
  } else if (message.type === "bye") {
    break;
  }
}
