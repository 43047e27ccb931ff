// The report: cells lead to games, games are listed. Without it everything else stands.
"use strict";

const listed = JSON.parse(document.getElementById("data").textContent);
const PAGE = 25; // Games that are listed at once.
document.documentElement.classList.add("js");

// An entrant's emblem and name, which may break between its parts.
function named(name) {
  const both = made("span", "", { class: "bot" });
  const number = listed.names.indexOf(name);
  if (number >= 0) both.append(Emblem.draw(number));
  const parts = name.match(/@?[^@+.]+[+.]?|./g).flatMap((part) => [made("wbr"), part]);
  both.append(made("bdi"));
  both.lastChild.append(...parts.slice(1));
  return both;
}

// --- cells that lead to games ---

function move(event, cells) {
  const at = cells.findIndex((row) => row.includes(event.target));
  if (at < 0) return;
  const across = cells[at].indexOf(event.target);
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  let [down, right] = [at + step[0], across + step[1]];
  // The diagonal has no games: pass over it.
  while (cells[down] && cells[down][right] === null) [down, right] = [down + step[0], right + step[1]];
  const next = cells[down] && cells[down][right];
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function leadToGames(table) {
  const rows = [...table.tBodies[0].rows];
  const names = rows.map((row) => row.querySelector("bdi").textContent);
  const cells = rows.map((row, down) =>
    [...row.querySelectorAll("td")].map((cell, right) => {
      if (cell.classList.contains("self") || cell.firstChild.textContent === "·") return null;
      const button = made("button", "", { type: "button", tabindex: "-1" });
      button.append(...cell.childNodes);
      button.addEventListener("click", () => go(names[down], names[right]));
      cell.append(button);
      return button;
    }),
  );
  const first = cells.flat().find((cell) => cell);
  if (first) first.tabIndex = 0;
  table.addEventListener("keydown", (event) => move(event, cells));
}

document.querySelectorAll("table.matrix").forEach(leadToGames);

// --- the list of games ---

const { names, seats, whys, fouls } = listed;

// A game by its numbers; see tournaments/report/page.py.
function told(row) {
  const board = row[0];
  const part = (n) => row.slice(1 + n * seats, 1 + (n + 1) * seats);
  const rest = 1 + 3 * seats;
  const fouled = [];
  for (let at = rest + 2; at < row.length; at += 2) fouled.push([row[at], fouls[row[at + 1]]]);
  const who = part(0).map((one) => names[one]);
  const name = [board, ...who].join(".");
  const [scores, places] = [part(1), part(2)];
  const href = listed.replay + encodeURIComponent(name);
  const [rounds, why] = [row[rest], row[rest + 1]];
  const course = listed.rounds[listed.games.indexOf(row)];
  const ended = { why: whys[why], reason: listed.reasons[why] };
  return { name, board, who, scores, places, rounds, course, ...ended, fouled, href };
}

const has = (row, one) => row.slice(1, 1 + seats).includes(one);
const wish = { who: ["", ""], fouled: false, from: 0 };

function wanted() {
  const ids = wish.who.filter((name) => name).map((name) => names.indexOf(name));
  const rest = 1 + 3 * seats + 2;
  return listed.games.filter((row) => ids.every((id) => has(row, id)) && (!wish.fouled || row.length > rest));
}

function copier(command) {
  const button = made("button", "copy", { type: "button", class: "plain", "aria-label": `copy: ${command}` });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
    }
  });
  return button;
}

// --- why a game was lost, in the words of `boneyard explain` ---

const filled = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

// Each round with its seats' points and, for one seat, its gain on the best other side.
function roundsOf(game, seat) {
  const rivals = game.who.map((_, at) => at).filter((at) => (listed.partners ? (at - seat) % 2 : at !== seat));
  const lead = (numbers) => numbers[seat] - Math.max(...rivals.map((at) => numbers[at]));
  const course = [];
  for (let at = 0; at < game.course.length; at += seats + 1) {
    const scores = game.course.slice(at + 1, at + 1 + seats);
    const gains = scores.map((score, one) => score - (course.length ? course.at(-1).scores[one] : 0));
    course.push({ blocked: game.course[at] === 1, scores, gains, swing: lead(gains), ahead: lead(scores) });
  }
  return course;
}

