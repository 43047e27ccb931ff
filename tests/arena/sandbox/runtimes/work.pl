# A child process, a fork, files, the clock.
use strict;
use File::Temp 'tempfile';
use Time::HiRes 'sleep';
my ($file, $name) = tempfile(DIR => "/tmp");
print $file "x";
close $file;
sleep 0.01;
my $child = fork // die;
exit 5 if $child == 0;
waitpid $child, 0;
my @waste = map { "x" x 100_000 } 1 .. 200;
die if $? >> 8 != 5 or `cat $name` ne "x" or not unlink $name;
print "done\n";
