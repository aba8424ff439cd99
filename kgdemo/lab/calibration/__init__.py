"""Calibration: the weights of ranking, backing off and abstention, fitted on question sets for one model."""
