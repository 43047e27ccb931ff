/* Replays the game of the page or of its address: position, controls. See replay_page.py. */
"use strict";
(() => {
  const { game: own, source, emblems } = JSON.parse(document.getElementById("data").textContent);
  const nodes = Object.fromEntries(
    [...document.querySelectorAll("[id]")].map((node) => [node.id, node]),
  );
  const now = { name: null, play: null, review: null, seat: null, at: 0, timer: null };

  /** Reads a packed game; returns the complete scenes of each viewer. */
  async function unpacked(data) {
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    const deflated = new Blob([bytes]).stream();
    const read = new Response(deflated.pipeThrough(new DecompressionStream("deflate")));
    const play = await read.json();
    let first = {};
    const moments = play.moments.map(([changed, ...others]) => {
      first = { ...first, ...changed };
      return [first, ...others.map((other) => ({ ...first, ...other }))];
    });
    return { ...play, views: play.seats.map((_, who) => moments.map((moment) => moment[who])) };
  }

  const view = () => now.play.views[Math.max(0, now.play.seats.indexOf(now.seat))];
  const rounds = () => {
    const scenes = view();
    return scenes.map((_, at) => at)
      .filter((at) => !at || scenes[at].round !== scenes[at - 1].round);
  };

  /** Returns the scene of the round with the longest line, so that the table keeps its size. */
  function roomiest(scenes, round) {
    const same = scenes.filter((scene) => scene.round === round);
    const line = same.reduce((a, b) => (b.line.length > a.line.length ? b : a));
    const stock = same.reduce((a, b) => (Tiles.count(b.stock) > Tiles.count(a.stock) ? b : a));
    const most = Math.max(...same.flatMap((scene) => scene.hands.map(Tiles.count)));
    return { room: { ...line, stock: stock.stock }, most };
  }

  /** Draws the table; the next or the last move is shown as a motion. */
  function draw(from) {
    const scenes = view(), scene = scenes[now.at], before = scenes[now.at - 1];
    const look = { ...roomiest(scenes, scene.round), numbers: nodes.numbers.checked, before };
    const wanted = { ...look, seat: now.seat ?? 0, emblems: now.emblems };
    const render = () => Table.draw(nodes.table, scene, now.play.about, wanted);
    if (Math.abs(from - now.at) === 1) Motion.move(nodes.table, render, before?.turn);
    else render();
  }

  /** Returns the question here as one line: most of it is that of the seat's question before. */
  function line() {
    const scenes = view(), { asked, dealt } = scenes[now.at];
    const before = scenes.slice(0, now.at + 1).filter((scene) => asked && scene.asked?.seat === asked.seat);
    const seen = before.reduce((text, { asked: { position: [shared, rest] } }) => text.slice(0, shared) + rest, "");
    return dealt && nodes.tiles.checked ? seen.split("@").with(-2, dealt).join("@") : seen;
  }

  /** Shows the line; a seat has no other tiles than those that it knew. */
  function position() {
    nodes.line.value = line();
    nodes["as-line"].hidden = !nodes.line.value;
    nodes.open.hidden = !view()[now.at].dealt;
    nodes.copy.textContent = "copy (c)";
  }

  /** Shows the current position, reached from another. */
  function show(from = now.at) {
    const scenes = view(), { about } = now.play, scene = scenes[now.at];
    draw(from);
    const quiet = now.seat === null ? "" : "This seat saw nothing new.";
    const next = scene.turn === null ? "" : `${about.names[scene.turn]} is to move.`;
    const words = [`Round ${scene.round}.`, scene.words || quiet, next];
    nodes.words.textContent = words.filter(Boolean).join(" ");
    Chart.mark(nodes.chart, scene.round);
    Panels.seats(nodes.seats, scene, about, now.emblems, now.review ? Review.sums(now.review, about.sides.length, now.at) : []);
    Panels.left(nodes.left, scene, about);
    Panels.question(nodes, scene, about, now.seat, now.review?.asked.get(now.at));
    position();
    nodes.at.value = now.at;
    nodes.position.textContent = `${now.at + 1} of ${scenes.length}`;
    const chances = now.review && Review.mark(nodes.chances, nodes.odds, now.review, scenes, about, now.at);
    nodes.at.setAttribute("aria-valuetext", [nodes.position.textContent, chances].filter(Boolean).join(", "));
    Numbers.mark(nodes.plot, scenes, now.at);
    nodes.round.value = scene.round;
    nodes.link.href = address();
    nodes.first.disabled = nodes.back.disabled = now.at === 0;
    nodes.last.disabled = nodes.on.disabled = now.at === scenes.length - 1;
    mark();
  }

  /** Marks the move in the list and scrolls to it. */
  function mark() {
    nodes.moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const item = nodes.moves.children[now.at];
    item.setAttribute("aria-current", "step");
    nodes.moves.scrollTop = item.offsetTop - nodes.moves.clientHeight / 2;
  }

  function address() {
    const words = new URLSearchParams({ game: now.name, at: now.at });
    if (now.seat !== null) words.set("seat", now.seat);
    return `#${words}`;
  }

  /** Goes to a moment, if there is one; returns whether the moment has changed. */
  function go(at) {
    const to = Math.min(Math.max(0, at), view().length - 1);
    const from = now.at;
    now.at = to;
    show(from);
    return to !== from;
  }

  function goRound(by) {
    const starts = rounds();
    const here = starts.filter((at) => at <= now.at).length - 1;
    // "Back" first goes to the beginning of this round, as in any player.
    const to = by < 0 && starts[here] < now.at ? here : here + by;
    go(to < starts.length ? starts[Math.max(0, to)] : view().length - 1);
  }

  /** Goes to the next mark of a kind, or to the one before. */
  function goMark(kind, by) {
    const found = now.review && Review.next(now.review, kind, now.at, by);
    if (found) go(found.at);
  }

  function stop() {
    clearInterval(now.timer);
    now.timer = null;
    nodes.play.textContent = "▶ play";
    nodes.play.setAttribute("aria-label", "Play (space)");
    nodes.words.setAttribute("aria-live", "polite");
  }

  function start() {
    if (now.at === view().length - 1) go(0);
    nodes.play.textContent = "■ stop";
    nodes.play.setAttribute("aria-label", "Stop (space)");
    nodes.words.setAttribute("aria-live", "off"); // Screen readers do not read moves during playback.
    now.timer = setInterval(() => go(now.at + 1) || stop(), Number(nodes.speed.value));
  }

  const toggle = () => (now.timer ? stop() : start());

  /** Lists the moves and rounds of this view. */
  function list() {
    const scenes = view(), starts = rounds();
    nodes.moves.replaceChildren();
    scenes.forEach((scene, at) => {
      Panels.add(nodes.moves, "li", scene.words || "–", starts.includes(at) ? "round" : "");
    });
    nodes.round.replaceChildren();
    for (const at of starts) {
      Panels.add(nodes.round, "option", `${scenes[at].round}`).value = scenes[at].round;
    }
    nodes.at.max = scenes.length - 1;
    now.review = Review.read(now.play, now.seat);
    for (const id of ["review", "review-more", "review-keys", "review-sums"]) nodes[id].hidden = !now.review;
    nodes.luck.hidden = now.seat !== null;
    if (now.review) {
      Review.legend(nodes.signs, now.review);
      Review.list(nodes.moves.children, now.review);
      Review.table(nodes.reviewed, now.review, scenes, now.play.about, go);
    }
    overview();
  }

  /** Shows what is told of the whole game: its result, the chart and the turning points. */
  function overview() {
    const scenes = view(), { about } = now.play;
    Panels.title(nodes.title, scenes, about, now.emblems);
    document.title = `${nodes.title.textContent} · replay · Boneyard`;
    Chart.scores(nodes.chart, scenes, about, now.emblems, go);
    Panels.turns(nodes.turns, Chart.turns(scenes, about), go);
    if (now.review) Review.draw(nodes.chances, now.review, scenes, about, now.emblems, go);
    numbers();
  }

  /** Shows the bots' own numbers of the name that the user has chosen, if they sent any. */
  function numbers() {
    const scenes = view(), names = Numbers.names(scenes), before = nodes.which.value;
    nodes.info.hidden = !names.length;
    if (!names.length) return;
    nodes.which.replaceChildren();
    for (const name of names) Panels.add(nodes.which, "option", name);
    nodes.which.value = names.includes(before) ? before : names.includes("value") ? "value" : names[0];
    Numbers.draw(nodes.plot, nodes.range, scenes, now.play.about, nodes.which.value, now.emblems, go);
    Numbers.mark(nodes.plot, scenes, now.at);
  }

  /** Returns the moment of the viewer's foul, or else of any foul; without fouls the beginning. */
  function fouled() {
    const fouls = view().map(({ foul }, at) => ({ foul, at })).filter(({ foul }) => foul);
    const own = fouls.find(({ foul }) => foul.seat === now.seat);
    return (own || fouls[0] || { at: 0 }).at;
  }

  /** Opens a packed game. */
  async function open(game, seat, at) {
    stop();
    [now.name, now.play] = [game.game, null];
    const main = document.querySelector("main");
    main.dataset.ready = "";
    main.classList.toggle("closed", !game.data);
    [nodes.title.textContent, nodes.about.textContent] = [game.game, game.told];
    if (!game.data) return;
    const play = await unpacked(game.data);
    if (now.name !== game.game) return; // The user has opened another game meanwhile.
    now.play = play;
    const { about, seats } = now.play;
    now.emblems = Emblem.numbers(about.names, emblems);
    now.seat = seats.includes(seat) ? seat : seats[0];
    const text = [`${about.rules}, ${about.goal}.`, ...about.remarks];
    nodes.about.textContent = `${game.game}. ${game.told}. Rules: ${text.join(" ")}`;
    nodes.seat.replaceChildren();
    for (const one of seats) {
      const words = one === null ? "everybody" : `seat ${one}, ${about.names[one]}`;
      Panels.add(nodes.seat, "option", words).value = `${one}`;
    }
    nodes.seat.value = `${now.seat}`;
    list();
    go(at === "foul" ? fouled() : Number(at ?? Chart.turns(view(), about)[0]?.at) || 0);
    main.dataset.ready = game.game;
  }

  // A part of a game's name; no slash, so that no other folder's script is loaded.
  const NAME = /^[\w@+-]+(\.[\w@+-]+)+$/;

  /** Loads the script with a game, beside the page; returns the game, or why there is none. */
  function loaded(name) {
    const failed = (told) => ({ game: name || "Replay", told, data: "" });
    if (!NAME.test(name ?? "")) return failed("Choose a game in the report.");
    return new Promise((resolve) => {
      const script = document.createElement("script");
      script.addEventListener("load", () => resolve(globalThis.packedGame));
      script.addEventListener("error", () => resolve(failed("This replay is not made yet. In the "
        + "event's folder “boneyard replay . --html” makes all replays.")));
      script.src = `${source}/${encodeURIComponent(name)}.js`;
      document.head.append(script);
      script.remove();
    });
  }

  /** Opens the page's game or that in the address, where `at` says: at a moment's number, at a
   * "foul", or without it at the first turning point. */
  async function follow() {
    const words = new URLSearchParams(location.hash.slice(1)), name = words.get("game");
    const seat = words.has("seat") ? Number(words.get("seat")) : null;
    if (!own && (!now.game || now.name !== name)) now.game = await loaded(name);
    return open(own || now.game, seat, words.get("at"));
  }

  const KEYS = {
    ArrowLeft: () => go(now.at - 1), ArrowRight: () => go(now.at + 1),
    Home: () => go(0), End: () => go(view().length - 1),
    PageUp: () => goRound(-1), PageDown: () => goRound(1), " ": toggle,
    m: () => goMark("mistake", 1), M: () => goMark("mistake", -1),
    l: () => goMark("luck", 1), L: () => goMark("luck", -1), c: () => Panels.copy(nodes),
  };

  function key(event) {
    const busy = event.target.closest("input, select, button, a, .scroll");
    const own = busy && (busy.matches("input, select, .scroll") || event.key === " ");
    if (!now.play || own || !KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  function listen() {
    nodes.first.addEventListener("click", () => go(0));
    nodes.back.addEventListener("click", () => go(now.at - 1));
    nodes.on.addEventListener("click", () => go(now.at + 1));
    nodes.last.addEventListener("click", () => go(view().length - 1));
    nodes.play.addEventListener("click", toggle);
    nodes.mistake.addEventListener("click", () => goMark("mistake", 1));
    nodes.luck.addEventListener("click", () => goMark("luck", 1));
    nodes.copy.addEventListener("click", () => Panels.copy(nodes));
    nodes.tiles.addEventListener("change", position);
    nodes.speed.addEventListener("change", () => now.timer && (stop(), start()));
    nodes.at.addEventListener("input", () => go(Number(nodes.at.value)));
    nodes.numbers.addEventListener("change", () => go(now.at));
    nodes.which.addEventListener("change", numbers);
    nodes.round.addEventListener("change", () => go(rounds()[nodes.round.selectedIndex]));
    nodes.seat.addEventListener("change", () => {
      now.seat = nodes.seat.value === "null" ? null : Number(nodes.seat.value);
      list();
      show();
    });
    nodes.moves.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      if (item) go([...nodes.moves.children].indexOf(item));
    });
    document.addEventListener("keydown", key);
    addEventListener("hashchange", follow);
    addEventListener("resize", () => now.play && (overview(), show()));
  }

  listen();
  follow();
})();
