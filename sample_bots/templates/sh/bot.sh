#!/bin/sh
# my-bot: a bot for draw dominoes in POSIX shell. Your idea goes into `choose`.
#
# No JSON parser is needed. The referee writes one message a line, without blanks; "type" comes
# first, "id" second, and in a question the options come last, each beginning {"do":"...".
# All is done with the shell's own words: to start another program takes longer than to think.

# A line is cut where an object begins, in one pass: ${line#*...} would look at a long one again and
# again.
IFS='{'
set -f

# Set $choice to the index of the option that the bot takes: the heaviest play, the first option if
# there is none.
#
# $line is all that you may know: your "hand", the "line" and its open "ends", how many tiles the
# other "hands" hold, what happened in "events". The fields are explained in SPEC.md.
# ${line#*'"hand":'} begins with your tiles.
choose() {
    for part in $line; do
        case $part in
            *'"options":[') choice=0 heaviest=-1 index=0 ;;
            '"do":"'*)
                weigh "${part#'"do":"'}"
                if [ "$weight" -gt "$heaviest" ]; then
                    choice=$index
                    heaviest=$weight
                fi
                index=$((index + 1))
                ;;
        esac
    done
}

# Set $weight to the pips that an option plays, which are all the numbers in it; whatever plays
# nothing (draw, pass, bid) weighs less.
weigh() {
    weight=-1
    case $1 in
        play*) weight=0 ;;
        *) return ;;
    esac
    text=${1%%'}'*}
    while :; do
        case $text in
            *[0-9]*) ;;
            *) return ;;
        esac
        text=${text#"${text%%[0-9]*}"} # it now begins with a digit
        weight=$((weight + ${text%%[!0-9]*}))
        text=${text#"${text%%[!0-9]*}"}
    done
}

# Two messages want an answer, the others are news. Write nothing else to stdout: to look inside
# the bot, use echo ... >&2.
while IFS= read -r line; do
    case $line in
        '{"type":"hello"'*) printf '%s\n' '{"type":"hello","name":"my-bot","version":"1"}' ;;
        '{"type":"ask"'*)
            choose
            id=${line#*'"id":'}
            printf '{"type":"choose","id":%s,"choice":%d}\n' "${id%%,*}" "$choice"
            ;;
        '{"type":"bye"'*) break ;;
    esac
done
exit 0
