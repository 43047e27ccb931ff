/* The line on the table: where each tile lies, in half tiles around the tile that was led.
   It runs along rows and turns at their ends, as on a real table: the right arm winds downwards,
   the left arm upwards, so that they cannot meet. Doubles lie crosswise. There are no branches. */
"use strict";
const Line = (() => {
  const PLAIN = [0, 1]; // A tile that is not a double, for the places of the next tiles.

  const length = (arm) => arm.reduce((sum, [one, other]) => sum + (one === other ? 1 : 2), 0);

  /** Returns places of tiles laid one after another to the right, and down at the end of a row.
      The first begins at `from`; rows end at `right` and at `left`. A place: both halves' middles. */
  function chain(arm, from, right, left) {
    const places = [];
    let x = from, y = 0, way = 1, stood = false, turned = false;
    for (const [one, other] of arm) {
      const across = one === other && !turned;
      const long = across ? 1 : 2;
      const over = way > 0 ? x + long > right : -x + long > left;
      if (!turned && over && places.length) {
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

  /** Returns how far the rows reach to the right and the left of the middle: an arm that needs less
      than half of the row leaves the rest to the other. */
  function reach(line, lead, row) {
    const first = line[lead] && line[lead][0] === line[lead][1] ? 0.5 : 1;
    const right = first + length(line.slice(lead + 1)), left = first + length(line.slice(0, lead));
    if (right + left <= row) return { right: row, left: row };
    if (right < row / 2) return { right, left: row - right };
    if (left < row / 2) return { right: row - left, left };
    return { right: row / 2, left: row / 2 };
  }

  /** Returns places of the line around the tile that was laid first, which stays in the middle. */
  function lay(line, lead, { right, left }) {
    const double = line[lead][0] === line[lead][1];
    const middle = double ? [0, -0.5, 0, 0.5] : [-0.5, 0, 0.5, 0];
    const from = double ? 0.5 : 1;
    const after = chain(line.slice(lead + 1), from, right, left);
    const before = chain(line.slice(0, lead).reverse(), from, left, right);
    // The other way round: a tile is named from left to right, but was laid from right to left.
    const back = before.map(([ax, ay, bx, by]) => [-bx, -by, -ax, -ay]).reverse();
    return [...back, middle, ...after];
  }

  /** Returns places of the line's tiles and of the next tile at each end, and the box around all.
      `room`: a longer line by which the rows are cut, so that this one does not move as it grows. */
  function layout(line, lead, row, room = { line, lead }) {
    if (!line.length) {
      const middle = [-0.5, 0, 0.5, 0];
      return { places: [], ends: { left: middle, right: middle }, box: around([middle]) };
    }
    const limits = reach([PLAIN, ...room.line, PLAIN], room.lead + 1, row);
    const [left, ...rest] = lay([PLAIN, ...line, PLAIN], lead + 1, limits);
    const right = rest.pop();
    return { places: rest, ends: { left, right }, box: around([left, ...rest, right]) };
  }

  /** Returns the box around places. */
  function around(places) {
    const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
    for (const [ax, ay, bx, by] of places) {
      box.left = Math.min(box.left, ax - 0.5, bx - 0.5);
      box.right = Math.max(box.right, ax + 0.5, bx + 0.5);
      box.top = Math.min(box.top, ay - 0.5, by - 0.5);
      box.bottom = Math.max(box.bottom, ay + 0.5, by + 0.5);
    }
    return box;
  }

  return { layout };
})();
