"""The laboratory: training, calibration, evaluation, benchmarks and recording, which no visitor of the page runs.

Only the command line imports it; it may use every other room. Figures and the commands that made them are in the
README beside this file. Begin with ``evaluation/runner.py`` to measure, with ``training/run.py`` to train.
"""
