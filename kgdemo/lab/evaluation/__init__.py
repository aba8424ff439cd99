"""Evaluation: question sets, the papers' figures, and the runner that goes on where it stopped."""
