"""Calibration: the weights of ranking, backing off and abstention, fitted on question sets for one model.

It runs questions through the pipeline and fits with scikit-learn and scipy; what it finds is written into the model's
folder and read by ``ranking``. Begin with ``ranking.py`` for which path is first, ``abstention.py`` for when none is.
"""
