"""Training: examples from questions and templates, recipes, the loop, and the export of a model folder.

It uses graph, questions and tokens as decoding does, so that a model learns the very strings it is asked for; nothing
above the command line imports it. Begin with ``run.run_recipe``; ``recipes/embedded.json`` made the shipped weights.
"""
