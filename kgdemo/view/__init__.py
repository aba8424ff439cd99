"""View: events become pictures and records that are safe to show.

``escape.py`` is the one place where text becomes HTML or JSON inside HTML; everything else here goes through it.
Nothing here imports gradio or a model. Begin with ``picture.py``.
"""
