/* The numbers of their own that bots sent with their answers: a line for each seat. */
"use strict";
const Numbers = (() => {
  const { add } = Tiles;
  const HIGH = 84, LEFT = 24, RIGHT = 20, EDGE = 8; // Left and right as the line of chances, which is above it.
  const MOST = 16; // Names that can be chosen: a bot may send others with each answer.

  /** Returns the names of the numbers, in the order in which they came. */
  const names = (scenes) => [...new Set(scenes.flatMap(({ asked }) => Object.keys(asked?.info ?? {})))].slice(0, MOST);

  /** Returns a number with at most four digits behind the point. */
  const written = (number) => `${Math.round(number * 1e4) / 1e4}`.replace("-", "−");

  /** Returns an answer's numbers in words. */
  const words = (info) => Object.entries(info ?? {}).map(([name, number]) => `${name} ${written(number)}`).join(", ");

  /** Draws the numbers of a name, and says their ranges; a click goes to its moment. */
  function draw(svg, range, scenes, about, name, emblems, go) {
    svg.replaceChildren();
    const points = scenes.map(({ asked }, at) => ({ at, seat: asked?.seat, number: Object.entries(asked?.info ?? {}).find(([key]) => key === name)?.[1] }))
      .filter(({ number }) => number !== undefined);
    const width = Math.max(240, svg.clientWidth || 320), last = Math.max(1, scenes.length - 1), ranges = [];
    const x = (at) => LEFT + (at / last) * (width - LEFT - RIGHT);
    svg.setAttribute("viewBox", `0 0 ${width} ${HIGH}`);
    svg.setAttribute("height", HIGH);
    for (const seat of new Set(points.map((point) => point.seat))) {
      const line = points.filter((point) => point.seat === seat), end = line.at(-1);
      // Each seat has a scale of its own: what one bot calls value is points, and what another does chances.
      const numbers = line.map(({ number }) => number), [least, most] = [Math.min(...numbers), Math.max(...numbers)];
      const y = (number) => HIGH - EDGE - ((number - least) / (most - least || 1)) * (HIGH - 2 * EDGE);
      const group = add(svg, "g", { class: `share ${Emblem.colour(emblems[seat])} d${seat % 4}` });
      add(group, "polyline", { points: line.map(({ at, number }) => `${x(at)},${y(number)}`).join(" ") });
      group.append(Emblem.draw(emblems[seat], { x: x(end.at) + 4, y: y(end.number) - 6, width: 12, height: 12 }));
      ranges.push(`${about.names[seat]} from ${written(least)} to ${written(most)}`);
    }
    add(svg, "line", { y1: 0, y2: HIGH, class: "now" });
    svg.onclick = (event) => {
      const spot = (event.clientX - svg.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT);
      go(Math.min(last, Math.max(0, Math.round(spot * last))));
    };
    range.textContent = ranges.join("; ");
    svg.setAttribute("aria-label", `${name} by move, ${range.textContent}; the question below has each`);
  }

  /** Marks the current moment. */
  function mark(svg, scenes, at) {
    const width = svg.viewBox.baseVal.width, x = LEFT + (at / Math.max(1, scenes.length - 1)) * (width - LEFT - RIGHT);
    for (const end of ["x1", "x2"]) svg.querySelector(".now")?.setAttribute(end, x);
  }

  return { names, words, draw, mark };
})();
