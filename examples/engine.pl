#!/usr/bin/perl
# An engine in another language, over UBGI: it makes the legal play that leaves the fewest blots.
#
#     fibsbot duel "ubgi:perl examples/engine.pl" random --games 20
#
# UBGI is lines: `ubgi` asks who it is, an XGID what to do; `quit` ends it. Positions are X's view: capital letters
# are X's checkers, which move from 24 to 1; 25 is X's bar. All plays of a roll are tried here, checker by checker.
use strict;
use warnings;
$| = 1;

while (my $line = <STDIN>) {
    chomp $line;
    if ($line eq 'ubgi') { print "id name Perl example\nid author fibsbot\nid version 1\nreadyok\n"; next }
    last if $line eq 'quit';
    my ($letters, $cube, $owner, $turn, $dice) = $line =~ /^(?:XGID=)?([-A-Oa-o]{26}):(\d+):(-?\d):(-?1):(\w+):/
        or do { print "sorry\n"; next };
    my @board = map { /[A-O]/ ? ord($_) - 64 : /[a-o]/ ? 96 - ord($_) : 0 } split //, $letters;
    @board = map { -$_ } reverse @board if $turn < 0;
    if ($dice =~ /^([1-6])([1-6])$/) {
        print best_play([@board], $1 == $2 ? ([($1) x 4]) : ([$1, $2], [$2, $1])), "\n";
    }
    elsif ($dice eq '00') { print "roll\n" }    # it never doubles
    else { print "take\n" }
}

sub best_play {
    my ($board, @orders) = @_;
    my %found;    # the moves to each board, by how many dice they use
    try_moves($board, $_, '', 0, 0, \%found) for @orders;
    my ($most) = sort { $b <=> $a } keys %found;
    return '' unless $most;
    my $plays = $found{$most};
    my ($best) = sort { $plays->{$a}{blots} <=> $plays->{$b}{blots} || $a cmp $b } keys %$plays;
    return $plays->{$best}{moves};
}

sub try_moves {
    my ($board, $dice, $moves, $used, $pips, $found) = @_;
    my $moved = 0;
    if (my ($die, @rest) = @$dice) {
        for my $from ($board->[25] > 0 ? 25 : grep { $board->[$_] > 0 } 1 .. 24) {
            my $to = $from - $die;
            if ($to <= 0) {    # off: all are home, and with a higher number than needed none is behind
                next if grep { $board->[$_] > 0 } 7 .. 25;
                next if $to < 0 and grep { $board->[$_] > 0 } $from + 1 .. 6;
                $to = 0;
            }
            next if $to and $board->[$to] < -1;
            my @after = @$board;
            $after[$from]--;
            if ($to) { $after[0]--, $after[$to] = 0 if $after[$to] == -1; $after[$to]++ }
            my $written = join '/', $from == 25 ? 'bar' : $from, $to || 'off';
            try_moves(\@after, \@rest, "$moves $written", $used + 1, $pips + $die, $found);
            $moved = 1;
        }
    }
    return if $moved or not $used;
    # As many dice as possible must be played, and of one alone the higher.
    my $blots = grep { $board->[$_] == 1 } 1 .. 24;
    $found->{ 100 * $used + ($used == 1 ? $pips : 0) }{"@$board"} = { moves => substr($moves, 1), blots => $blots };
}
