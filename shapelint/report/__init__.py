"""Reporters: a LintResult in, text out."""
