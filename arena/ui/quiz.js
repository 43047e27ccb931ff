/* The quiz of dear decisions (quiz.py): asks, shows the values after the choice, keeps the score. */
"use strict";
(() => {
  const cards = JSON.parse(document.getElementById("data").textContent);
  const nodes = Object.fromEntries(
    [...document.querySelectorAll("[id]")].map((node) => [node.id, node]),
  );
  const LIFT_PX = 20; // Room for tiles that are lifted.
  let at = 0, choices = [];

  const { add } = Panels;
  const best = ({ leads }) => leads.indexOf(Math.max(...leads));
  const lost = ({ leads }, choice) => Math.max(...leads) - leads[choice];
  const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
  const points = (number) => `${number.toFixed(1)} points`;

  /** Returns the value of an option with its sign and its interval. */
  function value({ leads, widths }, number) {
    const sign = leads[number] < 0 ? "−" : "+";
    return `${sign}${Math.abs(leads[number]).toFixed(1)}${widths[number] ? ` ± ${widths[number].toFixed(1)}` : ""}`;
  }

  function draw() {
    const card = cards[at], choice = choices[at];
    const hints = choice === undefined ? [] : Tiles.option(card.scene.asked.options[best(card)]).plays;
    const look = { seat: card.seat, numbers: nodes.numbers.checked, emblems: Emblem.numbers(card.about.names, {}), hints, lift: LIFT_PX };
    if (choice === undefined) look.choose = choose;
    Table.draw(nodes.table, card.scene, card.about, look);
  }

  /** Lists the options: as buttons, or after the choice with their values. */
  function list(card, choice) {
    nodes.options.replaceChildren();
    card.options.forEach((words, number) => {
      if (choice === undefined) {
        const button = add(add(nodes.options, "li", ""), "button", words);
        if (number < 9) button.dataset.key = number + 1;
        button.addEventListener("click", () => choose(number));
        return;
      }
      const marks = [number === best(card) && "best", number === choice && "you now", number === card.chosen && "you then"];
      const kind = number === best(card) ? "best" : number === choice && !card.fair[number] ? "wrong" : "";
      add(nodes.options, "li", [`${words}: ${value(card, number)}`, ...marks.filter(Boolean)].join(", "), kind);
    });
  }

  const lesson = (card) => (card.hint ? ` Remember: the better choice ${card.hint}.` : "");

  function judged(card, choice) {
    const words = card.options[best(card)], clear = !card.fair[choice];
    const cost = choice === best(card) ? `Right: ${words}.` : clear ? `${words} is better; ${points(lost(card, choice))} lost.`
      : `Right: ${words} is not clearly better.`;
    return `${cost} In the game you lost ${points(lost(card, card.chosen))}.${lesson(card)}`;
  }

  function show() {
    const over = at >= cards.length, card = cards[at], choice = choices[at];
    nodes.question.hidden = over;
    nodes.result.hidden = !over;
    nodes.score.textContent = choices.length ? `${count()} of ${choices.length} right` : "";
    if (over) return finish();
    nodes.card.textContent = `${at + 1} of ${cards.length}: ${card.title}`;
    nodes.words.textContent = card.scene.words;
    nodes.answer.textContent = choice === undefined ? "What would you choose?" : judged(card, choice);
    nodes.next.hidden = nodes["as-line"].hidden = choice === undefined;
    nodes.line.value = card.position;
    list(card, choice);
    return draw();
  }

  const count = () => choices.filter((choice, number) => cards[number].fair[choice]).length;

  /** Shows the score of all cards, and what to remember of each. */
  function finish() {
    const [now, then] = [choices, cards.map(({ chosen }) => chosen)].map((taken) => sum(taken.map((choice, number) => lost(cards[number], choice))));
    nodes.card.textContent = cards.length ? "The quiz is over." : "No decision cost clearly more than another would have.";
    nodes.verdict.textContent = `${count()} of ${cards.length} right; ${points(now)} lost, in the games ${points(then)}`;
    nodes.lessons.replaceChildren();
    for (const card of cards) add(nodes.lessons, "li", `${card.title}: ${card.options[best(card)]}, not ${card.options[card.chosen]}.${lesson(card)}`);
    nodes.verdict.focus();
  }

  function choose(number) {
    if (choices[at] !== undefined || !cards[at]?.options[number]) return;
    choices[at] = number;
    show();
    nodes.next.focus();
  }

  function next() {
    if (choices[at] === undefined) return;
    at += 1;
    show();
    if (at < cards.length) nodes.card.focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target === nodes.line) return;
    if (/^[1-9]$/.test(event.key)) choose(Number(event.key) - 1);
    else if (event.key === "n") next();
  });
  nodes.next.addEventListener("click", next);
  nodes.again.addEventListener("click", () => { [at, choices] = [0, []]; show(); });
  nodes.numbers.addEventListener("change", () => at < cards.length && draw());
  addEventListener("resize", () => at < cards.length && draw());
  show();
})();
