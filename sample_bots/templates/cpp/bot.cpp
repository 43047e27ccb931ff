// my-bot: a bot for draw dominoes, in C++17 without any library. Your idea goes into `choose`.
//
// No JSON parser is needed. The referee writes one message a line, without blanks; "type" comes
// first, "id" second, and in a question the options come last, each beginning {"do":"...".

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

// What follows `what` in the text; nothing if it does not occur.
std::string_view after(std::string_view text, std::string_view what) {
    auto at = text.find(what);
    return at == text.npos ? std::string_view{} : text.substr(at + what.size());
}

bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

// All the whole numbers in a text: a tile [6,5] is two of them.
std::vector<int> numbers(std::string_view text) {
    std::vector<int> found;
    bool inside = false;
    for (unsigned char c : text) {
        bool digit = std::isdigit(c) != 0;
        if (digit && !inside) found.push_back(0);
        if (digit) found.back() = found.back() * 10 + (c - '0');
        inside = digit;
    }
    return found;
}

// The pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less.
int weight(std::string_view option) {
    if (!starts_with(option, "play")) return -1;
    int sum = 0;
    for (int pips : numbers(option)) sum += pips;
    return sum;
}

// The options of a question as text, each from its kind to its end: play","tile":[6,5],"end":"left"
std::vector<std::string_view> options(std::string_view ask) {
    std::vector<std::string_view> found;
    constexpr std::string_view start = "{\"do\":\"";
    auto rest = after(after(ask, "\"options\":"), start);
    while (!rest.empty()) {
        found.push_back(rest.substr(0, rest.find('}')));
        rest = after(rest, start);
    }
    return found;
}

// The index of the option that the bot takes: the heaviest play, the first option if there is none.
//
// `ask` is all that you may know: your "hand", the "line" and its open "ends", how many tiles the
// other "hands" hold, what happened in "events". The fields are explained in SPEC.md.
// after(ask, "\"hand\":") begins with your tiles.
std::size_t choose(std::string_view ask) {
    std::vector<int> weights;
    for (auto option : options(ask)) weights.push_back(weight(option));
    return std::max_element(weights.begin(), weights.end()) - weights.begin();
}

int main() {
    std::ios::sync_with_stdio(false);
    // Two messages want an answer, the others are news. Write nothing else to std::cout: to look
    // inside the bot, use std::cerr. std::endl flushes: without it the answer would stay here.
    for (std::string line; std::getline(std::cin, line);) {
        if (starts_with(line, "{\"type\":\"hello\"")) {
            std::cout << R"({"type":"hello","name":"my-bot","version":"1"})" << std::endl;
        } else if (starts_with(line, "{\"type\":\"ask\"")) {
            auto id = after(line, "\"id\":");
            std::cout << R"({"type":"choose","id":)" << id.substr(0, id.find(','))
                      << R"(,"choice":)" << choose(line) << "}" << std::endl;
        } else if (starts_with(line, "{\"type\":\"bye\"")) {
            break;
        }
    }
}
