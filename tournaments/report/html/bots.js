// What the listed games say of one bot and of one pairing: totals, worst losses, fouls.
const WORST = 5; // Losses that are listed.
const FOULS = 10; // Fouls that are listed.

const rivals = (seat, other) => (listed.partners ? (seat - other) % 2 !== 0 : seat !== other);

class Total {
  games = 0;
  won = 0;
  drawn = 0;
  own = 0;
  theirs = 0;

  add(ahead, own, theirs) {
    this.games += 1;
    this.won += ahead > 0;
    this.drawn += ahead === 0;
    this.own += own;
    this.theirs += theirs;
  }

  get record() {
    return [this.won, this.drawn, this.games - this.won - this.drawn];
  }

  get win() {
    if (!this.games) return "·";
    // A half goes to the even digit, as it does in the other tables.
    const exact = (1000 * (this.won + this.drawn / 2)) / this.games;
    const near = Math.round(exact);
    return ((near - exact === 0.5 && near % 2 ? near - 1 : near) / 10).toFixed(1);
  }

  get points() {
    return [this.own, this.theirs].map((sum) => points((sum / this.games).toFixed(1))).join(" – ");
  }
}

// Calls back with each seat of a bot and each rival of it, game by game. So that a game of partners counts
// once: `again` is true if the bot is its own partner, `second` for a second rival, `twin` if it is the same bot.
function eachMeeting(one, heard) {
  for (const row of listed.games) {
    const [who, scores, places] = [0, 1, 2].map((n) => row.slice(1 + n * seats, 1 + (n + 1) * seats));
    who.forEach((id, seat) => {
      if (id !== one) return;
      const again = listed.partners && who[seat - 2] === one;
      who.forEach((rival, other) => {
        if (!rivals(seat, other)) return;
        const met = { ahead: places[other] - places[seat], own: scores[seat], theirs: scores[other] };
        const [second, twin] = [listed.partners && other > 1, listed.partners && who[other - 2] === rival];
        heard({ row, seat, rival, again, second, twin, ...met });
      });
    });
  }
}

// The totals of a bot by rival and by seat; with `against` only those against that bot.
function totalsOf(one, against) {
  const [all, bySeat, byRival] = [new Total(), Array.from({ length: seats }, () => new Total()), new Map()];
  eachMeeting(one, ({ seat, rival, again, second, twin, ahead, own, theirs }) => {
    if (twin || (against !== undefined && rival !== against)) return;
    if (!byRival.has(rival)) byRival.set(rival, { all: new Total(), bySeat: bySeat.map(() => new Total()) });
    const met = byRival.get(rival);
    const seated = second && against === undefined ? [met.bySeat[seat]] : [bySeat[seat], met.bySeat[seat]];
    const sums = second && against === undefined ? [met.all] : [all, met.all];
    for (const sum of again ? seated : [...sums, ...seated]) sum.add(ahead, own, theirs);
  });
  return { all, bySeat, byRival };
}

// A sentence about the games of one or two bots; empty if none is chosen.
function totalLine(one, other) {
  if (one === undefined) return "";
  const { all, bySeat } = totalsOf(names.indexOf(one), other === undefined ? undefined : names.indexOf(other));
  if (!all.games) return other === undefined ? "" : `${one} and ${other} were never opponents.`;
  const [won, drawn, lost] = all.record;
  const whom = other === undefined ? "" : ` against ${other}`;
  const seated = bySeat.map((sum, seat) => (sum.games ? `seat ${seat} ${sum.win} %` : "")).filter((text) => text);
  return `${one}${whom}: ${won} won, ${drawn} drawn, ${lost} lost, ${all.win} %; ${all.points} points on average; ${seated.join(", ")}.`;
}

