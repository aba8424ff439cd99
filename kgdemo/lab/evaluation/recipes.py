"""The papers' tables and figures as recipes: what each varies, what the paper reports, and how far the two compare.

It stands apart from ``study.py``, which runs them, so that the page and ``kgdemo recipes`` list them at once: this file
imports nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_PARTS = ("planning", "beam_search", "verifier", "last_step")
_STRATEGIES = tuple(f"{how}-{shape}" for how in ("agent", "explore") for shape in ("cot", "tot", "got"))


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is varied, and what the paper says of it.

    Attributes:
        after: the table or figure.
        variants: name -> method and other settings, as ``name=value``; what is no setting is an option of the method.
        reports: what the paper reports, in a sentence.
        compares: why its figures and these are comparable, or not.
    """

    after: str
    variants: Mapping[str, str]
    reports: str
    compares: str = (
        "The paper's figures are of other models, and of its own sets: only the direction of a difference compares."
    )


_GRBENCH = (
    "Comparable with a folder of GRBench (--questions), Rouge-L and Llama 3.1 as general model; the embedded reasoner "
    "decides by embeddings, so that steps and ratings cost and bring less than a model's."
)
RECIPES: dict[str, Recipe] = {
    "constraint": Recipe(
        "GCR, figure 5",
        {"gcr": "method=gcr compare=yes"},
        "With the constraint all reasoning behind right answers is in the graph; without it less is, and on WebQSP "
        "fewer answers are right.",
    ),
    "beams": Recipe(
        "GCR, figure 4",
        {f"beams-{k:02}": f"method=gcr beams={k}" for k in (1, 3, 5, 10, 20)},
        "Hit and recall rise with K, F1 is best at 10, and time rises slightly.",
    ),
    "hops": Recipe(
        "GCR, figure 7",
        {f"hops-{hops}": f"method=gcr hops={hops}" for hops in (1, 2, 3, 4)},
        "Two hops are best; three and four bring noise.",
    ),
    "ablations": Recipe(
        "GCR, table 3",
        {
            "gcr": "method=gcr",
            "without-path-model": "method=gcr path_model=no",
            "without-general-model": "method=gcr general_model=no",
        },
        "Without either model both Hit and F1 fall.",
    ),
    "few-shot": Recipe(
        "GCR, table 4",
        {
            "zero-shot": "method=gcr examples=0",
            "few-shot": "method=gcr examples=3",
            "fine-tuned": "method=gcr model=embedded",
        },
        "Hit and F1 on WebQSP of Llama 3.1 8B as path model 28.25 and 10.32 asked as it is, 33.24 and 11.19 with three "
        "examples before the question, 92.74 and 73.14 fine-tuned; Qwen2 0.5B fine-tuned 87.48 and 60.03.",
        "Give a model that was not fine-tuned with --model, best the one that the third variant's was made from; with "
        "the embedded model the first and the third are the same, and examples are only text that it never saw.",
    ),
    "efficiency": Recipe(
        "GCR, table 2; FiDeLiS, table 7",
        {name: f"method={name}" for name in ("text-rag", "graph-rag", "rog", "tog", "fidelis", "agent-cot", "gcr")},
        "GCR asks a model twice a question, agents many times.",
    ),
    "visibility": Recipe(
        "DoG, section 5.2",
        {name: f"method=dog visibility={name}" for name in ("full", "local", "hidden")},
        "What of the graph stands in the prompt, beside the constraint.",
    ),
    "fidelis-ablations": Recipe(
        "FiDeLiS, table 2",
        {
            "fidelis": "method=fidelis",
            "vanilla-retriever": "method=fidelis retriever=vanilla",
            "tog-retriever": "method=fidelis retriever=tog",
            **{f"without-{part}": f"method=fidelis {part}=no" for part in _PARTS},
        },
        "Every part left out costs Hits@1; the beam search most.",
    ),
    "alpha": Recipe(
        "FiDeLiS, equation 2",
        {f"alpha-{value}": f"method=fidelis alpha={value}" for value in ("0", "0.1", "0.3", "0.5", "1")},
        "The weight of the look-ahead.",
    ),
    "width": Recipe(
        "FiDeLiS, figure 6",
        {f"width-{width}": f"method=fidelis width={width}" for width in (1, 2, 3, 4)},
        "The number of paths kept at each step.",
    ),
    "depth": Recipe(
        "FiDeLiS, figure 6",
        {f"depth-{depth}": f"method=fidelis hops={depth}" for depth in (1, 2, 3, 4)},
        "Performance peaks at a depth of 3 on WebQSP and CWQ and falls beyond; figures are drawn, not printed.",
    ),
    "grounding": Recipe(
        "Grounding, section 6",
        {name: f"method={name}" for name in ("cot", *_STRATEGIES)},
        "The best are at least 26.5 % above a chain of thought from memory.",
    ),
    "transfer": Recipe(
        "GCR, table 6",
        {name: f"method={name}" for name in ("direct", "cot", "gcr")},
        "Accuracy on sets and graphs that the path model has not seen, the general model alone and GCR: FreebaseQA 85 "
        "and 92, CommonsenseQA 79 and 85, MedQA 64 and 66 with ChatGPT; 89 and 94, 91 and 94, 75 and 79 with "
        "GPT-4o-mini.",
        "Comparable with the paper's set (--questions) and graph (--kg: ConceptNet, UMLS), a path model trained on "
        "Freebase alone (--model) and the same general model; the embedded model has seen the graphs that ship.",
    ),
    "embeddings": Recipe(
        "FiDeLiS, table 3",
        {
            f"{retriever}-{by}": f"method=fidelis retriever={retriever} embeddings={by}"
            for retriever in ("vanilla", "path-rag")
            for by in ("bm25", "minilm")
        },
        "Hits@1 on WebQSP and CWQ with BM25 58.3 and 48.4 (vanilla), 70.3 and 56.1 (Path-RAG); with SentenceBert "
        "62.7 and 50.1, 73.5 and 58.4; E5 and text-embedding-3-small are better.",
        "MiniLM stands for SentenceBert, whose version is not given; E5 and OpenAI's embeddings are not among ours. "
        "The paper's figures are with GPT-3.5: only the direction of a difference compares.",
    ),
    "small-model": Recipe(
        "FiDeLiS, appendix B",
        {f"decided-by-{who}": f"method=fidelis decisions={who}" for who in ("reasoner", "embeddings", "path-model")},
        "With small models for the decisions of the beam search, D + C calls of the general model remain of "
        "N D + D + C (N the width, D the depth, C a constant), which may cost accuracy; no figures are given.",
        "The numbers of calls compare where a general model is configured: the embedded reasoner asks none.",
    ),
    "retriever": Recipe(
        "DoG, table 5",
        {
            "whole-graph": "method=dog width=2 triples=0",
            **{f"retrieved-{n}": f"method=dog width=2 triples={n}" for n in (30, 60, 120)},
        },
        "Hits@1 on the whole question graph and on what the retriever of GNN-RAG leaves of it, at two beams: Llama "
        "91.0 and 90.7 on WebQSP, 76.1 and 84.7 on CWQ; Gemma 91.6 and 89.6, 72.6 and 80.1; Qwen 92.6 and 90.1, "
        "73.7 and 84.4.",
        "Not comparable in size: GNN-RAG is a network trained on each set, here the triples nearest to the question by "
        "embeddings are kept, up to the 120 of section 3.1. What can be compared is that fewer triples help where many "
        "hops are asked for.",
    ),
    "steps": Recipe(
        "Grounding, figure 4",
        {
            f"{how}-{n:02}": f"method={how}-cot steps={n}"
            for how in ("agent", "explore")
            for n in (1, 3, 5, 10)
        },
        "Exploration does well with few steps and agents go on gaining; figures are drawn, not printed.",
        _GRBENCH,
    ),
    "search-depth": Recipe(
        "Grounding, figure 5",
        {f"depth-{n}": f"method=explore-cot steps=1 search_depth={n}" for n in (1, 2, 3, 4, 5)},
        "With one step the score levels off at a depth of 3; figures are drawn, not printed.",
        _GRBENCH,
    ),
    "tree-width": Recipe(
        "Grounding, figure 6",
        {f"width-{n}": f"method=agent-tot branches={n} kept={n}" for n in (1, 2, 3, 4)},
        "A slight rise with the width, most of it from one branch to two; figures are drawn, not printed.",
        _GRBENCH,
    ),
    "evaluator": Recipe(
        "Grounding, figure 7 and table 2",
        {
            f"{how}-{who}": f"method={how}-tot evaluator={who}"
            for how in ("agent", "explore")
            for who in ("select", "score")
        },
        "Select is slightly above Score, most of all for agents; in table 2 (graphs of thoughts, Rouge-L, healthcare, "
        "Llama 3.1 70B) 40.7 and 30.9 as agents, 37.0 and 31.2 exploring.",
        _GRBENCH,
    ),
}  # fmt: skip
