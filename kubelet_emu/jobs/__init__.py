"""The Job controller: pure rules and one actor."""
