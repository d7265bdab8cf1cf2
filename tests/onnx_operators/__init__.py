"""Models of single operators and of small graphs, drawn by seeds, and what three evaluators make of them."""