function rivalTable(one) {
  const { all, bySeat, byRival } = totalsOf(names.indexOf(one));
  const table = made("table", "", { class: "rivals" });
  const row = (cell, first, sum, sums) => {
    const line = made("tr");
    first.setAttribute("scope", "row");
    line.append(first, made("td", sum.games, { class: "n" }), made("td", sum.record.join(" – "), { class: "n" }));
    line.append(made("td", sum.win, { class: "n" }), made("td", sum.points, { class: "n" }));
    line.append(...sums.map((own) => made("td", own.win, { class: "n" })));
    return line;
  };
  const heads = ["against", "games", "won – drawn – lost", "win %", "points", ...bySeat.map((_, seat) => `seat ${seat}`)];
  const top = made("tr");
  top.append(...heads.map((text, at) => made("th", text, { scope: "col", class: at ? "n" : "" })));
  const order = [...document.querySelectorAll("[data-bot]")].map((card) => names.indexOf(card.dataset.bot));
  const met = [...byRival].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const lines = met.map(([rival, sums]) => {
    const cell = made("th");
    const link = made("a", "", { href: `#games/${one}/${names[rival]}` });
    link.append(named(names[rival]));
    cell.append(link);
    return row(one, cell, sums.all, sums.bySeat);
  });
  lines.push(row(one, made("th", "all"), all, bySeat));
  table.append(made("caption", `${one} by opponent`, { class: "hide" }), made("thead"), made("tbody"));
  table.tHead.append(top);
  table.tBodies[0].append(...lines);
  const frame = made("div", "", { class: "scroll", role: "region", "aria-label": `${one} by opponent`, tabindex: "0" });
  frame.append(table);
  return frame;
}

function titledList(title, items) {
  if (!items.length) return [];
  const list = made("ul");
  list.append(...items);
  return [made("h3", title), list];
}

// A line with a link to a game, as "59 – 105 against greedy, board 12".
function gameItem(text, href, who = []) {
  const item = made("li");
  item.append(made("a", text, { href }), ...who);
  return item;
}

function worstLosses(one) {
  const leads = new Map();
  eachMeeting(names.indexOf(one), ({ row, seat, own, theirs }) => {
    const lead = Math.min(own - theirs, leads.get(row)?.lead ?? Infinity);
    leads.set(row, { row, seat, lead, own, theirs: own - lead });
  });
  const lost = [...leads.values()].filter(({ lead }) => lead < 0).sort((a, b) => a.lead - b.lead);
  return lost.slice(0, WORST).map(({ row, seat, own, theirs }) => {
    const game = told(row);
    const others = game.who.filter((_, other) => rivals(seat, other));
    const who = others.flatMap((name, at) => [at ? ", " : " against ", named(name)]);
    return gameItem(`${points(own)} – ${points(theirs)}`, `${game.href}&seat=${seat}`, [...who, `, board ${game.board}`]);
  });
}

function foulItems(one) {
  const found = listed.games.filter((row) => row.length > 1 + 3 * seats + 2 && has(row, names.indexOf(one)));
  const own = found.map(told).flatMap((game) =>
    game.fouled.filter(([seat]) => game.who[seat] === one).map(([seat, foul]) => ({ game, seat, foul })),
  );
  const items = own.slice(0, FOULS).map(({ game, seat, foul }) =>
    gameItem(foul, `${game.href}&at=foul&seat=${seat}`, [`, board ${game.board}`]),
  );
  if (own.length > FOULS) items.push(made("li", `and ${own.length - FOULS} more`));
  return items;
}

// Fills a bot's part when it is opened first: a large event has thousands of meetings.
function fillOnce(card) {
  const fill = () => {
    if (!card.parentElement.open) return;
    card.parentElement.removeEventListener("toggle", fill);
    const one = card.dataset.bot;
    const more = made("p");
    more.append(made("a", "All its games", { href: `#games/${one}` }));
    const lists = made("div", "", { class: "lists" });
    lists.append(...titledList("Worst losses", worstLosses(one)), ...titledList("Fouls", foulItems(one)), more);
    card.prepend(rivalTable(one));
    card.append(lists);
  };
  card.parentElement.addEventListener("toggle", fill);
}

