"""From ranked paths to an answer: paths are verified and shown, the reasoner answers, and the answer set is completed.

This room reads the graph and asks the verifier and the reasoner; every path it shows or adds is verified first. Begin
with ``show`` and ``conclude`` in ``answer_sets.py``, with which most methods end. What has to be counted, compared or
ordered begins in ``operations.py``: lists, claims and orders, each computed on the sets and the stated values of
``operands.py``; ``spans.py`` has what lies between two dates, ``bounded.py`` what a value bounds, ``editions.py`` what
is held year by year, ``properties.py`` what one thing is or has, ``whether.py`` what a yes/no question claims.
``described.py`` finds the members of a set that everything in a question is true of, by what ``telling.py`` tells of
each, ``direct.py`` has what the question itself says by which relation, ``conditions.py`` what narrows a list down,
``clauses.py`` what the answers to several conditions share. What a model reads off a question's words as a plan is
chosen in ``parsed.py``, done in ``plans.py`` over the ``walks.py``, and begins with its names left out, ``masked.py``;
what linking found is first taken as the question means it, ``senses.py``. What is described instead of named is found
among what things are known for by ``marks.py``, over the ``records.py``.
"""
