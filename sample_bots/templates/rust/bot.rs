//! my-bot: a bot for draw dominoes, with nothing but std. Your idea goes into `choose`.
//!
//! No JSON parser is needed. The referee writes one message a line, without blanks; "type" comes
//! first, "id" second, and in a question the options come last, each beginning `{"do":"`.

use std::io::{self, BufRead, Write};

/// What follows `what` in the text; nothing if it does not occur.
fn after<'a>(text: &'a str, what: &str) -> &'a str {
    text.split_once(what).map_or("", |(_, rest)| rest)
}

/// All the whole numbers in a text: a tile `[6,5]` is two of them.
fn numbers(text: &str) -> impl Iterator<Item = i64> + '_ {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// The options of a question as text, each from its kind on: `play","tile":[6,5],"end":"left"},`
fn options(ask: &str) -> impl Iterator<Item = &str> {
    after(ask, "\"options\":").split("{\"do\":\"").skip(1)
}

/// The pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less.
fn weight(option: &str) -> i64 {
    if option.starts_with("play") { numbers(option).sum() } else { -1 }
}

/// The index of the option that the bot takes: the heaviest play, the first option if there is none.
///
/// `ask` is all that you may know: your "hand", the "line" and its open "ends", how many tiles the
/// other "hands" hold, what happened in "events". The fields are explained in SPEC.md.
/// `after(ask, "\"hand\":")` begins with your tiles.
fn choose(ask: &str) -> usize {
    let (mut best, mut heaviest) = (0, -1);
    for (index, option) in options(ask).enumerate() {
        if weight(option) > heaviest {
            (best, heaviest) = (index, weight(option));
        }
    }
    best
}

fn main() -> io::Result<()> {
    // Two messages want an answer, the others are news. Write nothing else to stdout: to look
    // inside the bot, use eprintln!. Rust's stdout is flushed at the end of each line.
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.starts_with("{\"type\":\"hello\"") {
            writeln!(out, "{{\"type\":\"hello\",\"name\":\"my-bot\",\"version\":\"1\"}}")?;
        } else if line.starts_with("{\"type\":\"ask\"") {
            let id = after(&line, "\"id\":").split(',').next().unwrap_or("");
            writeln!(out, "{{\"type\":\"choose\",\"id\":{id},\"choice\":{}}}", choose(&line))?;
        } else if line.starts_with("{\"type\":\"bye\"") {
            break;
        }
        out.flush()?;
    }
    Ok(())
}
