/* The theme: the system's unless the user chooses light or dark, which the browser remembers. */
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

  apply(remembered()); // Before the body is there: no page flashes up in the other theme.
  document.addEventListener("DOMContentLoaded", () => {
    apply(document.documentElement.dataset.theme);
    document.getElementById("theme").addEventListener("click", turn);
  });
})();
