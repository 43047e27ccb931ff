/* A seat at the table over a socket: shows each message (browser_player.py), sends a choice. */
"use strict";
(() => {
  const about = JSON.parse(document.getElementById("data").textContent);
  const nodes = Object.fromEntries(
    [...document.querySelectorAll("[id]")].map((node) => [node.id, node]),
  );
  const GOING_AWAY = 1001; // The close code of a server that ends.
  const RETRY_MS = 2000;
  const SAID = 300; // Most lines of the history.
  const waiting = []; // Messages after the end of a round, until the user goes on.
  let socket = null, now = null, answered = false;

  function add(parent, name, text = "") {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  }

  const open = () => now !== null && now.id !== null && !answered;
  const paused = () => now !== null && now.scene.points.length > 0 && !now.over;

  function choose(choice) {
    if (!open()) return;
    answered = true;
    socket.send(JSON.stringify({ id: now.id, choice }));
    draw();
  }

  /** Continues after the end of a round. */
  function next() {
    if (waiting.length) show(waiting.shift());
  }

  /** Draws the table and the options. */
  function draw() {
    const { scene, seat } = now;
    const look = { seat, numbers: nodes.numbers.checked };
    if (open()) look.choose = choose;
    Table.draw(nodes.table, scene, about, look);
    Table.options(nodes.options, open() ? scene : { asked: null }, look);
    if (paused() && waiting.length) {
      add(add(nodes.options, "li"), "button", "Go on").addEventListener("click", next);
    }
    nodes.whose.textContent = whose();
  }

  function whose() {
    if (now.over) return ended();
    if (open()) return "It is your turn:";
    return paused() && waiting.length ? "The round is over." : "The others are playing.";
  }

  /** Describes the result for this seat. */
  function ended() {
    const places = now.scene.places.slice(0, about.sides.length); // Partners share theirs.
    const own = places[now.seat % places.length];
    const tied = places.filter((place) => place === own).length > 1;
    if (own === 1) return tied ? "The game is over: you tie for the win." : "The game is over: you win.";
    if (places.length === 2) return "The game is over: you lose.";
    return `The game is over: you are in place ${own} of ${places.length}.`;
  }

  function scores() {
    const { scores: points, points: won } = now.scene;
    const body = nodes.scores.tBodies[0];
    body.replaceChildren();
    about.sides.forEach((side, at) => {
      const row = add(body, "tr");
      add(row, "th", side).scope = "row";
      add(row, "td", `${points[at] ?? 0}${won.length ? ` (+${won[at]})` : ""}`);
    });
  }

  function show(shown) {
    const typing = nodes.options.contains(document.activeElement)
      || nodes.table.contains(document.activeElement);
    now = shown;
    answered = false;
    const { scene } = now;
    nodes.words.textContent = `Round ${scene.round}. ${scene.words}`;
    if (scene.words) {
      const item = add(nodes.said, "li", nodes.words.textContent);
      while (nodes.said.children.length > SAID) nodes.said.firstChild.remove();
      nodes.said.scrollTop = item.offsetTop;
    }
    draw();
    scores();
    nodes.kept.hidden = !now.over;
    if (typing) nodes.options.querySelector("button")?.focus();
    nodes.main.dataset.over = now.over;
    tick();
  }

  /** Shows the time left for the open question, also while the round's end is shown. */
  function tick() {
    const asked = [now, ...waiting].filter(Boolean).at(-1);
    const left = asked?.until && !answered ? Math.max(0, asked.until - Date.now()) : null;
    nodes.clock.textContent = left === null ? "" : `${Math.ceil(left / 1000)} s left`;
  }

  function connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    socket = new WebSocket(address);
    socket.addEventListener("open", () => {
      waiting.length = 0;
      now = null; // The server sends the newest message again.
    });
    socket.addEventListener("message", (event) => {
      const shown = JSON.parse(event.data);
      if (shown.over) {
        waiting.splice(0).forEach(show);
        show(shown);
      } else if (paused() || waiting.length) {
        waiting.push(shown);
        draw();
      } else {
        show(shown);
      }
    });
    socket.addEventListener("close", (event) => {
      if (now?.over) return;
      const gone = event.code === GOING_AWAY;
      nodes.words.textContent = gone ? "The game was ended." : "Connection lost; reconnecting.";
      if (!gone) setTimeout(connect, RETRY_MS);
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^[1-9]$/.test(event.key)) return;
    nodes.options.querySelectorAll("button")[Number(event.key) - 1]?.click();
  });
  nodes.numbers.addEventListener("change", () => now && draw());
  addEventListener("resize", () => now && draw());
  setInterval(tick, 500);
  connect();
})();
