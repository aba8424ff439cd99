"""Evaluation: question sets asked and judged, the papers' figures computed, runs compared, tables made again.

It sees a method only through the events of its runs and judges paths by the verifier alone; each figure has one place,
``metrics.py``. Begin with ``runner.evaluate``; ``study.py`` has the papers' tables as recipes.
"""
