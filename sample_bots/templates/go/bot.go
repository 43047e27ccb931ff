// my-bot: a bot for draw dominoes, with the standard library only. Your idea goes into choose.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

const maxLine = 65536 // bytes, the newline included: no line of the referee is longer

// Tile is [high, low] in your hand and [left, right] in the line.
type Tile [2]int

// Option is something that you may do; which tiles it has depends on Do.
type Option struct {
	Do    string // play, play_two, draw, pass and more, see SPEC.md
	Tile  Tile   // with play
	Left  Tile   // with play_two
	Right Tile   // with play_two
}

// Message is what the referee says: this, and the rest of what SPEC.md lists. With type "ask" it is
// all that you may know.
type Message struct {
	Type    string
	ID      int64
	TimeMS  int `json:"time_ms"` // how long you may think
	Hand    []Tile
	Line    []Tile
	Ends    []int // the pips to match, left then right; empty before the first tile
	Hands   []int // how many tiles each seat holds
	Options []Option
}

// choose returns the index of the option that the bot takes: the heaviest play, the first option if
// there is none.
func choose(ask Message) int {
	best := 0
	for index, option := range ask.Options {
		if weight(option) > weight(ask.Options[best]) {
			best = index
		}
	}
	return best
}

// weight is the pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less.
func weight(option Option) int {
	switch option.Do {
	case "play":
		return option.Tile[0] + option.Tile[1]
	case "play_two":
		return option.Left[0] + option.Left[1] + option.Right[0] + option.Right[1]
	}
	return -1
}

func main() {
	// The referee writes one JSON object a line. Two of them want an answer, the others are news.
	// Write nothing else to stdout: to look inside the bot, write to os.Stderr.
	// An answer may also have "info": {"value": 1.5}: replays chart such numbers.
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, maxLine), maxLine)
	for lines.Scan() {
		var message Message
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			fmt.Fprintln(os.Stderr, err) // a later kind of message, perhaps: news is no duty
		}
		switch message.Type {
		case "hello":
			fmt.Println(`{"type":"hello","name":"my-bot","version":"1"}`)
		case "ask":
			fmt.Printf(`{"type":"choose","id":%d,"choice":%d}`+"\n", message.ID, choose(message))
		case "bye":
			return
		}
	}
}
