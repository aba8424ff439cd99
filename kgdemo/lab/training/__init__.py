"""Training and calibration: what is learnt of a path model, and the weights of ranking and abstention fitted for it.

It uses graph, questions and tokens as decoding does, so that a model learns the very strings it is asked for; nothing
above the command line imports it. Begin with ``run.run_recipe`` (``recipes/embedded.json`` made the shipped weights);
``calibration.py`` fits which path is first and when none is, and the command line writes that into the model's folder.
"""
