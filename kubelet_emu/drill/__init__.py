"""A drill: one pod deleted in each phase of its life, and what its shutdown was like each time."""
