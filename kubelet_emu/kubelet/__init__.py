"""The actors: what runs on Trio and acts on the rules."""
