"""awk: its language, read and run on the files of a simulated container."""