function turning(course) {
  const { cost, lead, tied, since, always } = listed.sentences;
  const worst = course.reduce((one, other) => (other.swing < one.swing ? other : one));
  const ended = worst.blocked ? ", blocked" : "";
  const dear = { round: course.indexOf(worst) + 1, points: -worst.swing, ended };
  const said = worst.swing < 0 ? [filled(cost, dear)] : [];
  const last = Math.sign(course.at(-1).ahead);
  if (!last) return [...said, tied];
  const round = course.findLastIndex((one) => Math.sign(one.ahead) !== last) + 2;
  const from = round > 1 ? filled(since, { round }) : always;
  return [...said, filled(lead, { where: last > 0 ? "ahead" : "behind", since: from })];
}

function explained(game) {
  const seat = game.places.indexOf(Math.max(...game.places));
  const side = listed.partners ? listed.sentences.side : "";
  const about = { place: game.places[seat], points: game.scores[seat], side, why: game.reason };
  const course = roundsOf(game, seat);
  const head = made("p");
  head.append(named(game.who[seat]), ` in seat ${seat}: ${filled(listed.sentences.place, about)}`);
  const said = course.length ? turning(course) : [];
  return [head, ...said.map((text) => made("p", text)), ...(course.length ? [roundTable(game, course)] : [])];
}

function roundTable(game, course) {
  const parties = SIDES.length ? SIDES : game.who.map((_, seat) => [seat]);
  const table = made("table");
  const top = made("tr");
  top.append(made("th", "round", { scope: "col", class: "n" }), made("th", "end", { scope: "col" }));
  for (const party of parties) {
    const cell = made("th", "", { scope: "col", class: "n" });
    cell.append(...party.flatMap((seat, at) => (at ? [" + ", named(game.who[seat])] : [named(game.who[seat])])));
    top.append(cell);
  }
  const rows = course.map((one, at) => {
    const row = made("tr");
    row.append(made("td", at + 1, { class: "n" }), made("td", one.blocked ? "blocked" : "out"));
    const gain = (seat) => (one.gains[seat] > 0 ? `+${one.gains[seat]} ` : "");
    const points = parties.map(([seat]) => `${gain(seat)}${one.scores[seat]}`);
    row.append(...points.map((text) => made("td", text.replaceAll("-", "−"), { class: "n" })));
    return row;
  });
  table.append(made("caption", `Rounds of ${game.name}`, { class: "hide" }), made("thead"), made("tbody"));
  table.tHead.append(top);
  table.tBodies[0].append(...rows);
  return table;
}

function why(game, row) {
  const next = row.nextElementSibling;
  if (next && next.classList.contains("why")) {
    next.remove();
    return false;
  }
  const cell = made("td", "", { colspan: row.cells.length });
  cell.append(...explained(game));
  const below = made("tr", "", { class: "why" });
  below.append(cell);
  row.after(below);
  return true;
}

function links(game, row) {
  const cell = made("td", "", { class: "links" });
  const replay = made("a", "replay", { href: game.href, "aria-label": `replay ${game.name}` });
  const button = made("button", "why?", { type: "button", class: "plain", "aria-expanded": "false" });
  button.setAttribute("aria-label", `why ${game.name} was lost`);
  button.addEventListener("click", () => button.setAttribute("aria-expanded", why(game, row)));
  cell.append(replay, " ", button);
  return cell;
}

const points = (number) => `${number}`.replace("-", "−");
// The seats of the two sides; a table of three or more for themselves has none.
const SIDES = listed.partners ? [[0, 2], [1, 3]] : seats === 2 ? [[0], [1]] : [];

function sideCell(game, side) {
  const cell = made("td", "", { class: game.places[side[0]] === 1 ? "first" : "" });
  side.forEach((seat, at) => cell.append(...(at ? [" + "] : []), named(game.who[seat])));
  return cell;
}

// The result as 105 – 59 between the sides, or each seat's points beside its name.
function resultCells(game) {
  const cells = (SIDES.length ? SIDES : game.who.map((_, seat) => [seat])).map((side) => sideCell(game, side));
  if (!SIDES.length) cells.forEach((cell, seat) => cell.append(` ${points(game.scores[seat])}`));
  if (!SIDES.length) return cells;
  const scores = SIDES.map(([seat]) => points(game.scores[seat]));
  return [cells[0], made("td", scores.join(" – "), { class: "result" }), cells[1]];
}

