/* The editor of positions (position_pages.py): a round is laid by clicks or keys, and becomes a line. */
"use strict";
(() => {
  const { refuse, stage, ends, digits, has, set, drawable, drawsForLead, follow, line } = EnteredRound, { add, copy, fill: fillTable } = Panels;
  const games = JSON.parse(document.getElementById("data").textContent);
  const nodes = Object.fromEntries([...document.querySelectorAll("[id]")].map((node) => [node.id, node]));
  const BEGIN = ["game", "seats", "seat"]; // Who changes one of these begins a new round.
  const PAUSE_MS = 300;
  let steps = [], round, setup, picked = null, isDrawing = false, digit = null, valued = "", timer;

  const sides = ({ rules }, seats) => (rules.deal.partners ? ["Seats 0 and 2", "Seats 1 and 3"] : Array.from({ length: seats }, (_, seat) => `Seat ${seat}`));
  const number = (node) => Math.trunc(Number(node.value)) || 0;

  function fill(select, values, words = values) {
    const { value: before } = select;
    select.replaceChildren(...values.map((value, place) => new Option(words[place], value)));
    if (values.map(String).includes(before)) select.value = before;
  }

  /** Reads the setup, after a change of one of its controls. */
  function prepare({ target: { id } }) {
    const game = games[number(nodes.game)];
    fill(nodes.seats, Object.keys(game.tables));
    const seats = number(nodes.seats), parties = sides(game, seats);
    fill(nodes.seat, [...Array(seats).keys()]);
    fill(nodes.method, number(nodes.round) > 1 ? game.later : game.first);
    nodes["pot-label"].hidden = !game.rules.stakes.pot;
    if (BEGIN.includes(id)) {
      steps = [];
      nodes.scores.replaceChildren();
      for (const party of parties) Object.assign(add(add(nodes.scores, "label", `${party} `), "input"), { type: "number", value: 0 });
    }
    const scores = [...nodes.scores.querySelectorAll("input")].map(number);
    setup = { game, seats, seat: number(nodes.seat), round: number(nodes.round), scores, pot: game.rules.stakes.pot ? number(nodes.pot) : 0, method: nodes.method.value };
    show();
  }

  /** Takes a step that the rules allow, or says why they do not. */
  function take(step) {
    const why = refuse(round, step);
    if (!why) steps.push(step);
    show(why);
  }

  /** Deals, turns up, draws or plays a tile; where it fits both ends, one is to be chosen. */
  function pick(tile) {
    const { turn: seat } = round, both = ends(round, tile), step = { do: "play", seat, tile, end: both[0] };
    if (stage(round) === "hand") return take({ do: "deal", tile });
    if (stage(round) === "starter") return take({ do: "turn_up", tile });
    if (isDrawing) return take({ do: "draw", seat: setup.seat, tile });
    return both.length < 2 || refuse(round, step) ? take(step) : show("", tile);
  }

  const play = (end) => picked && take({ do: "play", seat: round.turn, tile: picked, end });

  /** Lets a seat draw; the tile of the asked seat is to be named. */
  function draw(seat = round.turn) {
    if (seat !== setup.seat || refuse(round, { do: "draw", seat })) take({ do: "draw", seat });
    else show("", null, true);
  }

  /** Says what is to be done next. */
  function instruction() {
    if (isDrawing) return "Choose the tile that was drawn.";
    if (picked) return `${Tiles.written(picked)}: left or right?`;
    const hand = `Choose the tiles dealt to seat ${setup.seat}: ${round.size - round.dealt.length} more.`;
    const moves = `Seat ${round.turn} moves${round.turn === setup.seat ? ": this question is the line below" : ""}.`;
    return { hand, lead: "Who leads?", starter: "Choose the tile that is turned up.", play: moves, over: round.over }[stage(round)];
  }

  function drawTable() {
    const { seat: own, game, pot, scores } = setup, { rules, counts, turn, lead, stock } = round;
    const hands = counts.map((count, seat) => (seat === own ? digits(round.hand) : count));
    const scene = { round: setup.round, turn: round.over ? null : turn, line: digits(round.line), lead, laid: [0, 0], hands, stock, drawable: drawable(round),
      pot: rules.stakes.pot ? pot : null, scores, points: [], places: [] };
    const about = { names: hands.map((_, seat) => `seat ${seat}`), sides: sides(game, counts.length), highest: rules.deal.highest_pip };
    Table.draw(nodes.table, scene, about, { seat: own });
  }

  /** Lists the tiles of the set, each with its place. */
  function listTiles() {
    const tiles = set(round.rules), places = { gone: ", on the table", held: ", in the hand" };
    for (const tile of nodes.tiles.children.length === tiles.length ? [] : tiles) {
      if (tile === tiles[0]) nodes.tiles.replaceChildren();
      const button = add(nodes.tiles, "button");
      Tiles.tile(Tiles.add(button, "svg", { viewBox: "0 0 40 22", "aria-hidden": true }), tile, [10, 11, 30, 11], 20, {});
      button.addEventListener("click", () => pick(tile));
    }
    tiles.forEach((tile, place) => {
      const kind = has(round.line, tile) ? "gone" : has(round.hand, tile) ? "held" : "";
      nodes.tiles.children[place].className = kind;
      nodes.tiles.children[place].setAttribute("aria-label", tile.join("-") + (places[kind] ?? ""));
    });
  }

  /** Shows what the server says of a line, once no step follows it for a moment. */
  function value(line) {
    clearTimeout(timer);
    nodes.valued.hidden = !line;
    if (!line) return;
    nodes.values.replaceChildren();
    nodes.note.textContent = "Valuing the options …";
    timer = setTimeout(async () => {
      const answer = await fetch(`values/${encodeURIComponent(line)}.json`).then((got) => got.json())
        .catch(() => ({ note: "The command that values positions has ended.", head: [], rows: [] }));
      if (nodes.line.value !== line) return;
      if (answer.rows.length) fillTable(nodes.values, answer.head, answer.rows.map((cells) => ({ cells })));
      nodes.note.textContent = answer.note;
    }, PAUSE_MS);
  }

  /** Shows the round, and why a step was refused. `tile`: the one whose end is to be chosen. */
  function show(why = "", tile = null, drawing = false) {
    const { activeElement: focused } = document;
    [picked, isDrawing, digit, round] = [tile, drawing, null, follow(setup, steps)];
    [nodes.next.textContent, nodes.refusal.textContent, nodes.copy.textContent] = [instruction(), why, "copy (c)"];
    nodes.leads.replaceChildren();
    const offer = (words, act) => add(nodes.leads, "button", words).addEventListener("click", act);
    for (const seat of stage(round) === "lead" && !drawing ? round.counts.keys() : []) {
      offer(`Seat ${seat} leads`, () => take({ do: "lead", seat }));
      if (drawsForLead(round)) offer(`Seat ${seat} draws`, () => draw(seat));
    }
    nodes.left.hidden = nodes.right.hidden = !picked;
    nodes.draw.hidden = nodes.pass.hidden = stage(round) !== "play";
    nodes.line.value = picked || drawing ? "" : line(setup, round);
    nodes["as-line"].hidden = !nodes.line.value;
    if (nodes.valued && valued !== nodes.line.value) value(valued = nodes.line.value);
    drawTable();
    listTiles();
    // A button that is gone leaves the focus to what is said next.
    if (!focused.isConnected || focused.hidden) nodes.next.focus();
  }

  /** Takes a digit: of a tile with the next one, or the seat that leads. */
  function type(pip) {
    if (stage(round) === "lead" && !isDrawing) return pip < setup.seats && take({ do: "lead", seat: pip });
    if (digit === null) return [digit, nodes.next.textContent] = [pip, `${instruction()} ${pip}-…`];
    const tile = set(round.rules).find((pips) => digits([pips]) === `${Math.max(pip, digit)}${Math.min(pip, digit)}`);
    return tile ? pick(tile) : show(`The set has no tile ${digit}-${pip}.`);
  }

  const KEYS = { l: () => play("left"), r: () => play("right"), d: () => draw(), p: () => take({ do: "pass", seat: round.turn }), u: () => { steps.splice(picked || isDrawing ? Infinity : -1, 1); show(); }, c: () => copy(nodes) };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select")) return;
    if (/^[0-9]$/.test(event.key)) type(Number(event.key));
    else KEYS[event.key]?.();
  });
  for (const name of ["left", "right", "draw", "pass", "undo", "copy"]) nodes[name].addEventListener("click", KEYS[name[0]]);
  nodes.setup.addEventListener("change", prepare);
  addEventListener("resize", drawTable);
  fill(nodes.game, [...games.keys()], games.map(({ words }) => words));
  prepare({ target: nodes.game });
})();
