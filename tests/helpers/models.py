"""Tiny random-weight models and tokenisers; the soak of the benchmark uses the same."""

from kgdemo.lab.benchmarks.synthetic import CORPUS, FAMILIES, byte_level_tokenizer, random_model, wordpiece_tokenizer

__all__ = ["CORPUS", "FAMILIES", "byte_level_tokenizer", "random_model", "wordpiece_tokenizer"]
