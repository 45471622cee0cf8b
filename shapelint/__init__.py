"""A shape linter for PyTorch models."""

__version__ = "0.1.0"

RULES_URL = "https://github.com/shapelint/shapelint/blob/main/rules/"
"""Where the pages of the rules are to be read, each below its file name."""
