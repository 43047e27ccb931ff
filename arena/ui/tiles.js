/* Tiles: their notation in scenes (scenes.py), and how one tile or a hand is drawn as SVG. */
"use strict";
const Tiles = (() => {
  const SVG = "http://www.w3.org/2000/svg";
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
  const DOTS_FROM_PX = 11; // Half tiles smaller than this show numbers, which stay readable.
  const WIDE = 1.12, HIGH = 2.15; // The room of an upright tile in a hand, in half tiles.
  const OPTION = /^(?:([0-9a-i]{2})<)?(?:([0-9a-i]{2})([>=]))?$/;
  const END = { "<": "left", ">": "right", "=": "" };

  /** "6453" as [[6, 4], [5, 3]]. */
  const tiles = (text) =>
    (text.match(/../g) || []).map((two) => [parseInt(two[0], 19), parseInt(two[1], 19)]);
  const count = (hand) => (typeof hand === "number" ? hand : hand.length / 2);
  const written = (tile) => `[${tile[0]}|${tile[1]}]`;
  const counted = (many) => (many === 1 ? "1 tile" : `${many} tiles`);

  /** Returns tiles in words, or their number. */
  function told(hand) {
    const number = counted(count(hand));
    return typeof hand === "number" || !hand ? number : `${number}: ${tiles(hand).map(written).join(" ")}`;
  }

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
      add(parent, "circle", { cx, cy, r: unit * 0.105, class: "dot" });
    }
  }

  /** Draws the line between the halves, with its pin. */
  function middle(group, x, y, unit, lying) {
    const arm = unit * 0.36;
    const bar = lying ? { x1: x, x2: x, y1: y - arm, y2: y + arm } : { x1: x - arm, x2: x + arm, y1: y, y2: y };
    add(group, "line", { ...bar, class: "bar" });
    add(group, "circle", { cx: x, cy: y, r: unit * 0.06, class: "pin" });
  }

  /** Draws the back of a tile: a frame and a lozenge. */
  function back(group, box, unit) {
    const inset = unit * 0.13, [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const [across, along] = [box.width * 0.17, box.height * 0.17];
    add(group, "rect", { x: box.x + inset, y: box.y + inset, width: box.width - 2 * inset,
      height: box.height - 2 * inset, rx: unit * 0.08, class: "frame" });
    add(group, "path", { d: `M${x} ${y - along}L${x + across} ${y}L${x} ${y + along}L${x - across} ${y}z`, class: "lozenge" });
  }

  /** Draws a tile whose halves have these middles, in pixels; face down if it is null. */
  function tile(parent, pips, [ax, ay, bx, by], unit, look, kind = "") {
    const group = add(parent, "g", { class: `tile ${kind}`.trim(), "stroke-width": unit / 22 });
    const [left, top] = [Math.min(ax, bx) - unit / 2, Math.min(ay, by) - unit / 2];
    const lying = ay === by, gap = unit * 0.03;
    const [width, height] = lying ? [2 * unit, unit] : [unit, 2 * unit];
    const box = { x: left + gap, y: top + gap, width: width - 2 * gap, height: height - 2 * gap };
    const rx = unit * 0.16;
    add(group, "rect", { ...box, y: box.y + unit * 0.06, rx, class: "shade" });
    add(group, "rect", { ...box, rx, class: pips ? "face" : "back" });
    if (!pips) {
      back(group, box, unit);
      return group;
    }
    const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
    const [high, low] = [Math.max(...pips), Math.min(...pips)];
    Object.assign(group.dataset, { tile: `${high}-${low}`, x: mx, y: my, unit });
    add(group, "title", {}, written(pips));
    middle(group, mx, my, unit, lying);
    pip(group, pips[0], ax, ay, unit, lying, look);
    pip(group, pips[1], bx, by, unit, lying, look);
    return group;
  }

  /** Returns the half tile in pixels with which a hand of `most` tiles is not higher than `high`. */
  function fitting(most, width, high, largest, smallest) {
    for (let unit = largest; unit > smallest; unit -= 1) {
      const row = Math.floor(width / (unit * WIDE));
      if (row && Math.ceil(Math.max(1, most) / row) * unit * HIGH <= high) return unit;
    }
    return smallest;
  }

  /** Draws upright tiles in rows; returns the height, with room for `box.most` tiles. */
  function upright(parent, hand, box, unit, look, more = () => {}) {
    const many = count(hand), shown = typeof hand === "number" ? [] : tiles(hand);
    const [wide, high] = [unit * WIDE, unit * HIGH];
    const row = Math.max(1, Math.floor(box.width / wide));
    const start = box.middle ? (box.width - Math.min(many, row) * wide) / 2 : 0;
    for (let at = 0; at < many; at += 1) {
      const x = box.x + start + (at % row) * wide + wide / 2;
      const y = box.y + Math.floor(at / row) * high + unit / 2;
      const pips = shown[at] || null;
      more(tile(parent, pips, [x, y, x, y + unit], unit, look), pips);
    }
    return Math.ceil(Math.max(1, box.most || many, many) / row) * high;
  }

  return { add, tiles, count, written, counted, told, option, tile, fitting, upright, DOTS_TO };
})();
