/* The review of a game (game_review.py): the line of chances with its marks, and the same in words. */
"use strict";
const Review = (() => {
  const { add, tiles, written } = Tiles;
  const LEFT = 24, RIGHT = 20, LANE = 17, HIGH = 84, MARK = 14; // Lanes of marks are above and below the line.
  const LUCKY = 5; // Percent of the game from which luck is marked.
  const GRADES = [["", ""], ["?!", "inaccuracy"], ["?", "mistake"], ["??", "blunder"]];

  /** Returns a number with its sign and one decimal; what rounds to 0 has no sign. */
  function signed(number) {
    const tenths = Math.round(10 * number);
    return `${tenths < 0 ? "−" : tenths ? "+" : ""}${(Math.abs(tenths) / 10).toFixed(1)}`;
  }

  /** Returns the half width of a 95 % interval; nothing if the value is exact. */
  const width = (error) => (error ? ` ± ${(2 * error).toFixed(1)}` : "");

  /** Returns shares in whole percents; those of two sides add up to 100. */
  function percents(shares) {
    const rounded = shares.map(Math.round);
    if (rounded.length === 2) rounded[1] = 100 - rounded[0];
    return rounded.map((number) => `${number} %`);
  }
  const whole = (rows, sum) => rows.map((row) => [...row, row.reduce((left, one) => left - one, sum)]);

  /** Returns what a viewer may see of the review: chances and luck are told to everybody only. */
  function read({ review, about }, seat) {
    if (!review) return null;
    const open = seat === null;
    const side = (one) => one % about.sides.length;
    const decisions = review.decisions.map(([at, who, gap, error, grade, leads, errors, percent, loss]) =>
      ({ at, seat: who, side: side(who), gap, error, grade, leads, errors, percent, loss }))
      .filter((one) => open || one.seat === seat);
    const draws = open ? review.draws.map(([at, who, drawn, leads, share]) =>
      ({ at, seat: who, side: side(who), drawn, leads, share })) : [];
    const marks = [...decisions.filter(({ grade }) => grade).map((one) => mistake(one, about)),
      ...draws.filter(({ share }) => Math.abs(share) >= LUCKY).map((one) => luck(one, about))];
    marks.sort((one, other) => one.at - other.at);
    return { chances: open ? whole(review.chances, 50 * about.sides.length) : [], leads: open ? whole(review.leads, 0) : [],
      draws, decisions, marks, grades: review.grades, asked: new Map(decisions.map((one) => [one.at, one])) };
  }

  /** Returns a loss in words, with its error unless it is exact. */
  function lost({ gap, error, percent }) {
    return `${gap.toFixed(1)}${width(error)} points and ${percent.toFixed(1)} % of the game lost`;
  }

  function mistake(one, about) {
    const [sign, name] = GRADES[one.grade];
    return { ...one, kind: "mistake", sign, words: `${about.names[one.seat]}: ${name}, ${lost(one)}` };
  }

  function luck(one, about) {
    const good = one.share > 0, much = `${signed(one.share)} % of the game`;
    const came = one.drawn.length ? `drew ${tiles(one.drawn).map(written).join(" ")}` : "by the deal";
    const words = `${about.names[one.seat]}: ${good ? "lucky" : "unlucky"}, ${came}, ${much}`;
    return { ...one, kind: "luck", sign: good ? "▲" : "▼", words };
  }

  /** Draws the shares of two sides as areas, the first below, the second above. */
  function areas(svg, chances, emblems, x, y) {
    const edge = chances.map(([share], at) => `${x(at)},${y(share)}`);
    const corners = (share) => [chances.length - 1, 0].map((at) => `${x(at)},${y(share)}`);
    [0, 100].forEach((share, side) => {
      const group = add(svg, "g", { class: Emblem.colour(emblems[side]) });
      add(group, "polygon", { points: [...edge, ...corners(share)].join(" ") });
      svg.append(Emblem.draw(emblems[side], { x: 5, y: side ? y(100) + 5 : y(0) - 19, width: 14, height: 14 }));
    });
    add(svg, "polyline", { points: edge.join(" "), class: "edge" });
  }

  /** Draws the share of each of more than two sides: a line of its colour and dashes. */
  function lines(svg, chances, emblems, x, y) {
    emblems.forEach((emblem, side) => {
      const group = add(svg, "g", { class: `share ${Emblem.colour(emblem)} d${side % 4}` });
      add(group, "polyline", { points: chances.map((shares, at) => `${x(at)},${y(shares[side])}`).join(" ") });
      const last = chances.length - 1;
      group.append(Emblem.draw(emblem, { x: x(last) + 4, y: y(chances[last][side]) - 6, width: 12, height: 12 }));
    });
  }

  /** Draws the marks as buttons: two sides have a lane each, more share one for luck and one for mistakes. */
  function marks(svg, review, emblems, x, bottom, go) {
    const lane = ({ side, kind }) => ((emblems.length === 2 ? side === 1 : kind === "luck") ? 0 : bottom);
    for (const one of review.marks) {
      const { at, side, kind, grade, sign, words } = one, high = lane(one);
      // Of mistakes that would overlap only the blunders are marked.
      const near = review.marks.some((other) => other !== one && lane(other) === high && Math.abs(x(other.at) - x(at)) < MARK);
      if (near && (grade === 1 || grade === 2)) continue;
      const group = add(svg, "g", { class: `mark ${kind} ${Emblem.colour(emblems[side])}`, role: "button", tabindex: 0, "aria-label": words, "data-at": at });
      add(group, "title", {}, words);
      add(group, "rect", { x: x(at) - 8, y: high, width: 16, height: LANE, rx: 3 });
      add(group, "text", { x: x(at), y: high + 13, "text-anchor": "middle" }, sign);
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        go(at);
      });
    }
  }

  /** Draws the line of chances, or only the lanes if there are none; a click goes to its moment. */
  function draw(svg, review, scenes, about, emblems, go) {
    svg.replaceChildren();
    const width = Math.max(240, svg.clientWidth || 320), last = Math.max(1, scenes.length - 1);
    const two = about.sides.length === 2, flat = !review.chances.length;
    const top = LANE, bottom = top + (flat ? 0 : HIGH), high = bottom + LANE;
    const x = (at) => LEFT + (at / last) * (width - LEFT - RIGHT);
    const y = (share) => bottom - (share / 100) * (bottom - top);
    svg.setAttribute("viewBox", `0 0 ${width} ${high}`);
    svg.setAttribute("height", high);
    const shown = emblems.slice(0, about.sides.length);
    if (!flat) (two ? areas : lines)(svg, review.chances, shown, x, y);
    add(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: y(50), y2: y(50), class: "half" });
    scenes.forEach(({ round }, at) => {
      if (at && round !== scenes[at - 1].round) add(svg, "line", { x1: x(at), x2: x(at), y1: top, y2: bottom, class: "grid" });
    });
    add(svg, "line", { y1: 0, y2: high, class: "now" });
    marks(svg, review, shown, x, bottom, go);
    svg.onclick = (event) => {
      const chosen = event.target.closest(".mark");
      const spot = (event.clientX - svg.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
      go(chosen ? Number(chosen.dataset.at) : Math.round(spot * last));
    };
    svg.setAttribute("aria-label", `${flat ? "Mistakes" : "Chances, mistakes and luck"} by move; the table below says the same`);
  }

  /** Shows the current moment on the line, and its chances in words, which are returned. */
  function mark(svg, node, review, scenes, about, at) {
    const now = svg.querySelector(".now"), box = svg.viewBox.baseVal;
    const x = LEFT + (at / Math.max(1, scenes.length - 1)) * (box.width - LEFT - RIGHT);
    for (const end of ["x1", "x2"]) now.setAttribute(end, x);
    const shares = percents(review.chances[at] || []);
    const told = shares.map((share, side) => `${about.sides[side]} ${share}`);
    const leads = review.leads[at] || [], best = leads.indexOf(Math.max(...leads));
    const ahead = leads[best] >= 0.05 ? `; still to come in this round: ${about.sides[best]} ${signed(leads[best])} points` : "";
    const chances = told.length ? `${told.length === 2 ? "Chances" : "Chances against another"}: ${told.join(", ")}` : "";
    const here = review.marks.filter((one) => one.at === at).map(({ words }) => words);
    node.textContent = [chances && `${chances}${ahead}`, ...here].filter(Boolean).map((one) => `${one}.`).join("\n");
    return chances && told.join(", ");
  }

  /** Explains the signs of the marks. */
  function legend(node, { grades, chances }) {
    node.replaceChildren();
    grades.forEach((points, at) => {
      const [sign, name] = GRADES[at + 1];
      Panels.add(node, "strong", sign);
      node.append(` ${name}: ${+points.toFixed(1)}${at ? "" : " points lost or more"} · `);
    });
    if (chances.length) node.append(`▲ lucky, ▼ unlucky deal or draw: ${LUCKY} % of the game · Chances know every tile; mistakes, what the bot saw.`);
  }

  /** Adds the gaps to the list of moves. */
  function list(items, review) {
    for (const { at, gap, grade } of review.decisions) {
      if (gap < 0.05 || !items[at]) continue;
      const [sign, name] = GRADES[grade];
      const node = Panels.add(items[at], "span", "", `loss ${grade ? "bad" : ""}`.trim());
      Panels.add(node, "span", `${sign} −${gap.toFixed(1)}`.trim()).setAttribute("aria-hidden", "true");
      Panels.add(node, "span", ` (${name ? `${name}, ` : ""}${gap.toFixed(1)} points lost)`, "hide");
    }
  }

  /** Lists the marks and the ends of rounds in a table, each with a button that goes there. */
  function table(node, review, scenes, about, go) {
    const ends = scenes.map(({ points, round }, at) => ({ at, words: `Round ${round} is over`, over: points.length }));
    const rows = [...review.marks, ...ends.filter(({ over }) => over)].sort((one, other) => one.at - other.at);
    const sides = review.chances.length ? about.sides : [];
    node.replaceChildren();
    const head = Panels.add(Panels.add(node, "thead"), "tr");
    for (const words of ["move", "event", ...sides]) {
      const cell = Panels.add(head, "th", "", words === "event" ? "" : "number");
      cell.setAttribute("scope", "col");
      Panels.add(cell, "span", words);
    }
    const body = Panels.add(node, "tbody");
    for (const { at, words } of rows) {
      const row = Panels.add(body, "tr"), cell = Panels.add(row, "th", "", "number");
      cell.setAttribute("scope", "row");
      const button = Panels.add(cell, "button", `${at + 1}`);
      button.setAttribute("aria-label", `Go to move ${at + 1}`);
      button.addEventListener("click", () => go(at));
      Panels.add(row, "td", words);
      for (const share of percents(review.chances[at] || [])) Panels.add(row, "td", share, "number");
    }
  }

  /** Returns the next mark of a kind after a moment, or before it; none at the end. */
  function next(review, kind, at, by) {
    const found = review.marks.filter((one) => one.kind === kind && by * (one.at - at) > 0);
    return found.at(by > 0 ? 0 : -1);
  }

  /** Returns the number of the option with the highest value. */
  const finest = ({ leads }) => leads.indexOf(Math.max(...leads));

  /** Returns columns for the table of seats: points by luck and by mistakes up to a moment, as `explain` counts them. */
  function sums({ draws, decisions, chances }, sides, at) {
    const sum = (all, counts, of) => all.filter((one) => one.at <= at && counts(one)).reduce((total, one) => total + of(one), 0);
    // The tiles of all seats matter; a deal is there once for each of them.
    const luck = { head: "luck", of: (seat) => signed(sum(draws, (one) => one.drawn.length || one.seat === seat,
      ({ leads }) => leads[seat % sides])) };
    const lost = { head: "choices", of: (seat) => (decisions.some((one) => one.seat === seat)
      ? signed(-sum(decisions, (one) => one.seat === seat, ({ loss }) => loss)) : "?") };
    return chances.length ? [luck, lost] : [lost];
  }

  /** Returns the value of an option, with its error unless it is exact. */
  function value({ leads, errors }, number) {
    return `${signed(leads[number])}${width(errors[number])}`;
  }

  /** Returns what a decision cost, in a sentence. */
  function judged(one, { chosen, options }) {
    const [, name] = GRADES[one.grade], best = one.leads[chosen] === Math.max(...one.leads);
    const better = `${Tiles.option(options[finest(one)]).words} was better`;
    const cost = one.gap >= 0.05 ? `${better}; ${lost(one)}${name ? `: ${name}` : ""}.`
      : best ? "It chose the best option." : "No other option was clearly better.";
    return `${cost} Beside each option: the lead in points to be expected in this round after it (95 %).`;
  }

  return { read, draw, mark, legend, list, table, next, sums, value, judged };
})();
