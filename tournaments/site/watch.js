/* Follows an event over a socket, or by a file: each message is a complete snapshot (view.py). */
"use strict";
(() => {
  const nodes = Object.fromEntries(
    [...document.querySelectorAll("[id]")].map((node) => [node.id, node]),
  );
  const GOING_AWAY = 1001; // The close code of a server that ends.
  const QUIET_MS = 30000; // Time without news after which the run may have stopped.
  const RETRY_MS = 2000;
  const ASK_MS = 5000; // Time between two requests for the file; after the event it is ten times that.
  const shown = new Map(); // By sitting: the parts of its article, and the drawn scene.
  let now = null, quiet = null, heard = 0, last = "";

  function add(parent, name, text = "") {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  }

  /** Makes the article of a table. */
  function article(sitting) {
    const frame = add(nodes.tables, "article");
    const head = add(frame, "h3"), badge = add(head, "span"), title = add(head, "span");
    badge.className = "badge";
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "table");
    svg.setAttribute("role", "group");
    frame.append(svg);
    const parts = { frame, title, badge, svg, words: add(frame, "p"), said: add(frame, "ol") };
    parts.replay = add(add(frame, "p"), "a", "Replay this game");
    parts.replay.target = "_blank";
    shown.set(sitting, parts);
    return parts;
  }

  /** Draws a table if anything on it has changed. */
  function draw(game, again) {
    const parts = shown.get(game.sitting) || article(game.sitting);
    const key = JSON.stringify([game, nodes.numbers.checked]);
    if (parts.key === key && !again) return;
    parts.key = key;
    const { about, scene } = game;
    const emblems = Emblem.numbers(about.names, now.emblems);
    Panels.title(parts.title, [scene], about, emblems);
    parts.title.title = about.game;
    parts.badge.textContent = game.over ? "over" : `● live, round ${scene.round}`;
    parts.words.textContent = `Round ${scene.round}. ${scene.words}`;
    parts.said.replaceChildren();
    for (const words of game.said) add(parts.said, "li", words || "–");
    parts.svg.setAttribute("aria-label", `The table of ${about.game}. ${parts.words.textContent}`);
    parts.replay.parentElement.hidden = !game.replay;
    if (game.replay) parts.replay.href = game.replay;
    parts.frame.dataset.over = game.over;
    const render = () => Table.draw(parts.svg, scene, about, { numbers: nodes.numbers.checked, emblems });
    const same = parts.scene && parts.game === about.game && parts.scene.round === scene.round;
    if (same) Motion.move(parts.svg, render, parts.scene.turn);
    else render();
    Object.assign(parts, { scene, game: about.game });
  }

  /** Lists the tables, and shows the selected one. */
  function tables(again) {
    const games = new Map(now.playing.map((game) => [game.sitting, game]));
    const listed = [...nodes.which.options].map((option) => option.value).slice(1);
    for (const sitting of games.keys()) {
      if (!listed.includes(sitting)) add(nodes.which, "option", sitting).value = sitting;
    }
    for (const option of [...nodes.which.options].slice(1)) {
      if (!games.has(option.value) && !option.selected) option.remove();
    }
    const wanted = nodes.which.value;
    for (const [sitting, parts] of [...shown]) {
      if (games.has(sitting) && (!wanted || wanted === sitting)) continue;
      parts.frame.remove();
      shown.delete(sitting);
    }
    nodes.tables.className = wanted ? "one" : "";
    for (const [sitting, game] of games) if (!wanted || wanted === sitting) draw(game, again);
    nodes.none.hidden = shown.size > 0;
  }

  function standings() {
    const [head, body] = [nodes.standings.tHead, nodes.standings.tBodies[0]];
    head.replaceChildren();
    body.replaceChildren();
    if (!now.rows.length) return;
    const titles = add(head, "tr");
    for (const column of now.head) add(titles, "th", column).scope = "col";
    for (const row of now.rows) {
      const line = add(body, "tr");
      row.forEach((cell, at) => {
        const place = add(line, at === 1 ? "th" : "td", at === 1 ? cell : cell.replace("-", "−"));
        if (at !== 1) return;
        place.scope = "row";
        if (cell in now.emblems) place.prepend(Emblem.draw(now.emblems[cell]), " ");
      });
    }
  }

  function list(node, lines) {
    node.replaceChildren();
    for (const line of lines) {
      const item = add(node, "li", line.replay ? "" : line.words);
      if (!line.replay) continue;
      const link = add(item, "a", line.words);
      link.href = line.replay;
      link.target = "_blank";
    }
    if (!lines.length) add(node, "li", "none so far");
  }

  /** Lists the tables at which games were played that are not shown yet. */
  function covered() {
    nodes.covered.replaceChildren();
    for (const names of now.covered) add(nodes.covered, "li", names);
    nodes.hidden.hidden = !now.covered.length;
  }

  const two = (number) => `${Math.floor(number)}`.padStart(2, "0");
  const clock = (s) => (s < 3600 ? `${two(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two((s / 60) % 60)}:${two(s % 60)}`);

  /** Shows the time since the run began and until it ends. */
  function time() {
    if (!now) return;
    const since = now.running === false || now.at ? 0 : (Date.now() - heard) / 1000, words = [];
    if (now.elapsed_s !== undefined) words.push(`${now.complete ? "took" : "elapsed"} ${clock(now.elapsed_s + since)}`);
    if (now.left_s !== null) words.push(`about ${clock(Math.max(0, now.left_s - since))} left`);
    if (now.at) words.push(`as of ${new Date(now.at * 1000).toLocaleString()}`);
    nodes.time.textContent = words.join(" · ");
  }

  function tell() {
    nodes.event.textContent = now.name;
    nodes.about.textContent = now.about;
    nodes.progress.max = Math.max(1, now.planned);
    nodes.progress.value = now.played;
    nodes.played.textContent = `${now.played} of ${now.planned} games${now.complete ? "; finished" : now.running === false ? "; stopped" : ""}.`;
    nodes.note.textContent = now.note;
    nodes.trouble.replaceChildren();
    for (const words of now.trouble) add(nodes.trouble, "li", words);
    time();
    standings();
    list(nodes.finished, now.finished);
    list(nodes.fouls, now.fouls);
    tables();
    if (nodes.covered) covered();
    nodes.main.dataset.played = now.played;
  }

  /** Warns when no message has come for a while although games are left to play. */
  function listenFor() {
    clearTimeout(quiet);
    nodes.link.textContent = "";
    quiet = setTimeout(() => {
      if (!now.complete && now.running !== false) nodes.link.textContent = "No news for a while: the run may have stopped.";
    }, QUIET_MS);
  }

  function connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    const socket = new WebSocket(address);
    socket.addEventListener("message", (event) => {
      [now, heard] = [JSON.parse(event.data), Date.now()];
      listenFor();
      tell();
    });
    socket.addEventListener("close", (event) => {
      clearTimeout(quiet);
      const ended = event.code === GOING_AWAY;
      nodes.link.textContent = ended ? "The server was stopped." : "Connection lost; reconnecting.";
      if (!ended) setTimeout(connect, RETRY_MS);
    });
  }

  /** Asks for the snapshot's file, and again after a while; a server answers mostly that it is the same. */
  async function ask() {
    let told = last;
    try {
      if (!document.hidden || !now) {
        const options = { cache: "no-cache", signal: AbortSignal.timeout(QUIET_MS) };
        const answer = await fetch(nodes.main.dataset.snapshot, options);
        if (!answer.ok) throw new Error(`${answer.status}`);
        told = await answer.text();
        nodes.link.textContent = "";
      }
    } catch {
      const opened = location.protocol === "file:";
      nodes.link.textContent = opened ? "Put this folder on a web server: a page that is opened as a file can read no other." : "Connection lost; reconnecting.";
    }
    // A thousand readers do not ask at the same moment.
    setTimeout(ask, ASK_MS * (0.8 + 0.4 * Math.random()) * (now?.complete ? 10 : 1));
    if (told === last) return;
    [last, now] = [told, JSON.parse(told)];
    tell();
  }

  nodes.which.addEventListener("change", () => now && tables(true));
  nodes.numbers.addEventListener("change", () => now && tables());
  addEventListener("resize", () => now && tables(true));
  setInterval(time, 1000);
  if (nodes.main.dataset.snapshot) ask();
  else connect();
})();
