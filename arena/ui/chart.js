/* The chart of the points by round, and the turning points of a game, from its scenes. */
"use strict";
const Chart = (() => {
  const { add } = Tiles;
  const HIGH = 150, LEFT = 34, RIGHT = 16, TOP = 12, BOTTOM = 22;
  const MOST = 8; // Turning points that are listed.

  /** Returns each round that is over: its number, its last moment, the sides' points in and after it. */
  function rounds(scenes, { sides }) {
    const of = (points) => points.slice(0, sides.length); // Partners share theirs.
    return scenes.map((scene, over) => ({ ...scene, over })).filter(({ points }) => points.length)
      .map(({ round, over, points, scores }) => ({ round, over, won: of(points), after: of(scores) }));
  }

  /** Returns the only side that leads; null if none does. */
  function leader(points) {
    const most = Math.max(...points);
    return points.filter((one) => one === most).length === 1 ? points.indexOf(most) : null;
  }

  /** Returns the moments that decided the game, in their order: where, and in words. */
  function turns(scenes, about) {
    const all = rounds(scenes, about), found = [];
    const most = Math.max(...all.flatMap(({ won }) => won));
    // A side of partners has two names.
    const says = about.names.length > about.sides.length ? ["lead", "take the lead"] : ["leads", "takes the lead"];
    let ahead = null;
    for (const { round, won, after, over } of all) {
      const now = leader(after), gain = Math.max(...won);
      const who = about.sides[won.indexOf(gain)];
      if (now !== null && now !== ahead) {
        found.push({ at: over, words: `Round ${round}: ${about.sides[now]} ${says[Number(ahead !== null)]} (won ${gain})` });
        ahead = now;
      } else if (gain === most && gain > 0) {
        found.push({ at: over, words: `Round ${round}: ${who} +${gain}, the most in a round` });
      }
    }
    const fouls = scenes.map(({ foul }, at) => ({ foul, at })).filter(({ foul }) => foul)
      .map(({ foul, at }) => ({ at, words: `Foul of ${about.names[foul.seat]}: ${foul.foul}` }));
    return [...found.slice(-MOST), ...fouls.slice(0, MOST)].sort((one, other) => one.at - other.at);
  }

  /** Returns a round number for a grid of about three lines. */
  function step(most) {
    const rough = most / 3, ten = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
    return Math.max(1, [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= rough));
  }

  function grid(svg, most, width, y) {
    for (let points = 0; points <= most; points += step(most)) {
      add(svg, "line", { x1: LEFT, x2: width - RIGHT, y1: y(points), y2: y(points), class: "grid" });
      add(svg, "text", { x: LEFT - 6, y: y(points) + 4, "text-anchor": "end" }, `${points}`);
    }
  }

  /** Draws one side's points: a line of its colour and dashes, and its emblem at the end. */
  function side(svg, all, at, number, x, y) {
    const spots = [[x(0), y(0)], ...all.map(({ after }, round) => [x(round + 1), y(after[at])])];
    const group = add(svg, "g", { class: `side ${Emblem.colour(number)} d${at % 4}` });
    add(group, "polyline", { points: spots.map((spot) => spot.join(",")).join(" ") });
    const [ex, ey] = spots.at(-1);
    group.append(Emblem.draw(number, { x: ex - 7, y: ey - 7, width: 14, height: 14 }));
  }

  /** Draws the points of all sides by round; a click on a round goes to its end. */
  function scores(svg, scenes, about, emblems, go) {
    const all = rounds(scenes, about);
    svg.replaceChildren();
    svg.toggleAttribute("hidden", !all.length);
    if (!all.length) return;
    const width = Math.max(240, svg.clientWidth || 320);
    const most = Math.max(1, ...all.flatMap(({ after }) => after));
    const x = (round) => LEFT + (round / all.length) * (width - LEFT - RIGHT);
    const y = (points) => HIGH - BOTTOM - (points / most) * (HIGH - TOP - BOTTOM);
    svg.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    grid(svg, most, width, y);
    const every = Math.ceil(all.length / 12);
    all.forEach(({ round, over }, at) => {
      const wide = (width - LEFT - RIGHT) / all.length;
      const band = add(svg, "rect", { x: x(at), y: TOP, width: wide, height: HIGH - TOP - BOTTOM, class: "band", "data-round": round });
      band.addEventListener("click", () => go(over));
      if (at % every === 0) add(svg, "text", { x: x(at + 1), y: HIGH - 6, "text-anchor": "middle" }, `${round}`);
    });
    about.sides.forEach((_, at) => side(svg, all, at, emblems[at], x, y));
    const told = about.sides.map((name, at) => `${name} ${all.map(({ after }) => after[at]).join(", ")}`);
    svg.setAttribute("aria-label", `Points by round: ${told.join("; ")}`);
  }

  /** Marks the round that is shown. */
  function mark(svg, round) {
    for (const band of svg.querySelectorAll(".band")) {
      band.classList.toggle("now", Number(band.dataset.round) === round);
    }
  }

  return { scores, turns, mark };
})();
