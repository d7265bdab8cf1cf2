"""Inspection of programs without changing them: summaries, text, differences, graphs, environment reports."""
