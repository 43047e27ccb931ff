/* Choosing a play on the table: a tile and its end, by click, drag or key, or two tiles at once. */
"use strict";
const Choices = (() => {
  const DRAG_PX = 8; // A pointer that moves less than this clicks.
  const DROP_PX = 90; // A tile that is dropped so near to an end is played there.

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
    return asked.options.map((text, number) => ({ number, ...Tiles.option(text) }))
      .map((one) => ({ ...one, tiles: one.plays.map((play) => Tiles.written(play.tile)) }))
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

  /** Returns the middle of an element on the screen. */
  function centre(element) {
    const box = element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  }

  /** Lets a tile be dragged: `lift` shows where it can go; where it is dropped near, `drop` acts. */
  function draggable(tile, lift, drop) {
    let start = null, lifted = false;
    tile.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      [start, lifted] = [[event.clientX, event.clientY], false];
      tile.setPointerCapture(event.pointerId);
    });
    tile.addEventListener("pointermove", (event) => {
      if (!start) return;
      const [dx, dy] = [event.clientX - start[0], event.clientY - start[1]];
      if (!lifted && Math.hypot(dx, dy) < DRAG_PX) return;
      if (!lifted) lift();
      lifted = true;
      tile.style.transform = `translate(${dx}px, ${dy}px)`;
    });
    const end = (event) => {
      const at = [event.clientX, event.clientY], moved = lifted;
      [start, lifted] = [null, false];
      tile.style.transform = "";
      if (!moved) return;
      // The click that follows a drag, if one does, picks nothing.
      const ignore = (click) => click.stopPropagation();
      addEventListener("click", ignore, { capture: true });
      setTimeout(() => removeEventListener("click", ignore, { capture: true }), 0);
      if (event.type === "pointerup") drop(at);
    };
    tile.addEventListener("pointerup", end);
    tile.addEventListener("pointercancel", end);
  }

  /** Makes each tile of the hand clickable if an option plays it. */
  function offered(scene, look) {
    const options = plays(scene.asked), drawn = new Map();
    let picked = [];

    /** Shows the ends at which the picked tiles can be played. */
    function ends(svg, open) {
      svg.querySelectorAll(".ghost").forEach((ghost) => ghost.remove());
      for (const { number, words, plays: both, tiles } of open) {
        if (both.length === picked.length) look.ghost(number, words, both[tiles.indexOf(picked[0])].end);
      }
    }

    /** Marks the picked tile; shows its possible ends, and the tiles that can go with it. */
    function show(svg, open) {
      for (const [name, tile] of drawn) {
        tile.classList.toggle("picked", picked.includes(name));
        const mate = !picked.includes(name) && open.some((one) => one.tiles.includes(name));
        tile.classList.toggle("mate", mate);
        tile.setAttribute("aria-label", mate ? `play ${name} with ${picked[0]}` : label(name, all(options, [name])));
      }
      ends(svg, open);
    }

    function pick(svg, name) {
      const pair = picked.length === 1 && picked[0] !== name && all(options, [...picked, name]).length;
      picked = pair ? [...picked, name] : [name];
      const open = all(options, picked);
      if (open.length === 1 && open[0].plays.length === picked.length) look.choose(open[0].number);
      else show(svg, open);
    }

    /** Plays the dragged tile at the end that is near; else it goes back to the hand. */
    function drop(svg, [x, y]) {
      const ghosts = [...svg.querySelectorAll(".ghost")].map((ghost) => {
        const [gx, gy] = centre(ghost);
        return { number: Number(ghost.dataset.option), away: Math.hypot(gx - x, gy - y) };
      }).sort((one, other) => one.away - other.away);
      if (ghosts.length && ghosts[0].away < DROP_PX) look.choose(ghosts[0].number);
    }

    function lift(svg, name) {
      picked = [name];
      show(svg, all(options, picked));
    }

    return (tile, pips) => {
      const name = pips && Tiles.written(pips);
      const open = name ? all(options, [name]) : [];
      if (!open.length) return;
      drawn.set(name, tile);
      const svg = () => tile.ownerSVGElement;
      clickable(tile, label(name, open), () => pick(svg(), name));
      draggable(tile, () => lift(svg(), name), (at) => drop(svg(), at));
    };
  }

  return { clickable, offered };
})();
