"""Question sets, metrics and the runner behind ``python -m kgdemo evaluate``."""
