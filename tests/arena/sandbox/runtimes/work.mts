// What the types say is dropped, and the rest runs.
const words: string[] = ["do", "ne"];
console.log(words.join(""));
