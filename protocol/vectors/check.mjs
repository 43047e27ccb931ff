// Follows the games of vectors from their deals and events alone: node check.mjs *.jsonl
//
// Hands, line and boneyard are kept by a few lines that share nothing with Boneyard; each turn's
// plays, and each round's hands and pips, are compared with them. Replace them by your engine.

import { readFileSync } from "node:fs";

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const key = ([a, b]) => `${Math.max(a, b)}-${Math.min(a, b)}`;
const sorted = (tiles) => tiles.map(key).sort();
let turns = 0, faults = 0;

function playsOf(hand, line, two) {
  const ends = [line[0][0], line.at(-1)[1]];
  const fits = (tile, end) => tile.includes(ends[end]);
  const plays = new Set();
  for (const tile of hand) {
    if (!two && fits(tile, 0)) plays.add(`${key(tile)} left`);
    if (!two && fits(tile, 1) && ends[0] !== ends[1]) plays.add(`${key(tile)} right`);
    for (const other of two ? hand : []) {
      const twice = ends[0] === ends[1] && plays.has(`${key(other)} ${key(tile)}`);
      if (other !== tile && fits(tile, 0) && fits(other, 1) && !twice) plays.add(`${key(tile)} ${key(other)}`);
    }
  }
  return [...plays].sort();
}

const spelled = ({ tile, end, left, right }) => (tile ? `${key(tile)} ${end}` : `${key(left)} ${key(right)}`);

function happens({ do: what, seat, tile, end }, now) {
  if (what === "turn_up" || end === "lead") now.line = [tile];
  else if (end === "left") now.line.unshift(tile);
  else if (end === "right") now.line.push(tile);
  const without = (tiles) => tiles.filter((one) => key(one) !== key(tile));
  if (what === "play") now.hands[seat] = without(now.hands[seat]);
  if (what === "draw") now.hands[seat].push(tile);
  if (what === "draw" || what === "turn_up") now.stock = without(now.stock);
}

for (const path of process.argv.slice(2).filter((path) => !path.endsWith(".talk.jsonl"))) {
  const now = {};
  const check = (right, line) => right || (faults++, console.log(`${path}: ${JSON.stringify(line)}`));
  for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean).map(JSON.parse)) {
    if (line.type === "game") now.rules = line.rules;
    if (line.type === "deal") Object.assign(now, { hands: line.hands, stock: line.stock.flat(), line: [] });
    if (line.type === "turn") {
      const plays = line.options.filter((option) => option.do.startsWith("play"));
      if (plays.length && now.line.length)
        check(same(plays.map(spelled).sort(), playsOf(now.hands[line.seat], now.line, plays[0].do === "play_two")), line);
      turns++;
    }
    if (line.type === "round") {
      const pips = ([a, b]) => a + b || now.rules.score.double_blank;
      check(same(line.hands.map(sorted), now.hands.map(sorted)), line);
      check(same(line.pips, line.hands.map((hand) => hand.reduce((sum, tile) => sum + pips(tile), 0))), line);
    }
    for (const event of line.events ?? []) happens(event, now);
  }
}
console.log(`${turns} turns, ${faults} faults.`);
process.exit(faults ? 1 : 0);
