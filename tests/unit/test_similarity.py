"""What training has taught of which question asks for which relation path: learnt, kept, and heard in the ranking."""

from __future__ import annotations

import numpy as np
import pytest

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.lab.training.examples import Example
from kgdemo.lab.training.loop import Share
from kgdemo.lab.training.run import SimilarityConfig, train_similarity
from kgdemo.models.base import LearnedSimilarity, PromptStyle, path_sentence, read_similarity, write_similarity
from kgdemo.query.form import understand
from kgdemo.ranking.scorer import FEATURES, PathScorer
from tests.helpers.reasoning import FILMS, INVERSE, SpellingEmbedder

EMBEDDER = SpellingEmbedder()
WIDTH = 512
# wordings that share no trigram with their relation: only training can tell
ASKED = {
    ("directed by",): "who made {e}",
    ("starring",): "whom can we see on screen in {e}",
    ("born in", "capital"): "home town of {e}",
}
FILM_NAMES = [f"{word} {number}" for number in range(12) for word in ("Jaws", "Tenet", "Alien")]


def source(rng) -> Example:
    """A question about a random film."""
    relations = rng.choice(list(ASKED))
    film = rng.choice(FILM_NAMES)
    path = (film, *(part for relation in relations for part in (relation, "somebody")))
    return Example(ASKED[relations].replace("{e}", film), (film,), path, path[-1])


@pytest.fixture(scope="module")
def learnt() -> LearnedSimilarity:
    config = SimilarityConfig(examples=200, epochs=20, batch_size=50)
    return train_similarity([Share(source, 1.0)], EMBEDDER, config)


def nearest(similarity: LearnedSimilarity, question: str) -> tuple[str, ...]:
    """The relation path that is most similar to a question."""
    paths = EMBEDDER.encode([path_sentence(relations) for relations in ASKED])
    return list(ASKED)[int(similarity.of(EMBEDDER.encode([question])[0], paths).argmax())]


def untaught() -> LearnedSimilarity:
    """As every training begins."""
    return LearnedSimilarity(np.eye(WIDTH, dtype=np.float32), np.eye(WIDTH, dtype=np.float32))


def test_it_learns_what_no_spelling_tells(learnt):
    asked = {relations: wording.replace("{e}", "Casablanca") for relations, wording in ASKED.items()}  # a film not seen
    assert all(nearest(learnt, question) == relations for relations, question in asked.items())
    assert not all(nearest(untaught(), question) == relations for relations, question in asked.items())


def test_the_same_seed_gives_the_same(learnt):
    again = train_similarity([Share(source, 1.0)], EMBEDDER, SimilarityConfig(examples=200, epochs=20, batch_size=50))
    assert np.array_equal(learnt.question, again.question)
    assert np.array_equal(learnt.path, again.path)


def test_it_is_the_cosine_of_what_is_mapped():
    rng = np.random.default_rng(1)
    left, right, paths = (rng.normal(size=size).astype(np.float32) for size in ((7, 7), (7, 7), (5, 7)))
    question = rng.normal(size=7).astype(np.float32)
    asked = [sum(left[i, j] * question[j] for j in range(7)) for i in range(7)]
    for path, own in zip(paths, LearnedSimilarity(left, right).of(question, paths), strict=True):
        said = [sum(right[i, j] * path[j] for j in range(7)) for i in range(7)]
        product = sum(a * b for a, b in zip(asked, said, strict=True))
        lengths = (sum(a * a for a in asked) * sum(b * b for b in said)) ** 0.5
        assert own == pytest.approx(product / lengths, abs=1e-4)
    plain = untaught().of(np.eye(WIDTH, dtype=np.float32)[0], np.eye(WIDTH, dtype=np.float32)[:2])
    assert plain.tolist() == pytest.approx([1.0, 0.0], abs=1e-5)


def test_a_model_folder_brings_it_along(tmp_path, learnt):
    PromptStyle(similarity=learnt).save(tmp_path)
    style = PromptStyle.load(tmp_path)
    assert style.similarity is not None
    assert np.allclose(style.similarity.question, learnt.question, atol=1e-3)
    assert np.allclose(style.similarity.path, learnt.path, atol=1e-3)
    assert "similarity" not in (tmp_path / "kgdemo.json").read_text("utf-8")
    (tmp_path / "bare").mkdir()
    PromptStyle().save(tmp_path / "bare")
    assert PromptStyle.load(tmp_path / "bare").similarity is None
    write_similarity(tmp_path / "bare", learnt)
    assert read_similarity(tmp_path / "bare") is not None


def test_the_ranking_hears_it(learnt):
    kg = KnowledgeGraph.from_triples(FILMS, "films", INVERSE)
    path = Path(("Inception", "Christopher Nolan"), ("directed by",))

    def features(similarity: LearnedSimilarity | None, relation: str = "directed by"):
        scorer = PathScorer(understand("who made Inception", ["Inception"], kg), kg, EMBEDDER, similarity=similarity)
        return scorer.features(Path(path.entities, (relation,)), -1.0, -1.0)

    assert features(None).learned_similarity == 0.0
    assert features(untaught()).learned_similarity == pytest.approx(
        float(EMBEDDER.encode(["who made Inception"])[0] @ EMBEDDER.encode(["directed by"])[0]), abs=1e-5
    )
    assert features(learnt).learned_similarity > features(learnt, "starring").learned_similarity
    weights = dict.fromkeys(FEATURES, 0.0) | {"learned_similarity": 2.0}
    assert features(learnt).score(weights) == pytest.approx(2 * features(learnt).learned_similarity)
    of_other_width = LearnedSimilarity(np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32))
    assert features(of_other_width).learned_similarity == 0.0
