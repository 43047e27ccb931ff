# A child process, a timer, files.
set file [open /tmp/work w]
puts -nonewline $file x
close $file
after 10 {set rang 1}
vwait rang
for {set i 0} {$i < 200} {incr i} {lappend waste [string repeat x 100000]}
if {[exec cat /tmp/work] eq "x" && $rang} {file delete /tmp/work; puts done}
