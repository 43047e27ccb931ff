# my-bot: a bot for draw dominoes, with Perl's own modules only. Your idea goes into `choose`.

use strict;
use warnings;
use JSON::PP qw(decode_json encode_json);
use List::Util qw(sum);

$| = 1; # flush after every print: without this the answer would stay here

# The index of the option that the bot takes: the heaviest play, the first option if there is none.
# $ask is all that you may know: your {hand}, the {line} and its open {ends}, how many tiles the
# other {hands} hold, what happened in {events}. The fields are explained in SPEC.md.
sub choose {
    my ($ask) = @_;
    my @weights = map { weight($_) } @{ $ask->{options} };
    my $best = 0;
    for my $index (1 .. $#weights) {
        $best = $index if $weights[$index] > $weights[$best];
    }
    return $best;
}

# The pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less.
sub weight {
    my ($option) = @_;
    return sum @{ $option->{tile} } if $option->{do} eq 'play';
    return sum @{ $option->{left} }, @{ $option->{right} } if $option->{do} eq 'play_two';
    return -1;
}

# The referee writes one JSON object a line. Two of them want an answer, the others are news.
# Print nothing else: to look inside the bot, use warn.
# An answer may also have info => {value => 1.5}: replays chart such numbers.
while (my $line = <STDIN>) {
    my $message = decode_json($line);
    my $type = $message->{type};
    if ($type eq 'hello') {
        print encode_json({ type => 'hello', name => 'my-bot', version => '1' }), "\n";
    } elsif ($type eq 'ask') {
        my $answer = { type => 'choose', id => $message->{id}, choice => choose($message) };
        print encode_json($answer), "\n";
    } elsif ($type eq 'bye') {
        last;
    }
}
