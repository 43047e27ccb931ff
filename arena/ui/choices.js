/* Choosing a play on the table: one tile, its end, or two tiles at once. */
"use strict";
const Choices = (() => {
  /** Makes a part of the table clickable, by mouse, finger or key. */
  function clickable(element, label, act) {
    element.classList.add("choice");
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", "0");
    element.setAttribute("aria-label", label);
    element.addEventListener("click", act);
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
  }

  /** Returns the options that play tiles: their numbers, the tiles, and their ends. */
  function plays(asked) {
    return asked.options.map((text, number) => ({ number, ...Table.option(text) }))
      .map((one) => ({ ...one, tiles: one.plays.map((play) => Table.written(play.tile)) }))
      .filter((one) => one.plays.length);
  }

  const all = (open, picked) => open.filter((one) => picked.every((tile) => one.tiles.includes(tile)));

  /** Describes the effect of a click on this tile. */
  function label(name, open) {
    if (open.length === 1 && open[0].plays.length === 1) return `play ${open[0].words}`;
    const ways = [[1, "an end"], [2, "another tile"]]
      .filter(([many]) => open.some((one) => one.plays.length === many)).map(([, words]) => words);
    return `play ${name}: choose ${ways.join(" or ")}`;
  }

  /** Makes each tile of the hand clickable if an option plays it. */
  function offered(scene, look) {
    const options = plays(scene.asked), drawn = new Map();
    let picked = [];

    /** Marks the picked tile; shows its possible ends, and the tiles that can go with it. */
    function show(svg, open) {
      svg.querySelectorAll(".ghost").forEach((ghost) => ghost.remove());
      for (const [name, tile] of drawn) {
        tile.classList.toggle("picked", picked.includes(name));
        const mate = !picked.includes(name) && open.some((one) => one.tiles.includes(name));
        tile.classList.toggle("mate", mate);
        tile.setAttribute("aria-label", mate ? `play ${name} with ${picked[0]}` : label(name, all(options, [name])));
      }
      for (const { number, words, plays: both, tiles } of open) {
        if (both.length === picked.length) look.ghost(number, words, both[tiles.indexOf(picked[0])].end);
      }
    }

    function pick(svg, name) {
      const pair = picked.length === 1 && picked[0] !== name && all(options, [...picked, name]).length;
      picked = pair ? [...picked, name] : [name];
      const open = all(options, picked);
      if (open.length === 1 && open[0].plays.length === picked.length) look.choose(open[0].number);
      else show(svg, open);
    }

    return (tile, pips) => {
      const name = pips && Table.written(pips);
      const open = name ? all(options, [name]) : [];
      if (!open.length) return;
      drawn.set(name, tile);
      clickable(tile, label(name, open), () => pick(tile.ownerSVGElement, name));
    };
  }

  return { clickable, offered };
})();
