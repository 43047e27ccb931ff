"""The kernel interfaces that confine a bot: Landlock, seccomp filters and cgroups."""
