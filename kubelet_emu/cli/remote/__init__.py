"""What the commands of a second terminal have in common: which run, which pod, what to print."""
