"""A POSIX shell and busybox's words, in virtual time."""
