"""The kernel interfaces that confine a bot: seccomp filters and cgroups."""
