"""Training: examples from graphs and questions, recipes, the loop and the export of a model folder."""
