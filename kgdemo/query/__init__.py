"""What is asked, worked out once from a question's words: its form, its content words and the type of its answer.

A module here knows words and the types of a graph's entities, nothing of models or paths. Whatever a room needs to know
about a question becomes a field of ``Query``; no room below reads the question's words again.
Begin with ``query.py``; ``rewriter.py`` says in plain words what people type in a thousand ways; ``form.py`` takes a
question apart into its ``Plan``: ``rewordings.py`` says it in the words that the readers know, ``orders.py`` reads
what is stated, compared and ordered, ``nested.py`` what has to be asked first, and several conditions one by one.
``wording.py`` finds the sentence that asks, ``spelling.py`` puts mistyped words right, ``answer_type.py`` holds the
rules for the answer's type, ``parser.py`` writes what a question asks as a plan in the terms of the graph, learnt
from wordings; ``translator.py`` is the network that it and the rewriter share.
"""
