"""The live view at the bottom of a terminal: pure rows of facts, drawn with rich, on a screen with a clock."""
