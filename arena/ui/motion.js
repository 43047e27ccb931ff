/* Motion: a tile that has another place after a new drawing glides there, unless the user's system
   asks for reduced motion. */
"use strict";
const Motion = (() => {
  const MOVE_MS = 333;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /** Returns the places of everything that can move, by tile, and of the seats and the boneyard. */
  function places(svg) {
    const found = new Map();
    for (const { dataset } of svg.querySelectorAll("[data-tile], [data-part]")) {
      const at = { x: Number(dataset.x), y: Number(dataset.y), unit: Number(dataset.unit) };
      found.set(dataset.tile || dataset.part, at);
    }
    return found;
  }

  function glide(element, from) {
    const { x, y, unit } = element.dataset;
    const [dx, dy, scale] = [from.x - x, from.y - y, (from.unit || unit) / unit]; // A seat has no size.
    if (Math.abs(dx) + Math.abs(dy) < 1 && scale === 1) return;
    const away = `translate(${dx}px, ${dy}px) scale(${scale})`;
    element.animate([{ transform: away }, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
  }

  /** Draws by calling `draw`, and moves the tiles from where they were. A tile that could not be
      seen before comes from `mover`'s seat to the line, and from the boneyard to a hand. */
  function move(svg, draw, mover = null) {
    const before = places(svg);
    draw();
    if (still.matches || !before.size || document.hidden) return;
    for (const tile of svg.querySelectorAll("[data-tile]")) {
      const source = tile.closest(".line") ? `seat-${mover}` : "boneyard";
      const from = before.get(tile.dataset.tile) || before.get(source);
      if (from) glide(tile, from);
    }
  }

  return { move };
})();
