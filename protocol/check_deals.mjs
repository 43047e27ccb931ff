// Checks the deals of an event as DEALS.md describes them, with nothing but node's own crypto:
//   node check_deals.mjs commitments.jsonl seeds.jsonl games
// Logs that are packed (.zst) take node 22.15, or the program `zstd`.
// Checked: every seed against its commitment, every game's commitment against the published one,
// every hand and every boneyard against the seed, every game's number. Not checked: who leads, the lots drawn for it,
// and how the tiles are played; `boneyard verify` replays all that.
import { createHash, createHmac } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import * as zlib from "node:zlib";

function* words(seed, label) {
  for (let counter = 0; ; counter++) {
    const digest = createHmac("sha256", seed.subarray(0, 32)).update(`boneyard words 1|${label}|${counter}`).digest();
    for (let at = 0; at < 32; at += 4) yield digest.readUInt32BE(at);
  }
}

function below(stream, n) {
  for (;;) {
    const word = stream.next().value;
    if (word < 2 ** 32 - (2 ** 32 % n)) return word % n;
  }
}

function dealt(seed, record, { deal, boneyard }, seats) {
  const tiles = [];
  for (let high = 0; high <= deal.highest_pip; high++)
    for (let low = 0; low < high + deal.doubles; low++) tiles.push([high, low]);
  const set = [...tiles];
  const purpose = record.deal === 1 ? "tiles" : `tiles ${record.deal}`;
  const stream = words(seed, `${record.round}|${purpose}`);
  for (let last = tiles.length - 1; last > 0; last--) {
    const chosen = below(stream, last + 1);
    [tiles[last], tiles[chosen]] = [tiles[chosen], tiles[last]];
  }
  // Tiles that the organiser set follow the seed's 32 bytes, a round after the other; 255 is drawn.
  const from = 32 + (record.round - 1) * tiles.length;
  const places = record.deal === 1 ? [...seed.subarray(from, from + tiles.length)] : [];
  const drawn = tiles.filter((tile) => !places.some((place) => `${set[place]}` === `${tile}`));
  places.forEach((place, index) => { tiles[index] = place === 255 ? drawn.shift() : set[place]; });
  const { two, three, four, five = four, six = four, seven = four, eight = four } = deal.hand;
  const bySeats = [two, three, four, five, six, seven, eight][seats - 2];
  const size = deal.hand === "eight_minus_seats" ? 8 - seats : bySeats ?? deal.hand;
  const hands = record.hands.map((_, seat) => tiles.slice(seat * size, (seat + 1) * size));
  const rest = tiles.slice(seats * size), rows = boneyard.order === "row" ? 1 : (seats + 1) >> 1;
  const cut = (row) => Math.floor((rest.length * row) / rows);
  const stock = Array.from({ length: rows }, (_, row) => rest.slice(cut(row), cut(row + 1)));
  return { hands, stock };
}

function numbered({ boards, seats }, seeds) {
  const numbers = new Map(), taken = new Set();
  for (const board of boards) {
    if (!seeds.has(board)) break;
    const stream = words(seeds.get(board), `0|number ${board}.${seats.join(".")}`);
    let number;
    do number = 1 + below(stream, 2000); while (taken.has(number));
    numbers.set(board, number);
    taken.add(number);
  }
  return numbers;
}

const unpacked = zlib.zstdDecompressSync ??
  ((input) => execFileSync("zstd", ["-dc"], { input, maxBuffer: 2 ** 30 }));
const content = (path) => (path.endsWith(".zst") ? unpacked : (data) => data)(readFileSync(path)).toString();
const files = (path) => statSync(path).isDirectory() ? readdirSync(path).sort().map((name) => `${path}/${name}`) : [path];

const commitments = new Map(), seeds = new Map(), games = [];
for (const path of process.argv.slice(2).flatMap(files)) {
  let sitting;
  for (const line of content(path).split("\n").filter(Boolean)) {
    const record = JSON.parse(line);
    if (record.type === "sitting") sitting = record;
    else if (record.type === "game") games.push({ path, sitting, ...record, deals: [] });
    else if (record.type === "deal" && record.deal > 0) games.at(-1).deals.push(record);
    else if (record.seed) seeds.set(record.board, Buffer.from(record.seed, "hex"));
    else if (record.board && !record.type) commitments.set(record.board, record.sha256);
  }
}

let deals = 0, waiting = 0, faults = 0;
const fault = (text) => console.log(text, ++faults && "");
for (const [board, seed] of seeds) {
  const promised = createHash("sha256").update("boneyard commitment 1|").update(seed).digest("hex");
  if (commitments.get(board) !== promised) fault(`board ${board}: the seed is not what was committed to`);
}
for (const { path, sitting, game, board, number, commitment, deals: dealings } of games) {
  const due = numbered(sitting, seeds).get(board);
  if (due && number !== due) fault(`${path}: ${game}: number ${number}, but ${due} follows from the seeds`);
  if (commitments.get(board) !== commitment) fault(`${path}: ${game}: has a different commitment from the published one`);
  let before = { round: 0, deal: 0 };
  for (const record of seeds.has(board) ? dealings : []) {
    const first = sitting.position && !before.round ? record.round : before.round + 1;
    const next = record.deal === 1 ? first : before.round;
    if (record.round !== next || (record.deal > 1 && record.deal !== before.deal + 1))
      fault(`${path}: ${game}: round ${record.round}, deal ${record.deal} is out of order`);
    before = record;
    // A position's tiles fit its passes; a shuffle alone does not make them.
    if (sitting.position && record.round === dealings[0].round) {
      before = record;
      continue;
    }
    const { hands, stock } = dealt(seeds.get(board), record, sitting.rules, sitting.seats.length);
    deals++;
    if (JSON.stringify([hands, stock]) !== JSON.stringify([record.hands, record.stock]))
      fault(`${path}: ${game}: round ${record.round}, deal ${record.deal} is not what the seed deals`);
  }
  waiting += !seeds.has(board);
}
console.log(`${games.length} games, ${deals} deals recomputed, ${waiting} games wait for their seeds, ${faults} faults.`);
process.exit(faults ? 1 : 0);
