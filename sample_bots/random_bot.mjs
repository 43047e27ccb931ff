// Any legal option, each as likely as the next: a random bot in JavaScript, for Node.
//
// Chance without surprise: the choice comes from a hash of the question itself (FNV-1a, then
// mixed until every bit depends on every byte). The same question gets the same answer in any
// process, so a game with this bot replays, and nothing has to be remembered.

function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0; // ">>> 0" makes it a whole number from 0 to 2^32 - 1
}

function answerTo(line) {
  const message = JSON.parse(line);
  switch (message.type) {
    case "hello":
      return { type: "hello", name: "random-js", version: "1" };
    case "ask":
      return { type: "choose", id: message.id, choice: hash(line) % message.options.length };
    case "bye":
      process.exit(0);
    default:
      return null; // "game", "round", "end" and whatever comes later: nothing to say
  }
}

// Input comes in pieces that need not end where a line does: keep what is not a line yet.
let rest = "";
process.stdin.setEncoding("utf8");
for await (const piece of process.stdin) {
  const lines = (rest + piece).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const answer = answerTo(line);
    if (answer) process.stdout.write(JSON.stringify(answer) + "\n");
  }
}
