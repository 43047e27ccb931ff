/* A seat at the table over a socket: shows each move (browser_player.py), sends a choice. */
"use strict";
(() => {
  const about = JSON.parse(document.getElementById("data").textContent);
  const nodes = Object.fromEntries(
    [...document.querySelectorAll("[id]")].map((node) => [node.id, node]),
  );
  const GOING_AWAY = 1001; // The close code of a server that ends.
  const RETRY_MS = 2000;
  const MOVE_MS = 750; // From one opponent's move to the next.
  const HURRY_MS = 10000; // With less time the clock warns, and opponents' moves do not wait.
  const LIFT_PX = 20; // Room for tiles that are lifted, and for their keys.
  const SAID = 300; // Most lines of the history.
  const emblems = Emblem.numbers(about.names, {});
  const rounds = []; // The scenes of the ends of rounds.
  let queue = []; // What is still to be shown.
  let socket = null, now = null, before = null, answered = false, timer = null;

  function add(parent, name, text = "") {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  }

  /** Returns what the page shows of a game: the person is "You". */
  function named() {
    const own = about.names[now.seat], names = about.names.map((name, at) => (at === now.seat ? "You" : name));
    const sides = about.sides.map((_, side) => names.filter((_, at) => at % about.sides.length === side).join(" and "));
    return { ...about, names, sides, own };
  }

  /** Returns sentences with the person's name as "you": "ada plays" becomes "you play". */
  function toYou(words, { own }) {
    const name = own.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const verb = (third) => (/sses$/.test(third) ? third.slice(0, -2) : third.slice(0, -1));
    return words.replace(new RegExp(`(^|[.:] )${name}'s `, "g"), "$1Your ")
      .replace(new RegExp(`(^|[.:] )${name} (\\w+s)\\b`, "g"), (_, start, third) => `${start}You ${verb(third)}`)
      .replace(new RegExp(`(^|[.:,] |and )${name} `, "g"), "$1you ");
  }

  const open = () => now !== null && now.id !== null && !answered;
  const paused = () => now !== null && now.scene.points.length > 0 && !now.over;

  function send(message) {
    socket.send(JSON.stringify(message));
  }

  function choose(choice) {
    if (!open()) return;
    answered = true;
    send({ id: now.id, choice });
    draw();
  }

  /** Draws the table and the options. */
  function draw(move = false) {
    const { scene, seat } = now, shown = named();
    const look = { seat, numbers: nodes.numbers.checked, emblems, before, lift: LIFT_PX };
    if (open()) look.choose = choose;
    const render = () => Table.draw(nodes.table, scene, shown, look);
    if (move) Motion.move(nodes.table, render, before?.turn);
    else render();
    keys();
    options();
    nodes.whose.textContent = whose();
  }

  /** Lists the options that are no tiles as buttons. */
  function options() {
    nodes.options.replaceChildren();
    const words = open() ? now.scene.asked.options.map((text, number) => ({ number, ...Tiles.option(text) })) : [];
    const tiles = nodes.table.querySelectorAll(".own .choice").length;
    words.filter(({ plays }) => !plays.length).forEach(({ number, words: label }, at) => {
      const price = label === "draw" && about.fee ? ` for ${about.fee}` : "";
      const button = add(add(nodes.options, "li"), "button", label + price);
      if (tiles + at < 9) button.dataset.key = tiles + at + 1;
      button.addEventListener("click", () => choose(number));
    });
    nodes.pairs.hidden = !words.some(({ plays }) => plays.length > 1);
    if (paused() && queue.length) goOn();
  }

  /** Offers to go on beside what is left of the hand, where the pointer is already, if there is room. */
  function goOn() {
    const button = add(add(nodes.options, "li"), "button", "Go on");
    button.addEventListener("click", next);
    const hand = nodes.table.querySelector(`[data-part="seat-${now.seat}"]`);
    const [board, seat] = [nodes.options.parentNode, hand].map((one) => one.getBoundingClientRect());
    const tiles = [...hand.querySelectorAll(".tile")].map((tile) => tile.getBoundingClientRect());
    const left = Math.max(seat.x + seat.width / 2 - button.offsetWidth / 2, ...tiles.map((one) => one.right + 12));
    if (left + button.offsetWidth > seat.right) return;
    const top = Math.max(...tiles.map((one) => one.y), nodes.table.getBoundingClientRect().y + Number(hand.dataset.y)) + 8;
    Object.assign(button.style, { left: `${left - board.x}px`, top: `${top - board.y}px` });
    button.className = "go-on";
  }

  /** Writes above each tile that can be played the key that takes it. */
  function keys() {
    nodes.table.querySelectorAll(".own .choice").forEach((tile, at) => {
      if (at > 8) return;
      const { x, y, unit } = tile.dataset;
      Tiles.add(tile, "text", { x, y: y - unit * 1.15, class: "key" }, `${at + 1}`);
    });
  }

  function whose() {
    if (now.over) return "The game is over.";
    if (open()) return `Your turn${asked()}`;
    if (paused()) return `The round is over: ${scored() || "nobody scores"}.`;
    return now.scene.turn === null || now.scene.turn === now.seat ? "The others are playing."
      : `${about.names[now.scene.turn]} is to move.`;
  }

  /** Says what kind of choice is asked where it is not one tile. */
  function asked() {
    const options = now.scene.asked.options.map(Tiles.option);
    if (options.some(({ plays }) => plays.length > 1)) return ": two tiles, one for each end";
    if (options.some(({ words }) => words.startsWith("bid "))) return ": bid for the last two tiles, or check";
    return "";
  }

  /** Returns the points that each side gained or lost in the round. */
  function scored() {
    const sign = (points) => `${points > 0 ? "+" : "−"}${Math.abs(points)}`;
    const { sides } = named();
    return sides.map((side, at) => [side, now.scene.points[at]]).filter(([, points]) => points)
      .map(([side, points]) => `${side} ${sign(points)}`).join(", ");
  }

  /** Describes the result for this seat. */
  function ended() {
    const places = now.scene.places.slice(0, about.sides.length); // Partners share theirs.
    const own = places[now.seat % places.length];
    if (own === 1) return places.filter((place) => place === own).length > 1 ? "You tie for the win" : "You win!";
    return places.length === 2 ? "You lose" : `You are in place ${own} of ${places.length}`;
  }

  function result() {
    nodes.result.hidden = !now.over;
    if (!now.over) return;
    nodes["result-title"].textContent = ended();
    nodes.points.textContent = named().sides.map((side, at) => `${side} ${now.scene.scores[at] ?? 0}`).join(" – ");
    nodes["result-title"].focus();
  }

  /** Asks for another game: in the same seat, or in the next one. */
  function again(swap) {
    for (const button of [nodes.again, nodes.swap]) button.disabled = true;
    nodes["result-title"].textContent = "The next game is being set up.";
    send({ again: true, swap });
  }

  function tell() {
    const { scene } = now, words = toYou(scene.words, named());
    nodes.words.textContent = `Round ${scene.round}. ${words}`;
    if (!words) return;
    const item = add(nodes.said, "li", words);
    item.classList.toggle("round", scene.round !== before?.round);
    while (nodes.said.children.length > SAID) nodes.said.firstChild.remove();
    nodes.said.scrollTop = item.offsetTop;
  }

  function chart() {
    const { scene } = now;
    if (!scene.points.length || rounds.some(({ round }) => round === scene.round)) return;
    rounds.push(scene);
    Chart.scores(nodes.chart, rounds, named(), emblems, () => {});
  }

  function show(shown) {
    const typing = nodes.options.contains(document.activeElement)
      || nodes.table.contains(document.activeElement);
    before = now?.scene;
    now = shown;
    answered = false;
    if (sum(now.scene.laid)) Sound.click();
    const { sides } = named();
    nodes.title.textContent = sides.join(sides.length === 2 ? " against " : " · ");
    draw(true);
    tell();
    chart();
    result();
    if (typing) (nodes.table.querySelector(".own .choice") || nodes.options.querySelector("button"))?.focus();
    nodes.main.dataset.over = now.over;
    tick();
  }

  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

  /** Shows the next thing that waits, also if the end of a round is shown. */
  function next() {
    clearTimeout(timer);
    timer = null;
    if (queue.length) show(queue.shift());
    proceed();
  }

  /** Goes on with what waits: an opponent's move after a while, a new round when the user says so. */
  function proceed() {
    if (timer || !queue.length) return;
    if (now && paused() && !queue[0].over) draw();
    else if (now?.step && !hurried()) timer = setTimeout(next, MOVE_MS);
    else next();
  }

  const deadline = () => [now, ...queue].filter(Boolean).at(-1)?.until;
  const hurried = () => Boolean(deadline()) && deadline() - Date.now() < HURRY_MS;

  /** Takes a message: the moves that led to the scene, one by one, then the scene itself. */
  function receive(shown) {
    if (shown.again) return location.reload();
    const step = { seat: shown.seat, id: null, until: null, over: false, step: true };
    queue.push(...(shown.moves || []).map((scene) => ({ ...step, scene })), shown);
    if (paused()) draw();
    return proceed();
  }

  /** Shows the time left for the open question as mm:ss, also while the round's end is shown. */
  function tick() {
    const until = deadline();
    const left = until && !answered ? Math.max(0, until - Date.now()) : null;
    const all = Math.ceil((left ?? 0) / 1000), two = (number) => `${number}`.padStart(2, "0");
    nodes.clock.textContent = left === null ? "" : `${two(Math.floor(all / 60))}:${two(all % 60)}`;
    nodes.clock.classList.toggle("hurry", left !== null && left < HURRY_MS);
  }

  function connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    socket = new WebSocket(address);
    socket.addEventListener("open", () => {
      queue = [];
      now = before = null; // The server sends the newest message again.
    });
    socket.addEventListener("message", (event) => receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      const gone = event.code === GOING_AWAY;
      for (const node of [nodes.again, nodes.swap, nodes.mistakes, nodes.review]) node.hidden = gone;
      if (now?.over && gone) return;
      nodes.words.textContent = gone ? "The game was ended." : "Connection lost; reconnecting.";
      if (!gone) setTimeout(connect, RETRY_MS);
    });
  }

  /** Takes the tile or the option with this number; a tile with two ends then waits for the end. */
  function take(number) {
    const choices = [...nodes.table.querySelectorAll(".own .choice"), ...nodes.options.querySelectorAll("button")];
    choices[number - 1]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }

  /** Plays at the left or the right of the ends that are lit. */
  function playAt(right) {
    const left = (ghost) => ghost.getBoundingClientRect().x;
    const ghosts = [...nodes.table.querySelectorAll(".ghost")].sort((one, other) => left(one) - left(other));
    ghosts.at(right ? -1 : 0)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }

  const KEYS = { ArrowLeft: () => playAt(false), ArrowRight: () => playAt(true), Escape: () => now && draw() };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (/^[1-9]$/.test(event.key)) take(Number(event.key));
    else if (event.key === " " && timer) {
      event.preventDefault();
      next();
    } else KEYS[event.key]?.();
  });
  nodes.table.addEventListener("click", () => timer && next());
  nodes.again.addEventListener("click", () => again(false));
  nodes.swap.addEventListener("click", () => again(true));
  nodes.numbers.addEventListener("change", () => now && draw());
  Sound.control(nodes.sound);
  addEventListener("resize", () => now && draw());
  setInterval(tick, 500);
  connect();
})();
