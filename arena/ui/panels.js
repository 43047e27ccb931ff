/* The panels around the table of a replay: title, seats, tiles left, question, evidence, lists. */
"use strict";
const Panels = (() => {
  const { tiles, count } = Tiles;

  /** Appends a new element with this text to its parent. */
  function add(parent, name, text = "", kind = "") {
    const element = document.createElement(name);
    if (text !== "") element.textContent = text;
    if (kind) element.className = kind;
    parent.append(element);
    return element;
  }

  /** Fills a table: the head, and rows of a heading and numbers; a mark makes a row stand out. */
  function fill(table, head, rows) {
    table.replaceChildren();
    const top = add(add(table, "thead"), "tr");
    head.forEach((words, at) => {
      const cell = add(top, "th", "", at ? "number" : "");
      cell.setAttribute("scope", "col");
      add(cell, "span", words);
    });
    const body = add(table, "tbody");
    for (const { cells, mark } of rows) {
      const row = add(body, "tr", "", mark ? "now" : "");
      const [first, ...others] = cells;
      const cell = add(row, "th");
      cell.setAttribute("scope", "row");
      add(cell, "span", first);
      for (const words of others) add(row, "td", `${words}`, "number");
    }
  }

  /** Appends a side's emblems and names. */
  function side(node, about, at, emblems) {
    const seats = about.names.map((_, seat) => seat).filter((seat) => seat % about.sides.length === at);
    const who = add(node, "span", "", "who");
    seats.forEach((seat, place) => {
      who.append(place ? " and " : "", Emblem.draw(emblems[seat]), " ", about.names[seat]);
    });
  }

  /** Shows the result as the title: "counting 117 – 44 greedy", with emblems, and who fouled. */
  function title(node, scenes, about, emblems) {
    const { scores } = scenes.at(-1), many = about.sides.length;
    node.replaceChildren();
    for (let at = 0; at < many; at += 1) {
      const points = scores.length ? `${scores[at]}` : "";
      const versus = at === 1 && many === 2;
      if (at) node.append(versus ? (points ? ` – ${points} ` : " against ") : " · ");
      side(node, about, at, emblems);
      if (!versus && points) node.append(` ${points}`);
    }
    // The points alone would call the wrong side the winner.
    const fouled = new Set(scenes.filter(({ foul }) => foul).map(({ foul }) => about.names[foul.seat]));
    if (fouled.size) node.append(` · foul of ${[...fouled].join(" and ")}`);
  }

  /** Returns both ends of the line; none before the first tile. */
  function ends(scene) {
    const line = tiles(scene.line);
    return line.length ? [line[0][0], line[line.length - 1][1]] : [];
  }

  const shown = (hand) => typeof hand === "string";
  const seconds = (ms) => (ms >= 10000 ? `${(ms / 1000).toFixed(1)} s` : `${+ms.toFixed(1)} ms`);

  /** Shows the seats with points, tiles, pips, playable tiles and time, and more columns. */
  function seats(table, scene, about, emblems, more = []) {
    const open = ends(scene);
    const sides = about.sides.length;
    const rows = about.names.map((name, at) => {
      const hand = scene.hands[at];
      const held = shown(hand) ? tiles(hand) : null;
      const sum = held && held.reduce((all, [a, b]) => all + a + b, 0);
      const fits = held && held.filter((tile) => tile.some((pip) => open.includes(pip))).length;
      const time = scene.times[at];
      const place = scene.places.length ? ` (place ${scene.places[at % sides]})` : "";
      const won = scene.points.length ? ` (+${scene.points[at % sides]})` : "";
      return {
        mark: scene.turn === at,
        cells: [
          `${at} ${name}${scene.turn === at ? " ◀" : ""}`,
          `${scene.scores.length ? scene.scores[at % sides] : ""}${won}${place}`,
          count(hand),
          scene.pips.length ? scene.pips[at] : held ? sum : "?",
          held ? (open.length ? fits : "") : "?",
          time ? seconds(time.used) : "?",
          time ? seconds(time.bank) : "?",
          ...more.map(({ of }) => of(at)),
        ],
      };
    });
    fill(table, ["seat", "points", "tiles", "pips", "fits", "used", "bank", ...more.map(({ head }) => head)], rows);
    table.querySelectorAll("tbody th span").forEach((name, at) => name.prepend(Emblem.draw(emblems[at])));
  }

  /** Shows how many tiles of each number are in the line, in visible hands, and elsewhere. */
  function left(table, scene, about) {
    const open = ends(scene), line = tiles(scene.line);
    const total = about.highest + (about.doubles ? 1 : 0);
    const seen = about.names.map((name, at) => ({ name, hand: scene.hands[at] }))
      .filter(({ hand }) => shown(hand)).map(({ name, hand }) => ({ name, held: tiles(hand) }));
    const rows = [...Array(about.highest + 1).keys()].map((pip) => {
      const of = (some) => some.filter((tile) => tile.includes(pip)).length;
      const laid = of(line), held = seen.map((one) => of(one.held));
      const rest = total - laid - held.reduce((all, one) => all + one, 0);
      const end = open.includes(pip) ? (laid === total ? " ◀ dead end" : " ◀ end") : "";
      return { mark: end !== "", cells: [`${pip}${end}`, laid, ...held, rest] };
    });
    const elsewhere = shown(scene.stock) ? "boneyard" : "unseen";
    fill(table, ["number", "line", ...seen.map(({ name }) => name), elsewhere], rows);
  }

  /** Lists the options of a question with their values, the chosen one marked. */
  function options(list, asked, worth) {
    list.replaceChildren();
    (asked ? asked.options : []).forEach((text, number) => {
      const { words } = Tiles.option(text), chosen = number === asked.chosen;
      const item = add(list, "li", chosen ? `✓ ${words} (chosen)` : words, chosen ? "chosen" : "");
      if (worth) add(item, "span", Review.value(worth, number), "worth");
    });
  }

  /** Shows the question in a sentence, its options, the note, and the evidence of a foul. */
  function question(nodes, scene, about, seat, worth) {
    const { asked, foul } = scene;
    nodes.asked.textContent = asked
      ? `${about.names[asked.seat]} had ${asked.options.length} options`
        + (asked.id === null ? "" : ` in its question ${asked.id}`)
        + (asked.ms === null ? "." : ` and took ${seconds(asked.ms)}.`)
      : seat === null ? "No bot was asked here." : "This seat was not asked here.";
    if (worth) nodes.asked.append(` ${Review.judged(worth, asked)}`);
    options(nodes.options, asked, worth);
    nodes.options.classList.toggle("wrong", Boolean(worth?.grade));
    const told = { note: asked && asked.note, info: Numbers.words(asked?.info) };
    if (foul) {
      const { detail, line, stderr, clock } = foul;
      Object.assign(told, { foul: detail || foul.foul, said: line, stderr, clock });
    }
    nodes.evidence.replaceChildren();
    for (const [name, words] of Object.entries(told).filter(([, words]) => words)) {
      add(nodes.evidence, "dt", name);
      add(nodes.evidence, "dd", words).dir = "auto";
    }
  }

  /** Lists the turning points as buttons. */
  function turns(list, points, go) {
    list.replaceChildren();
    for (const { at, words } of points) {
      const button = add(add(list, "li"), "button", words);
      button.addEventListener("click", () => go(at));
    }
  }

  /** Copies the position's line of a page. */
  async function copy({ line, copy: button }) {
    if (!line.value) return;
    line.select();
    // Only the old way may work in a page opened as a file.
    await navigator.clipboard?.writeText(line.value).catch(() => {});
    document.execCommand("copy");
    button.textContent = "copied";
  }

  return { add, copy, fill, title, seats, left, question, turns };
})();
