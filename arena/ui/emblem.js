/* The emblem of each entrant: a colour and a shape, full or hollow, as in emblems.html.j2. */
"use strict";
const Emblem = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const KINDS = 8;

  /** Returns the class of the colour of an entrant by its number. */
  const colour = (number) => `c${number % KINDS}${Math.floor(number / KINDS) % 2 ? " hollow" : ""}`;
  const shape = (number) => `#shape-${(number + Math.floor(number / KINDS / 2)) % KINDS}`;

  /** Returns the emblem as an element; within a drawing it is placed by `box`. */
  function draw(number, box = {}) {
    const svg = document.createElementNS(SVG, "svg");
    const wanted = { class: `emblem ${colour(number)}`, "aria-hidden": "true", ...box };
    for (const [key, value] of Object.entries(wanted)) svg.setAttribute(key, value);
    svg.append(document.createElementNS(SVG, "use"));
    svg.firstChild.setAttribute("href", shape(number));
    return svg;
  }

  /** Returns the numbers of the seats; a page of no event counts its seats. */
  const numbers = (names, known) => names.map((name, seat) => known[name] ?? seat);

  return { draw, colour, numbers };
})();
