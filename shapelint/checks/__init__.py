"""Pure functions from what a trace saw to findings."""
