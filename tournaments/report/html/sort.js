// Tables that sort by a click on a column's head; nothing else depends on it.
"use strict";

function made(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  if (text !== "") element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// A number as it stands in a cell: a sign, a bound or a rest in small print may be with it.
function number(text) {
  return parseFloat(text.replace("−", "-").replace("½", ".5").replace(/^[<>]|,/g, ""));
}

function compared(numeric, up) {
  return (one, other) => {
    if (!numeric) return (up ? 1 : -1) * one.key.localeCompare(other.key, "en", { numeric: true });
    const [a, b] = [number(one.key), number(other.key)];
    // What is no number, for it is not known, stands last either way.
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
    return up ? a - b : b - a;
  };
}

function sort(table, head) {
  const column = head.cellIndex;
  const numeric = head.classList.contains("n");
  const now = head.getAttribute("aria-sort");
  // Numbers begin with the greatest, but ranks with the first.
  const upFirst = !numeric || head.textContent.startsWith("#");
  const up = now === null ? upFirst : now === "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: row.cells[column].textContent.trim() }));
  rows.sort(compared(numeric, up));
  table.tBodies[0].append(...rows.map(({ row }) => row));
}

for (const table of document.querySelectorAll("table.sorts")) {
  for (const head of table.tHead.rows[0].cells) {
    if (head.querySelector("svg")) continue;
    const button = made("button", head.textContent.trim(), { type: "button" });
    button.addEventListener("click", () => sort(table, head));
    head.replaceChildren(button);
  }
}
