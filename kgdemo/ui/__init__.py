"""The page: the only room that imports gradio.

``page.py`` builds it with the stage, in which the browser draws a run, ``asking.py`` has its fields and reads what is
asked, ``runs.py`` sends the page what is new, and ``guard.py`` stands before every request. All limits come from
``settings.Profile``. Begin with ``page.py``.
"""
