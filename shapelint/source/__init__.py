"""libcst: where things stand in the user's source."""
