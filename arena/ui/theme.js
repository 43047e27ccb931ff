/* What every page has: a theme, the system's unless the user chooses light or dark, which the browser remembers; and folds that open when a link leads into them. */
"use strict";
(() => {
  const KEY = "boneyard-theme";
  const THEMES = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" };

  /** Returns the remembered theme; where the browser keeps nothing, the system's. */
  function remembered() {
    try {
      const kept = localStorage.getItem(KEY);
      return kept in THEMES ? kept : "auto";
    } catch {
      return "auto";
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice holds until the page is closed.
    }
  }

  function apply(theme) {
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.textContent = THEMES[theme];
    button.setAttribute("aria-label", `Theme: ${theme}`);
  }

  /** Takes the next theme in turn. */
  function turn() {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
    remember(next);
    apply(next);
  }

  /** Opens what is folded around a part of the page, and the part itself; returns the part. */
  globalThis.unfold = (part) => {
    for (let at = part; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    const own = part.querySelector(":scope > details");
    if (own) own.open = true;
    return part;
  };

  /** Opens the part to which the page's address leads. */
  function arrive() {
    const part = document.getElementById(location.hash.slice(1));
    if (part) unfold(part);
  }

  addEventListener("hashchange", arrive);
  apply(remembered()); // Before the body is there: no page flashes up in the other theme.
  document.addEventListener("DOMContentLoaded", () => {
    apply(document.documentElement.dataset.theme);
    document.getElementById("theme").addEventListener("click", turn);
    arrive();
  });
})();
