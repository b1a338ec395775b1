"""What will happen to a pod, told from its manifest alone: its start, its stop, its end, and what to mend. Pure."""