function line(game) {
  const row = made("tr");
  row.append(made("td", game.board, { class: "n" }), ...resultCells(game));
  row.append(made("td", game.rounds, { class: "n rounds" }));
  const fouled = game.fouled.map(([seat, foul]) => `${game.who[seat]}: ${foul}`).join(", ");
  const ended = made("td", fouled ? "" : game.why.replace("_", " "), { class: "ended" });
  if (fouled) ended.append(made("a", fouled, { href: `${game.href}&at=foul` }));
  row.append(ended, links(game, row));
  return row;
}

function head() {
  const row = made("tr");
  const sides = listed.partners ? ["seats 0 and 2", "result", "seats 1 and 3"] : ["seat 0", "result", "seat 1"];
  const columns = SIDES.length ? sides : Array.from({ length: seats }, (_, seat) => `seat ${seat}`);
  const kinds = { board: "n", result: "result", rounds: "n rounds", "ended by": "ended" };
  for (const text of ["board", ...columns, "rounds", "ended by", "look"]) {
    row.append(made("th", text, { scope: "col", class: kinds[text] || "" }));
  }
  return row;
}

function turn(label, from, enabled) {
  const button = made("button", label, { type: "button" });
  button.disabled = !enabled;
  button.addEventListener("click", () => {
    wish.from = from;
    show();
  });
  return button;
}

const body = made("tbody");
const pager = made("div", "", { class: "turn" });
const count = made("p", "", { role: "status" });
const total = made("p", "", { class: "total" });
const choosers = [0, 1].map((at) => chooser(at));
const onlyFouls = made("input", "", { type: "checkbox" });

function chooser(at) {
  const select = made("select");
  select.append(made("option", at ? "anybody" : "everybody", { value: "" }));
  select.append(...[...names].sort().map((name) => made("option", name, { value: name })));
  select.addEventListener("change", () => go(...choosers.map((one) => one.value)));
  return select;
}

function show() {
  const found = wanted();
  const last = Math.min(wish.from + PAGE, found.length);
  const of = wish.who.filter((name) => name).join(" and ");
  count.textContent = `${found.length} ${found.length === 1 ? "game" : "games"}${of ? ` of ${of}` : ""}${
    found.length > PAGE ? `, ${wish.from + 1} to ${last}` : ""
  }`;
  total.textContent = totalLine(...wish.who.filter((name) => name));
  body.replaceChildren(...found.slice(wish.from, last).map((row) => line(told(row))));
  pager.replaceChildren(
    turn("first", 0, wish.from > 0),
    turn("previous", Math.max(0, wish.from - PAGE), wish.from > 0),
    turn("next", wish.from + PAGE, last < found.length),
    turn("last", Math.floor(Math.max(0, found.length - 1) / PAGE) * PAGE, last < found.length),
  );
  pager.hidden = found.length <= PAGE;
}

function go(...who) {
  const chosen = who.filter((name) => name).map(encodeURIComponent);
  location.hash = ["#games", ...chosen].join("/");
}

// The address names a part of the page, or whose games are listed: it can be sent to somebody.
function arrive() {
  const part = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part) unfold(part).scrollIntoView();
  // A bot for whose part there is no room has its games.
  if (part || !/^#(games|bot)(\/|$)/.test(location.hash)) return;
  const [, ...who] = location.hash.split("/").map(decodeURIComponent);
  wish.who = [0, 1].map((at) => (names.includes(who[at]) ? who[at] : ""));
  wish.from = 0;
  choosers.forEach((select, at) => (select.value = wish.who[at]));
  show();
  const title = document.querySelector("#games h2");
  title.focus({ preventScroll: true });
  title.scrollIntoView();
}

function build() {
  const form = made("form");
  ["Games of", "with"].forEach((text, at) => {
    const label = made("label");
    label.append(made("span", text), choosers[at]);
    form.append(label);
  });
  const label = made("label");
  label.append(onlyFouls, "only with fouls");
  form.append(label);
  onlyFouls.addEventListener("change", () => {
    Object.assign(wish, { fouled: onlyFouls.checked, from: 0 });
    show();
  });
  const top = made("thead");
  top.append(head());
  const table = made("table");
  table.append(made("caption", "Games", { class: "hide" }), top, body);
  const frame = made("div", "", { class: "scroll", role: "region", "aria-label": "Games", tabindex: "0" });
  frame.append(table);
  document.getElementById("list").append(form, count, total, frame, pager);
  show();
}

build();
document.querySelectorAll("[data-bot]").forEach(fillOnce);
arrive();
addEventListener("hashchange", arrive);
for (const command of document.querySelectorAll(".evidence .command")) {
  command.append(copier(command.textContent));
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
