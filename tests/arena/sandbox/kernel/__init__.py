"""The kernel interfaces: the filter of system calls, run as the kernel runs it."""
