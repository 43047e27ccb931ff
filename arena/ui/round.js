/* A round entered by hand, as one seat knows it: each step follows the rules or is refused in a
   sentence, and the question it leads to is written as a line (position.py). A second writing of
   the rules, for a page without a server; tests hold it equal to the engine. Hidden tiles are only
   counted: `explain` finds out whether any deal of them, and any double that leads, goes with it. */
"use strict";
const EnteredRound = (() => {
  const { written } = Tiles;

  /** [[6, 4]] as "64". */
  const digits = (tiles) => tiles.flat().map((pip) => pip.toString(19)).join("");
  const isSame = ([a, b], [c, d]) => (a === c && b === d) || (a === d && b === c);
  const has = (tiles, tile) => tiles.some((held) => isSame(held, tile));

  /** Returns all tiles of the set. */
  function set({ deal }) {
    const pips = [...Array(deal.highest_pip + 1).keys()];
    return pips.flatMap((high) => pips.slice(0, high + 1).map((low) => [high, low])).filter(([high, low]) => deal.doubles || high !== low);
  }

  const open = ({ line }) => (line.length ? [line[0][0], line.at(-1)[1]] : []);
  const drawable = ({ rules, stock }) => (rules.turn.draw_limit ? Math.max(0, stock - rules.boneyard.reserve) : 0);
  const limit = ({ rules: { turn } }) => ({ unlimited: Infinity, two_at_once: 2 })[turn.draw_limit] ?? turn.draw_limit;
  const after = ({ rules, counts }, seat) => (seat + (rules.deal.direction === "clockwise" ? 1 : counts.length - 1)) % counts.length;
  const isDead = (round, pip) => set(round.rules).every((tile) => !tile.includes(pip) || has(round.line, tile));

  /** Returns the stage that decides what comes next: hand, lead, starter, play or over. */
  function stage(round) {
    if (round.over) return "over";
    if (round.dealt.length < round.size) return "hand";
    if (round.turn === null) return "lead";
    return round.rules.deal.starter && !round.line.length ? "starter" : "play";
  }

  /** Returns the ends at which a tile can be played. */
  function ends(round, tile) {
    const [left, right] = open(round);
    if (!round.line.length) return ["lead"];
    return [tile.includes(left) && "left", tile.includes(right) && left !== right && "right"].filter(Boolean);
  }

  const canOwnPlay = (round) => round.hand.some((tile) => ends(round, tile).length);

  /** Tells whether the seat to move can surely play: before the first tile each seat can. */
  const isAble = (round) => !round.line.length || (round.turn === round.seat && canOwnPlay(round));

  /** Tells whether surely no seat holds a tile that fits, by passes and tiles on the table. */
  function isShut(round) {
    const isLacking = (lacks) => open(round).every((pip) => lacks.has(pip) || isDead(round, pip));
    return round.line.length > 0 && !canOwnPlay(round) && round.lacks.every((lacks, seat) => seat === round.seat || isLacking(lacks));
  }

  // Where a double leads, the seats may draw in turn until one has it, the reserve too.
  const drawsForLead = ({ rules, method, stock }) => rules.lead.missing === "draw_for_it" && /double/.test(method) && stock > 0;

  /** Returns why a tile cannot be one that the seat did not know. The next ones: why a step is forbidden. */
  function whyNotUnseen(round, { tile }) {
    if (has(round.line, tile)) return `${written(tile)} lies on the table.`;
    return has(round.hand, tile) ? `Seat ${round.seat} holds ${written(tile)}.` : "";
  }

  function whyNotPlay(round, { seat, tile, end }) {
    const why = seat === round.seat && has(round.hand, tile) ? "" : whyNotUnseen(round, { tile });
    if (why || (seat === round.seat && !has(round.hand, tile))) return why || `Seat ${seat} does not hold ${written(tile)}.`;
    if (round.rules.turn.draw_limit === "two_at_once" && round.drawn === 1 && drawable(round)) return "Two tiles are drawn at once.";
    if (!ends(round, tile).includes(end)) return `${written(tile)} does not fit: the ends are ${open(round).join(" and ")}.`;
    const pip = tile.find((number) => round.lacks[seat].has(number));
    return pip === undefined ? "" : `Seat ${seat} passed at ${pip} and has not drawn since.`;
  }

  function whyNotDraw(round, { seat, tile }) {
    const { turn, lead } = round.rules, last = round.events.at(-1);
    const why = tile && whyNotUnseen(round, { tile });
    if (why) return why;
    if (round.turn === null && drawsForLead(round)) return last && after(round, last.seat) !== seat ? `It is seat ${after(round, last.seat)} that draws.` : "";
    if (round.turn === null || (!round.line.length && lead.tile !== "any")) return "Nobody draws before the lead.";
    if (!drawable(round)) return `No tile can be drawn: ${round.stock} in the boneyard.`;
    if (round.drawn >= limit(round)) return `A turn draws ${Tiles.counted(limit(round))} at most.`;
    const canChoose = turn.draw_when_able && (turn.leader_may_draw || round.line.length);
    return isAble(round) && !canChoose ? `Seat ${seat} can play, so it must not draw.` : "";
  }

  function whyNotPass(round, { seat }) {
    if (isAble(round)) return `Seat ${seat} can play, so it must not pass.`;
    if (drawable(round) && round.drawn < limit(round) && !round.rules.turn.draw_optional) return `Seat ${seat} can draw, so it must not pass.`;
    const lacks = round.lacks.with(seat, new Set(open(round)));
    return !drawable(round) && !round.drawn && isShut({ ...round, lacks }) ? "If nobody can play, the round was over before." : "";
  }

  const whyNotLead = ({ events: draws }, { seat }) => ((draws.at(-1)?.seat ?? seat) === seat ? "" : `Who drew last leads: seat ${draws.at(-1).seat}.`);
  const REFUSALS = {
    hand: { deal: whyNotUnseen }, lead: { lead: whyNotLead, draw: whyNotDraw }, starter: { turn_up: whyNotUnseen },
    play: { play: whyNotPlay, draw: whyNotDraw, pass: whyNotPass }, over: {},
  };
  const refuse = (round, step) => (REFUSALS[stage(round)][step.do] ?? (() => "That is no step here."))(round, step);

  /** Passes the turn on, or ends the round. */
  function endTurn(round) {
    const { rules, counts, turn } = round, isAtOnce = rules.end.blocked === "at_once" && round.line.length;
    const isBlocked = (isAtOnce && open(round).every((pip) => isDead(round, pip)))
      || (rules.turn.draw_optional && round.passes >= counts.length) || (!drawable(round) && isShut(round));
    round.over = counts[turn] ? (isBlocked ? "The round is blocked." : "") : `Seat ${turn} went out.`;
    Object.assign(round, { turn: after(round, turn), drawn: 0 });
  }

  const DEEDS = {
    deal: (round, { tile }) => { round.dealt.push(tile); round.hand.push(tile); },
    lead: (round, { seat }) => { round.turn = seat; return `${seat}s`; },
    turn_up: (round, { tile }) => { round.stock -= 1; round.line.push(tile); return `-u${digits([tile])}`; },
    draw(round, { seat, tile }) {
      const isLed = round.turn !== null;
      Object.assign(round, { stock: round.stock - 1, passes: 0, drawn: round.drawn + isLed, hand: [...round.hand, ...(tile ? [tile] : [])] });
      round.counts[seat] += 1;
      round.lacks[seat].clear();
      if (isLed && round.rules.turn.draw_ends_turn) endTurn(round);
      return `${seat}d${tile ? digits([tile]) : ""}`;
    },
    play(round, { seat, tile, end }) {
      const { line } = round, [left, right] = open(round), [first, second] = tile;
      const laid = (end === "left" && second !== left) || (end === "right" && first !== right) ? [second, first] : tile;
      round.line = end === "left" ? [laid, ...line] : [...line, laid];
      round.hand = round.hand.filter((held) => !isSame(held, tile));
      round.counts[seat] -= 1;
      Object.assign(round, { passes: 0, lead: round.lead + (end === "left") });
      endTurn(round);
      return `${seat}${{ left: "l", right: "r", lead: "f" }[end]}${digits([laid])}`;
    },
    pass(round, { seat }) {
      for (const pip of open(round)) round.lacks[seat].add(pip);
      round.passes += 1;
      endTurn(round);
      return `${seat}p`;
    },
  };

  /** Returns the round after legal steps. setup: {game (quiz.py), seats, seat, round, scores, pot, method}. */
  function follow(setup, steps) {
    const { rules, tables } = setup.game, hand = tables[setup.seats], counts = Array(setup.seats).fill(hand);
    const round = { rules, size: hand, dealt: [], hand: [], counts, line: [], lead: 0, events: [], turn: null, drawn: 0, passes: 0, over: "",
      method: setup.method, seat: setup.seat, stock: set(rules).length - hand * setup.seats, lacks: counts.map(() => new Set()) };
    for (const step of steps) {
      const text = DEEDS[step.do](round, step);
      if (text) round.events.push({ ...step, text });
    }
    return round;
  }

  /** Returns the line of the seat's question; empty if it is not asked here. */
  function line({ game, seats, seat, round: number, scores, pot, method }, round) {
    if (stage(round) !== "play" || round.turn !== seat) return "";
    const points = round.counts.map((_, place) => scores[place % scores.length]);
    const hands = round.counts.map((_, place) => (place === seat ? digits(round.dealt) : ""));
    return ["bone1", game.words, number, points, pot, method, round.events.map(({ text }) => text).join("."), [...hands, ""].join("-"), `${seat}play`].join("@");
  }

  return { set, digits, has, drawable, drawsForLead, stage, ends, refuse, follow, line };
})();
