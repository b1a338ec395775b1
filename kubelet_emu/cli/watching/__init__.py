"""`run --watch`: which files are watched, and a run that begins again when one of them was saved."""
