/* Draws a table from a scene (see scenes.py) as SVG. Knows no rules and keeps no state. */
"use strict";
const Table = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PITCH = 3; // From one row of the line to the next, in half tiles.
  const DOTS = { // Positions of the dots of a half, in quarters from its middle: across, along.
    0: [], 1: [[0, 0]], 2: [[-1, -1], [1, 1]], 3: [[-1, -1], [0, 0], [1, 1]],
    4: [[-1, -1], [1, -1], [-1, 1], [1, 1]],
    5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
    6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
    7: [[-1, -1], [1, -1], [-1, 0], [0, 0], [1, 0], [-1, 1], [1, 1]],
    8: [[-1, -1], [0, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [0, 1], [1, 1]],
    9: [[-1, -1], [0, -1], [1, -1], [-1, 0], [0, 0], [1, 0], [-1, 1], [0, 1], [1, 1]],
  };
  const DOTS_TO = 9; // The highest pip that is drawn in dots; the others are numbers.
  const LINE_TO_PX = 600; // A line that would be higher is drawn smaller, as far as this:
  const SMALLEST_PX = 15;
  const DOTS_FROM_PX = 11; // Half tiles smaller than this show numbers, which stay readable.
  const OPTION = /^(?:([0-9a-i]{2})<)?(?:([0-9a-i]{2})([>=]))?$/;
  const END = { "<": "left", ">": "right", "=": "" };

  /** "6453" as [[6, 4], [5, 3]]. */
  const tiles = (text) =>
    (text.match(/../g) || []).map((two) => [parseInt(two[0], 19), parseInt(two[1], 19)]);
  const count = (hand) => (typeof hand === "number" ? hand : hand.length / 2);
  const written = (tile) => `[${tile[0]}|${tile[1]}]`;

  /** Returns an option as the tiles that it plays, none for words, and its label. */
  function option(text) {
    const found = text && OPTION.exec(text);
    if (!found) return { plays: [], words: text };
    const plays = [];
    if (found[1]) plays.push({ tile: tiles(found[1])[0], end: "left" });
    if (found[2]) plays.push({ tile: tiles(found[2])[0], end: END[found[3]] });
    const named = plays.map((play) => `${written(play.tile)} ${play.end}`.trim());
    return { plays, words: named.join(" and ") };
  }

  /** Appends a new element with these attributes to its parent. */
  function add(parent, name, attributes = {}, text = "") {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== "") element.textContent = text;
    parent.append(element);
    return element;
  }

  /** Returns places of tiles laid one after another to the right, and down at the end of a row.
      In half tiles; the first begins at `from`. Each place: the middles of both halves. */
  function chain(line, from, half) {
    const places = [];
    let x = from, y = 0, way = 1, stood = false, turned = false;
    for (const [one, other] of line) {
      const across = one === other && !turned;
      const long = across ? 1 : 2;
      if (!turned && way * x + long > half && places.length) {
        const column = x - way * 0.5, top = y + (stood ? 1.5 : 1);
        places.push([column, top, column, top + 1]);
        y = top + 2;
        way = -way;
        [stood, turned] = [false, true];
        continue;
      }
      const middle = x + way * 0.5;
      places.push(across ? [middle, y - 0.5, middle, y + 0.5] : [middle, y, middle + way, y]);
      x += way * long;
      [stood, turned] = [across, false];
    }
    return places;
  }

  /** Returns places of the line around the tile that was laid first, which stays in the middle. */
  function lay(line, lead, half) {
    if (!line.length) return [];
    const [one, other] = line[lead];
    const middle = one === other ? [0, -0.5, 0, 0.5] : [-0.5, 0, 0.5, 0];
    const from = one === other ? 0.5 : 1;
    const right = chain(line.slice(lead + 1), from, half);
    const left = chain(line.slice(0, lead).reverse(), from, half);
    // The other way round: a tile is named from left to right, but was laid from right to left.
    const back = left.map(([ax, ay, bx, by]) => [-bx, -by, -ax, -ay]).reverse();
    return [...back, middle, ...right];
  }

  /** Returns the size of a line, in half tiles from its middle. */
  function extent(places) {
    const ys = places.flatMap(([, ay, , by]) => [ay, by]);
    return { top: Math.min(0, ...ys) - 1, bottom: Math.max(0, ...ys) + 1 };
  }

  /** Draws one half of a tile around its middle. */
  function pip(parent, value, x, y, unit, lying, look) {
    if (look.numbers || value > DOTS_TO || unit < DOTS_FROM_PX) {
      const size = Math.max(9, unit * (value > 9 ? 0.58 : 0.7));
      add(parent, "text", { x, y, "font-size": size, class: "number" }, `${value}`);
      return;
    }
    for (const [a, b] of DOTS[value]) {
      const [dx, dy] = lying ? [b, a] : [a, b];
      const [cx, cy] = [x + (dx * unit) / 3.7, y + (dy * unit) / 3.7];
      add(parent, "circle", { cx, cy, r: unit * 0.1, class: "dot" });
    }
  }

  /** Draws a tile whose halves have these middles, in pixels; face down if it is null. */
  function tile(parent, pips, [ax, ay, bx, by], unit, look, kind = "") {
    const group = add(parent, "g", { class: `tile ${kind}`.trim(), "stroke-width": unit / 20 });
    const [left, top] = [Math.min(ax, bx) - unit / 2, Math.min(ay, by) - unit / 2];
    const lying = ay === by, gap = unit * 0.04;
    const [width, height] = lying ? [2 * unit, unit] : [unit, 2 * unit];
    const box = { x: left + gap, y: top + gap, width: width - 2 * gap, height: height - 2 * gap };
    add(group, "rect", { ...box, rx: unit * 0.14, class: pips ? "face" : "back" });
    if (!pips) return group;
    add(group, "title", {}, written(pips));
    const [mx, my] = [(ax + bx) / 2, (ay + by) / 2], arm = unit * 0.36;
    const bar = lying ? { x1: mx, x2: mx, y1: my - arm, y2: my + arm }
      : { x1: mx - arm, x2: mx + arm, y1: my, y2: my };
    add(group, "line", { ...bar, class: "bar" });
    pip(group, pips[0], ax, ay, unit, lying, look);
    pip(group, pips[1], bx, by, unit, lying, look);
    return group;
  }

  /** Draws upright tiles in rows, from the left; returns their height. */
  function upright(parent, hand, box, unit, look, more = () => {}) {
    const many = count(hand), shown = typeof hand === "number" ? [] : tiles(hand);
    const [wide, high] = [unit * 1.12, unit * 2.15];
    const row = Math.max(1, Math.floor(box.width / wide));
    const start = box.middle ? (box.width - Math.min(many, row) * wide) / 2 : 0;
    for (let at = 0; at < many; at += 1) {
      const x = box.x + start + (at % row) * wide + unit / 2;
      const y = box.y + Math.floor(at / row) * high + unit / 2;
      const pips = shown[at] || null;
      more(tile(parent, pips, [x, y, x, y + unit], unit, look), pips);
    }
    return Math.ceil(Math.max(1, box.most || many, many) / row) * high;
  }

  /** Draws a name, shortened to fit, with the text after it. */
  function label(parent, words, behind, box, kind) {
    const room = Math.max(4, Math.floor(box.width / 8.2) - behind.length);
    const cut = words.length > room ? `${words.slice(0, room - 1)}…` : words;
    const at = box.middle ? { x: box.x + box.width / 2, "text-anchor": "middle" } : { x: box.x };
    const text = add(parent, "text", { ...at, y: box.y + 14, class: `label ${kind}` }, cut + behind);
    add(text, "title", {}, words);
  }

  /** Groups a part of the table: a screen reader reads its words instead of each tile. */
  function part(parent, kind, words, role = "img") {
    return add(parent, "g", { class: kind, role, "aria-label": words });
  }

  /** Returns tiles in words, or their number. */
  function told(hand) {
    const many = count(hand);
    const number = many === 1 ? "1 tile" : `${many} tiles`;
    return typeof hand === "number" || !many ? number : `${number}: ${tiles(hand).map(written).join(" ")}`;
  }

  /** Draws a seat's block: its entrant and tiles; returns the height. */
  function seat(parent, scene, about, at, box, unit, look) {
    const turn = scene.turn === at ? (box.width > 300 ? " ◀ to move" : " ◀") : "";
    const kind = scene.turn === at ? "seat turn" : "seat";
    const asked = look.choose && scene.asked && scene.asked.seat === at;
    const group = part(parent, kind, `${about.names[at]}, ${told(scene.hands[at])}`, asked ? "group" : "img");
    const many = count(scene.hands[at]);
    const behind = box.width > 300 ? `: ${many === 1 ? "1 tile" : `${many} tiles`}` : ` (${many})`;
    label(group, about.names[at], behind + turn, box, "name");
    const offer = asked ? Choices.offered(scene, look) : () => {};
    const below = { ...box, y: box.y + 22, most: box.most };
    const height = upright(group, scene.hands[at], below, unit, look, offer);
    return 22 + height + 6;
  }

  /** Returns the layout of the line, with room for a longer one, in tiles as large as fit. */
  function arranged(scene, room, width, largest) {
    for (let unit = largest; ; unit -= 1) {
      const half = Math.max(4, Math.floor(width / unit / 2) - 1);
      const [places, roomy] = [scene, room || scene].map((one) =>
        lay(tiles(one.line), one.lead, half));
      const [own, most] = [extent(places), extent(roomy)];
      const [top, bottom] = [Math.min(own.top, most.top), Math.max(own.bottom, most.bottom)];
      if ((bottom - top) * unit <= LINE_TO_PX || unit <= SMALLEST_PX) {
        return { unit, half, places, top, bottom };
      }
    }
  }

  /** Draws the line, and the places for the next tile; returns the height. */
  function drawLine(parent, scene, box, largest, look) {
    const line = tiles(scene.line);
    const { unit, half, places, top, bottom } = arranged(scene, look.room, box.width, largest);
    const [x, y] = [box.x + box.width / 2, box.y - top * unit];
    const inPixels = ([ax, ay, bx, by]) =>
      [x + ax * unit, y + ay * unit, x + bx * unit, y + by * unit];
    const ends = line.length ? `. Its ends are ${line[0][0]} and ${line.at(-1)[1]}` : "";
    const words = line.length ? `The line, ${told(scene.line)}${ends}.` : "The line is empty.";
    const group = part(parent, "line", words);
    line.forEach((pips, at) => {
      const fresh = at < scene.laid[0] || at >= line.length - scene.laid[1];
      tile(group, pips, inPixels(places[at]), unit, look, fresh ? "fresh" : "");
    });
    look.ghost = (number, words, end) => {
      const more = end === "left" ? [[0, 1], ...line] : [...line, [0, 1]];
      const lead = scene.lead + (end === "left" ? 1 : 0);
      const place = lay(more, line.length ? lead : 0, half).at(end === "left" ? 0 : -1);
      const ghost = tile(parent, null, inPixels(place), unit, look, "ghost");
      Choices.clickable(ghost, `play ${words}`, () => look.choose(number));
    };
    return (bottom - top) * unit;
  }

  /** Returns the sides of the seats, clockwise from the viewer's: below, left, above, right. */
  function around(seats, first) {
    const [own, ...others] = [...Array(seats).keys()].map((at) => (at + first) % seats);
    const side = Math.floor(seats / 3);
    const right = seats - 1 - side;
    return { own, left: others.slice(0, side).reverse(), above: others.slice(side, right), right: others.slice(right) };
  }

  /** Draws blocks of seats side by side, in rows; returns the height. */
  function row(parent, scene, about, seats, box, columns, unit, look) {
    const width = (box.width - 8 * (columns - 1)) / columns;
    let y = box.y;
    for (let first = 0; first < seats.length; first += columns) {
      const heights = seats.slice(first, first + columns).map((at, place) =>
        seat(parent, scene, about, at, { ...box, x: box.x + place * (width + 8), y, width }, unit, look));
      y += Math.max(...heights);
    }
    return y - box.y;
  }

  /**
   * Draws a scene into an SVG element, whose width it takes and whose height it sets.
   *
   * about: what does not change (scenes.py). look: {seat: whose side is below (0), numbers: pips as
   * numbers, room: a scene with a longer line to leave room for, most: tiles of a hand to leave room
   * for, choose: called with the index of the option that is clicked, when `asked` is open}.
   */
  function draw(svg, scene, about, wanted = {}) {
    const look = { ...wanted, numbers: wanted.numbers || about.highest > DOTS_TO };
    const width = Math.max(300, Math.round(svg.clientWidth || 720));
    const wide = width >= 640;
    svg.replaceChildren();
    const places = around(scene.hands.length, look.seat || 0);
    const unit = Math.max(18, Math.min(30, Math.floor(width / 32)));
    const most = { most: look.most };
    const whole = { x: 8, width: width - 16, middle: wide, ...most };
    const beside = wide ? [places.left, places.right].filter((seats) => seats.length) : [];
    const stacked = wide ? places.above : [...places.left.reverse(), ...places.above, ...places.right];
    const columns = wide ? Math.max(1, stacked.length) : scene.hands.length > 4 ? 2 : 1;
    let y = 8;
    y += row(svg, scene, about, stacked, { ...whole, y }, columns, unit, look);
    const side = beside.length ? Math.ceil(unit * 1.12 * 4) + 8 : 0;
    const middle = { x: 8 + side, width: width - 16 - 2 * side, y: y + unit / 2 };
    let height = drawLine(svg, scene, middle, unit, look) + unit;
    beside.forEach((seats, right) => {
      const box = { x: right ? width - side : 8, width: side - 8, y: y + 4, ...most };
      height = Math.max(height, row(svg, scene, about, seats, box, 1, unit, look));
    });
    y += height;
    y += seat(svg, scene, about, places.own, { ...whole, y }, unit, look);
    y += boneyard(svg, scene, { ...whole, y }, Math.max(12, unit * 0.62), look);
    svg.setAttribute("viewBox", `0 0 ${width} ${Math.ceil(y)}`);
    svg.setAttribute("height", Math.ceil(y));
  }

  /** Draws the boneyard and the pot; returns the height. */
  function boneyard(parent, scene, box, unit, look) {
    const pot = scene.pot === null ? "" : `; pot ${scene.pot}`;
    const many = count(scene.stock);
    const words = `Boneyard: ${many === 1 ? "1 tile" : `${many} tiles`}, ${scene.drawable} to draw${pot}`;
    const shown = typeof scene.stock === "number" || !many ? "" : `: ${tiles(scene.stock).map(written).join(" ")}`;
    const group = part(parent, "boneyard", words + shown);
    label(group, words, "", box, "faint");
    const most = (look.room && count(look.room.stock)) || 0;
    return 22 + upright(group, scene.stock, { ...box, y: box.y + 22, most }, unit, look) + 4;
  }

  /** Lists the options of a question: buttons where `choose` is given, else what was chosen. */
  function options(list, scene, look = {}) {
    const { asked } = scene;
    list.replaceChildren();
    (asked ? asked.options : []).forEach((text, number) => {
      const item = document.createElement("li");
      const chosen = number === asked.chosen;
      const holder = look.choose ? document.createElement("button") : item;
      if (look.choose) holder.addEventListener("click", () => look.choose(number));
      if (look.choose && number < 9) holder.dataset.key = number + 1;
      if (holder !== item) item.append(holder);
      holder.append(chosen ? `✓ ${option(text).words} (chosen)` : option(text).words);
      item.className = chosen ? "chosen" : "";
      list.append(item);
    });
  }

  return { draw, options, option, tiles, count, written };
})();
