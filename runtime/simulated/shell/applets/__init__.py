"""Words that the simulation knows, a module for each kind; `registry` has them by name."""
