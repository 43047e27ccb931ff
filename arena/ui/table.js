/* Draws a table from a scene (see scenes.py) as SVG: seats, line, hands, boneyard. Knows no rules
   and keeps no state. */
"use strict";
const Table = (() => {
  const { add, tiles, count, told, counted } = Tiles;
  const WIDE_PX = 640; // From this width the boneyard lies beside the own hand.
  const SMALLEST_PX = 15; // The smallest half tile of the line; a longer line makes the table higher.
  const PLATE_PX = 32, TWO_LINES_PX = 48; // The height of a name plate; a narrow one has two lines.
  const NARROW_PX = 260, NARROWEST_PX = 106, GAP_PX = 10;

  /** Groups a part of the table: a screen reader reads its words instead of each tile. */
  function part(parent, kind, words, role = "img") {
    return add(parent, "g", { class: kind, role, "aria-label": words });
  }

  /** Draws text, shortened to fit into `width`. */
  function label(parent, words, at, width, kind) {
    const room = Math.max(3, Math.floor(width / 8.7));
    const cut = words.length > room ? `${words.slice(0, room - 1)}…` : words;
    const text = add(parent, "text", { ...at, class: kind }, cut);
    add(text, "title", {}, words);
  }

  /** Describes what a seat has just done or won; `before` is the scene before. */
  function deed(scene, before, at, sides) {
    if (scene.places.length) return scene.places[at] === 1 ? "★ wins" : `place ${scene.places[at]}`;
    if (scene.points.length) return scene.points[at % sides] ? `+${scene.points[at % sides]}` : "";
    if (!before || before.round !== scene.round) return "";
    const more = count(scene.hands[at]) - count(before.hands[at]);
    if (more) return more < 0 ? "played" : `drew ${more}`;
    return before.turn === at && before !== scene ? "passed" : "";
  }

  const plateHigh = (box) => (box.width < NARROW_PX ? TWO_LINES_PX : PLATE_PX);

  /** Draws the name plate of a seat: emblem, name, what it does or did, tiles, points. */
  function plate(group, scene, about, at, box, look) {
    const turn = scene.turn === at, narrow = box.width < NARROW_PX;
    const points = scene.scores.length ? `${scene.scores[at % about.sides.length]}` : "";
    const state = turn ? "▶ to move" : deed(scene, look.before, at, about.sides.length);
    const many = counted(count(scene.hands[at]));
    const said = [state, box.width < 150 && state ? "" : many].filter(Boolean).join(" · ");
    const high = plateHigh(box), y = box.y + 19, right = box.x + box.width - 9;
    add(group, "rect", { x: box.x, y: box.y, width: box.width, height: high - 4, rx: 7, class: "plate" });
    group.append(Emblem.draw((look.emblems || [])[at] ?? at, { x: box.x + 8, y: box.y + 6, width: 16, height: 16 }));
    add(group, "text", { x: right, y, class: "points" }, points);
    const behind = right - points.length * 9.5 - 10;
    add(group, "text", narrow ? { x: right, y: y + 17, class: "state" } : { x: behind, y, class: "state" }, said);
    const room = behind - box.x - 30 - (narrow ? 0 : said.length * 6.8);
    label(group, about.names[at], { x: box.x + 30, y }, room, "name");
    Object.assign(group.dataset, { part: `seat-${at}`, x: box.x + box.width / 2, y: box.y + high });
  }

  /** Draws a seat's block: its plate and its tiles; returns the height. */
  function seat(parent, scene, about, at, box, unit, look) {
    const asked = look.choose && scene.asked && scene.asked.seat === at;
    const kind = `seat${scene.turn === at ? " turn" : ""}${asked ? " own" : ""}`;
    const group = part(parent, kind, `${about.names[at]}, ${told(scene.hands[at])}`, asked ? "group" : "img");
    plate(group, scene, about, at, box, look);
    const offer = asked ? Choices.offered(scene, look) : () => {};
    const high = plateHigh(box) + (box.lift || 0), below = { ...box, y: box.y + high };
    return high + Tiles.upright(group, scene.hands[at], below, unit, look, offer) + GAP_PX;
  }

  /** Draws the other seats side by side, in clockwise order, in as few rows as fit. */
  function others(svg, scene, about, seats, y, width, look) {
    const columns = Math.ceil(seats.length / Math.ceil((seats.length * (NARROWEST_PX + GAP_PX)) / width));
    const wide = (width - 16 - GAP_PX * (columns - 1)) / columns;
    const shown = seats.some((at) => typeof scene.hands[at] !== "number");
    const most = Math.max(look.most || 0, ...seats.map((at) => count(scene.hands[at])));
    const unit = Tiles.fitting(most, wide, shown ? 84 : 50, shown ? 36 : 22, 13);
    let height = 0;
    for (let first = 0; first < seats.length; first += columns) {
      const row = seats.slice(first, first + columns).map((at, place) => seat(svg, scene, about, at,
        { x: 8 + place * (wide + GAP_PX), y: y + height, width: wide, middle: true, most }, unit, look));
      height += Math.max(...row);
    }
    return height;
  }

  /** Returns the line's layout in tiles as large as fit: `high` pixels high, or else the smallest. */
  function arranged(scene, room, width, high) {
    const [line, longest] = [scene, room || scene].map((one) => ({ line: tiles(one.line), lead: one.lead }));
    const largest = Math.round(Math.max(32, Math.min(58, width / 15)));
    for (let unit = largest; ; unit -= 1) {
      const row = Math.floor(width / unit);
      const { box } = Line.layout(longest.line, longest.lead, row);
      const lies = Line.layout(line.line, line.lead, row, longest);
      const top = Math.max(box.bottom - box.top, lies.box.bottom - lies.box.top);
      if (top * unit <= high || unit <= SMALLEST_PX) return { ...lies, unit, height: Math.max(high, top * unit) };
    }
  }

  /** Marks an open end with its number. */
  function mark(parent, number, [x, y], unit) {
    const group = add(parent, "g", { class: "end" });
    add(group, "circle", { cx: x, cy: y, r: unit * 0.34 });
    add(group, "text", { x, y, "font-size": Math.max(9, unit * 0.42) }, `${number}`);
  }

  /** Draws the line, its open ends, and the places for the next tile; returns the height. */
  function drawLine(parent, scene, box, high, look) {
    const line = tiles(scene.line);
    const { unit, places, ends, box: lies, height } = arranged(scene, look.room, box.width, high);
    const x = box.x + box.width / 2 - ((lies.left + lies.right) / 2) * unit;
    const y = box.y + height / 2 - ((lies.top + lies.bottom) / 2) * unit;
    const inPixels = ([ax, ay, bx, by]) =>
      [x + ax * unit, y + ay * unit, x + bx * unit, y + by * unit];
    const open = line.length ? [line[0][0], line.at(-1)[1]] : [];
    const words = line.length ? `The line, ${told(scene.line)}. Its ends are ${open[0]} and ${open[1]}.` : "The line is empty.";
    const group = part(parent, "line", words);
    line.forEach((pips, at) => {
      const fresh = at < scene.laid[0] || at >= line.length - scene.laid[1];
      Tiles.tile(group, pips, inPixels(places[at]), unit, look, fresh ? "fresh" : "");
    });
    if (line.length) {
      // The half of the next tile that touches the line: the second at the left, the first at the right.
      mark(group, open[0], inPixels(ends.left).slice(2), unit);
      mark(group, open[1], inPixels(ends.right).slice(0, 2), unit);
    }
    for (const { tile: [one, other], end } of look.hints || []) {
      const turned = line.length && (end === "left" ? other : one) !== open[end === "left" ? 0 : 1];
      Tiles.tile(group, turned ? [other, one] : [one, other], inPixels(ends[end || "right"]), unit, look, "hint");
    }
    look.ghost = (number, words, end) => {
      const ghost = Tiles.tile(parent, null, inPixels(ends[end || "right"]), unit, look, "ghost");
      ghost.dataset.option = number;
      Choices.clickable(ghost, `play ${words}`, () => look.choose(number));
    };
    return height;
  }

  /** Draws the boneyard and the pot; returns the height. */
  function boneyard(parent, scene, box, look) {
    const pot = scene.pot === null ? "" : `; pot ${scene.pot}`;
    const words = `Boneyard: ${counted(count(scene.stock))}, ${scene.drawable} to draw${pot}`;
    const shown = typeof scene.stock === "number" || !scene.stock ? "" : `: ${tiles(scene.stock).map(Tiles.written).join(" ")}`;
    const group = part(parent, "boneyard", words + shown);
    Object.assign(group.dataset, { part: "boneyard", x: box.x + box.width / 2, y: box.y + 40 });
    label(group, words, { x: box.x, y: box.y + 19 }, box.width, "note");
    const most = Math.max((look.room && count(look.room.stock)) || 0, count(scene.stock));
    if (!most) return PLATE_PX;
    const unit = Tiles.fitting(most, box.width, 80, 20, 12);
    return PLATE_PX + Tiles.upright(group, scene.stock, { ...box, y: box.y + PLATE_PX, most }, unit, look) + GAP_PX;
  }

  /** Draws the seat of the viewer, large, with the boneyard beside or below it. */
  function near(svg, scene, about, own, y, width, look) {
    const wide = width >= WIDE_PX;
    const mine = { x: 8, y, width: wide ? width * 0.64 - 16 : width - 16, middle: true, lift: look.lift };
    mine.most = Math.max(look.most || 0, count(scene.hands[own]));
    const hidden = typeof scene.hands[own] === "number";
    const largest = hidden ? 22 : Math.round(Math.max(34, Math.min(48, width / 14)));
    const unit = Tiles.fitting(mine.most, mine.width, hidden ? 50 : wide ? 108 : 150, largest, 13);
    const height = seat(svg, scene, about, own, mine, unit, look);
    const rest = wide ? { x: width * 0.64 + 8, y, width: width * 0.36 - 16 } : { x: 8, y: y + height, width: width - 16 };
    const more = boneyard(svg, scene, rest, look);
    return wide ? Math.max(height, more) : height + more;
  }

  /**
   * Draws a scene into an SVG element, whose width it takes and whose height it sets.
   *
   * about: what does not change (scenes.py). look: {seat: who sits below (0), numbers: pips as
   * numbers, emblems: of the seats, before: the scene before this, room: a scene with a longer line
   * to leave room for, most: tiles of a hand to leave room for, lift: pixels above the tiles of
   * who sits below, hints: plays to show at the ends, choose: called with the index of the option that is clicked, when `asked` is open}.
   */
  function draw(svg, scene, about, wanted = {}) {
    const look = { ...wanted, numbers: wanted.numbers || about.highest > Tiles.DOTS_TO };
    const width = Math.max(300, Math.round(svg.clientWidth || 720));
    const many = scene.hands.length, own = look.seat || 0;
    const seats = [...Array(many - 1).keys()].map((at) => (own + 1 + at) % many);
    svg.replaceChildren();
    let y = 8;
    y += others(svg, scene, about, seats, y, width, look);
    // On a low screen the controls below the board stay in sight.
    const high = Math.round(Math.max(width >= WIDE_PX ? 250 : 230, Math.min(width * 0.34, innerHeight * 0.36)));
    y += drawLine(svg, scene, { x: 8, y, width: width - 16 }, high, look) + GAP_PX;
    y += near(svg, scene, about, own, y, width, look);
    svg.setAttribute("viewBox", `0 0 ${width} ${Math.ceil(y)}`);
    svg.setAttribute("height", Math.ceil(y));
  }

  return { draw };
})();
