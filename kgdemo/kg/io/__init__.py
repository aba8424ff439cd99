"""How graphs come in and are kept: triple files, RDF, uploads, side files of entities, embedded graphs, saved arrays.

Here alone may stand what belongs to one format or one source of data, such as the rules for Freebase's relation names;
every mistake in a file becomes a ``GraphFormatError`` that names the file and the line. Begin with ``catalogue.py``,
whose ``open_graph`` and ``build_graph`` lead to all the others; ``saved.py`` keeps a graph as arrays, and a new format
goes into ``formats.py``.
"""
