# my-bot: a bot for draw dominoes, in plain Tcl. Your idea goes into choose.
#
# No JSON parser is needed. The referee writes one message a line, without blanks; "type" comes
# first, "id" second, and in a question the options come last, each beginning {"do":"...".

# The index of the option that the bot takes: the heaviest play, the first option if there is none.
# $ask is all that you may know: your "hand", the "line" and its open "ends", how many tiles the
# other "hands" hold, what happened in "events". The fields are explained in SPEC.md.
proc choose {ask} {
    set best 0
    set heaviest -1
    set index 0
    foreach option [options $ask] {
        if {[weight $option] > $heaviest} {
            set heaviest [weight $option]
            set best $index
        }
        incr index
    }
    return $best
}

# The pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less.
proc weight {option} {
    if {![string match "play*" $option]} {
        return -1
    }
    set sum 0
    foreach pips [regexp -all -inline {\d+} $option] {
        incr sum $pips
    }
    return $sum
}

# The options as a list of texts, each from its kind to its end: play","tile":[6,5],"end":"left"
proc options {ask} {
    set found {}
    set start [string first "\"options\":" $ask]
    foreach {all option} [regexp -all -inline -start $start "\{\"do\":\"(\[^\}\]*)" $ask] {
        lappend found $option
    }
    return $found
}

# Two messages want an answer, the others are news. Write nothing else to stdout: to look inside
# the bot, use puts stderr.
fconfigure stdout -buffering line
while {[gets stdin line] >= 0} {
    if {[string match "\{\"type\":\"hello\"*" $line]} {
        puts "{\"type\":\"hello\",\"name\":\"my-bot\",\"version\":\"1\"}"
    } elseif {[string match "\{\"type\":\"ask\"*" $line]} {
        regexp {"id":(\d+)} $line all id
        puts "{\"type\":\"choose\",\"id\":$id,\"choice\":[choose $line]}"
    } elseif {[string match "\{\"type\":\"bye\"*" $line]} {
        break
    }
}
