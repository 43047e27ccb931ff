#!/bin/sh
# Any legal option, each about as likely as the next: a random bot in POSIX shell, made of the
# shell's own words only. No other program runs, so a move costs no new process.
#
# No JSON parser is needed. Lines are compact JSON, without blanks; `type` comes first, `id`
# second, and in a question the options come last. So the options are counted by counting the
# objects that begin with "do": behind "options":, and the answer is a number below that count.
#
# Chance without surprise: the choice is worked out from the question's number, its length, the
# hand and the tiles offered. The same question gets the same answer in any process.

# Stir every digit of $1 into $hash. 1103515245 and 12345 are an old random generator's numbers.
stir() {
    text=$1
    while [ -n "$text" ]; do
        tail=${text#?}
        digit=${text%"$tail"}
        text=$tail
        case $digit in
            [0-9]) hash=$(((hash * 1103515245 + 12345 + digit) & 2147483647)) ;;
        esac
    done
}

answer() {
    id=${line#*'"id":'}
    id=${id%%[!0-9]*}
    hand=${line#*'"hand":'}
    hand=${hand%%']]'*}
    # Cut where objects begin, in one pass: ${line##*...} would look at a long line again and again.
    for part in $line; do
        case $part in
            *'"options":[')
                hash=${#line} count=0
                stir "$id $hand"
                ;;
            '"do":'*)
                stir "$part"
                count=$((count + 1))
                ;;
        esac
    done
    [ "$count" -gt 0 ] || count=1

    # the low bits of such a generator run in short circles: take high ones
    stir 000
    printf '{"type":"choose","id":%s,"choice":%d}\n' "$id" $(((hash >> 12) % count))
}

IFS='{'
set -f
while IFS= read -r line; do
    case $line in
        '{"type":"hello"'*) printf '%s\n' '{"type":"hello","name":"random-sh","version":"1"}' ;;
        '{"type":"ask"'*) answer ;;
        '{"type":"bye"'*) break ;;
    esac
done
exit 0
