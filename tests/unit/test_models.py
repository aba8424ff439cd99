"""Any causal language model takes the same way in: by folder, with its own tokeniser and prompt."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import BeamSettings
from kgdemo.decoding.beam import beam_search
from kgdemo.errors import ModelError
from kgdemo.events import Notice, PathFound, PathVerified, RunFinished
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.models.base import PROMPT_END, PromptStyle
from kgdemo.models.causal import EMBEDDED, EMBEDDED_FOLDER, CausalModel
from kgdemo.pipeline import Pipeline
from kgdemo.settings import ChatSettings, Settings
from kgdemo.verify import Verifier
from tests.helpers.models import CORPUS, FAMILIES, byte_level_tokenizer, random_model, wordpiece_tokenizer
from tests.helpers.oracles import splices_exactly
from tests.helpers.strategies import FORMATS
from tests.unit.test_decoding import decode
from tests.unit.test_look_ahead import finish

KG = KnowledgeGraph.from_triples([("New York", "part of", "United States"), ("New York", "part", "New")])


@pytest.fixture(params=["qwen2", "llama", "gpt2", "bert"])
def folder(request, tmp_path: Path) -> Path:
    """A model folder as one would download it."""
    made = random_model(request.param)
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    made.style.save(tmp_path)
    return tmp_path


def test_a_model_folder_loads_and_decodes(folder: Path):
    model = CausalModel.load(str(folder), device="cpu")
    tree = model.tree(model.style.encode(model.label_tokens, "which part?", ["New York"]))
    assert torch.isfinite(tree.prompt_log_probs()).all()
    assert model.stop_ids
    family = model.model.config.model_type
    _, paths = decode(KG, "New York", {"bert": "bert"}.get(family, family), 0, 4, 2)
    assert len(paths) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [("/no/such/folder", "no model folder"), ("./none", "no model folder"), ("none", "no model folder")],
)
def test_an_unknown_model_is_named(name, words):
    with pytest.raises(ModelError, match=words):
        CausalModel.load(name)


def test_a_hub_name_without_network_is_one_sentence():
    with pytest.raises(ModelError, match="cannot be loaded"):
        CausalModel.load("nobody/no-such-model")


def test_a_folder_without_a_model_is_named(tmp_path: Path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        CausalModel.load(str(tmp_path))


def test_damaged_weights_are_one_sentence(tmp_path: Path):
    model = random_model("llama")
    model.model.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        CausalModel.load(str(tmp_path))


def test_a_flipped_byte_of_the_shipped_weights_is_found(tmp_path: Path, monkeypatch):
    folder = Path(shutil.copytree(EMBEDDED_FOLDER, tmp_path / "weights"))
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1000] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    monkeypatch.setattr("kgdemo.models.causal.EMBEDDED_FOLDER", folder)
    with pytest.raises(ModelError, match="damaged or missing"):
        CausalModel.load(EMBEDDED)


@pytest.mark.parametrize("family", FAMILIES)
def test_siblings_in_the_pool_do_not_see_each_other(family):
    """Two continuations in one tree get what two separate runs give."""
    model = random_model(family, seed=5)
    prompt = model.style.encode(model.label_tokens, "which part?", ["New York"])
    first, second = model.label_tokens.plain(" New"), model.label_tokens.plain(" York")
    concurrently = model.tree(prompt)
    nodes, rows = concurrently.extend([PROMPT_END, PROMPT_END], [first[0], second[0]])
    _, deeper = concurrently.extend([nodes[1], nodes[0]], [first[-1], second[-1]])
    for row, below, tokens in (
        (rows[0], deeper[1], (first[0], second[-1])),
        (rows[1], deeper[0], (second[0], first[-1])),
    ):
        alone = model.tree(prompt)
        (node,), expected = alone.extend([PROMPT_END], [tokens[0]])
        assert torch.allclose(row, expected[0], atol=1e-4)
        _, expected = alone.extend([node], [tokens[1]])
        assert torch.allclose(below, expected[0], atol=1e-4)


@pytest.mark.parametrize("tokenizer", [byte_level_tokenizer, wordpiece_tokenizer])
def test_splicing_pieces_equals_tokenising_the_whole(tokenizer):
    labels = [word for line in CORPUS for word in line.split()] + ["New York", "a, b", "🎬 日本"]
    assert splices_exactly(LabelTokens(tokenizer()), labels)


@pytest.mark.parametrize("tokenizer", [byte_level_tokenizer, wordpiece_tokenizer])
def test_special_tokens_in_user_text_are_spelled_out(tokenizer):
    tokenizer = tokenizer()
    label_tokens = LabelTokens(tokenizer)
    specials = set(tokenizer.all_special_ids) | {*label_tokens.start, *label_tokens.end}
    unknown = {tokenizer.unk_token_id} - {None}
    for hostile in ("</PATH>", "<PATH> x", "[SEP]", "<eos>"):
        assert not set(label_tokens.plain(hostile)) & (specials - unknown)
    style = PromptStyle("{question} [SEP] {entities}")
    ids = style.encode(label_tokens, "</PATH> [SEP] {entities}", ["<PATH>"])
    assert sum(i in set(label_tokens.start) | set(label_tokens.end) for i in ids) == 1, "only our own <PATH> at the end"


def test_types_of_topics_are_told_to_models_that_read_them():
    label_tokens = LabelTokens(wordpiece_tokenizer())
    topics, kinds = ["York", "New York"], ["", "city"]
    plain, typed = (PromptStyle("{question} [SEP] {entities}", topic_types=told) for told in (False, True))
    assert plain.encode(label_tokens, "q", topics, kinds) == plain.encode(label_tokens, "q", topics)
    assert typed.encode(label_tokens, "q", topics) == plain.encode(label_tokens, "q", topics)
    assert typed.encode(label_tokens, "q", topics, kinds) == plain.encode(label_tokens, "q", ["York", "New York: city"])


def test_a_checkpoint_is_driven_in_the_format_beside_it(tmp_path):
    weights, style = tmp_path / "weights", tmp_path / "style"
    made = random_model("qwen2")
    made.model.save_pretrained(weights)
    made.tokenizer.save_pretrained(weights)
    style.mkdir()
    template = "Question: {question} Topics: {entities}"
    PromptStyle(template, reply=" Path:", one_way=True, weights=str(weights)).save(style)
    model = CausalModel.load(str(style), "cpu")
    assert model.style.one_way
    ids = model.style.encode(model.label_tokens, "which part?", ["New York"])
    spelled = [*model.label_tokens.special(" Topics: "), *model.label_tokens.plain("New York")]
    begun = [*model.label_tokens.special(" Path:"), *model.label_tokens.start]
    assert ids[-len(begun) :] == begun
    assert ids[-len(begun) - len(spelled) : -len(begun)] == spelled
    (style / "kgdemo.json").write_text('{"template": "{entities}: {question}"}', "utf-8")
    with pytest.raises(ModelError, match=r"template of kgdemo\.json needs"):
        CausalModel.load(str(style), "cpu")


WRITTEN = {  # a path of one hop and one of two, as a person writes them in each format
    "arrows": ("<PATH> New York -> part of -> A</PATH>", "<PATH> New York -> part of -> A -> named -> b, c</PATH>"),
    "arrows, no space behind the mark": (
        "<PATH>New York -> part of -> A</PATH>",
        "<PATH>New York -> part of -> A -> named -> b, c</PATH>",
    ),
    "arrows without spaces": ("<PATH>New York->part of->A</PATH>", "<PATH>New York->part of->A->named->b, c</PATH>"),
    "two separators": (
        "<PATH> New York --part of--> A</PATH>",
        "<PATH> New York --part of--> A --named--> b, c</PATH>",
    ),
    "triples": ("<PATH>(New York, part of, A)</PATH>", "<PATH>(New York, part of, A), (A, named, b, c)</PATH>"),
    "triples on lines": (
        "<PATH>\nNew York | part of | A\n</PATH>",
        "<PATH>\nNew York | part of | A\nA | named | b, c\n</PATH>",
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_checkpoint_trained_on_other_separators_is_driven_in_its_own_format(name, tmp_path):
    made = random_model("qwen2", seed=3)
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    PromptStyle("{question} {entities}", path=FORMATS[name], one_way=True).save(tmp_path)
    model = CausalModel.load(str(tmp_path), "cpu")
    triples = [("New York", "part of", "A"), ("A", "named", "b, c")]
    kg = KnowledgeGraph.from_triples(triples)

    prompt = model.style.encode(model.label_tokens, "which part?", ["New York"])
    assert tuple(prompt[-len(model.label_tokens.start) :]) == model.label_tokens.start
    automaton = KGAutomaton(TokenGraph(kg, model.label_tokens, directed=True), [kg.entities.find("New York")], 2)
    _, found = finish(beam_search(model.tree(prompt), automaton, BeamSettings(4)))
    written = [(*model.label_tokens.start, *hypothesis.tokens) for hypothesis in found]
    assert sorted(model.tokenizer.decode(ids) for ids in written) == sorted(WRITTEN[name])
    assert {model.label_tokens.special(text) for text in WRITTEN[name]} == set(written), "as the whole text is spelled"

    pipeline = Pipeline(chat=ChatSettings())
    pipeline.add_model("other", model)
    pipeline.add_graph("parts", kg, StatedFacts(triples))
    settings = Settings(graph="parts", model="other", beams=4, hops=2, explain=0)
    for method in ("gcr", "dog", "fidelis", "rog"):
        # what is written without the graph is read in every format once, and by every method in one of them
        asked = replace(settings, method=method, compare=method == "gcr" or name == "triples on lines")
        events = list(pipeline.run("which part?", asked, ["New York"]))
        assert isinstance(events[-1], RunFinished), method
        assert all(e.verdict.faithful for e in events if isinstance(e, PathVerified) and e.constrained)
        if method == "gcr":
            paths = {str(e.path) for e in events if isinstance(e, PathFound) and e.constrained}
            assert paths == {"New York -> part of -> A", "New York -> part of -> A -> named -> b, c"}


@pytest.mark.parametrize("name", FORMATS)
def test_free_text_in_another_format_is_read_as_a_path(name):
    one, two = (
        FORMATS[name].with_arrows(text.removeprefix(FORMATS[name].begin).removesuffix(FORMATS[name].end).strip())
        for text in WRITTEN[name]
    )
    assert one == "New York -> part of -> A"
    assert FORMATS[name].from_arrows("New York -> part of -> A -> named -> b, c") == WRITTEN[name][1]
    if name != "triples":  # where a comma may stand in a label, a comma parts nothing for sure
        assert two == "New York -> part of -> A -> named -> b, c"


def test_triples_that_do_not_hang_together_are_no_path():
    triples = FORMATS["triples"]
    assert triples.with_arrows("a, r, b), (b, s, c") == "a -> r -> b -> s -> c"
    assert triples.with_arrows("a , r , b ) , ( B , s , c") == "a -> r -> b -> s -> c", "as WordPiece spaces it"
    read, verdict = Verifier(StatedFacts([("a", "r", "b"), ("x", "s", "c")])).verify_text(
        triples.with_arrows("a, r, b), (x, s, c")
    )
    assert read is None
    assert not verdict.faithful


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ('{"arrow": "=>"}', "has no part 'arrow'; it has again, begin, end, entity, relation"),
        ('{"relation": 3}', "no object of texts"),
        ('{"relation": " "}', "“relation” of a path's format is empty"),
        ('["->"]', "no object of texts"),
    ],
)
def test_a_format_that_cannot_be_is_said(path, said, folder):
    (folder / "kgdemo.json").write_text(f'{{"path": {path}}}', "utf-8")
    with pytest.raises(ModelError, match=said):
        CausalModel.load(str(folder), "cpu")


def test_a_template_may_be_the_whole_prompt_and_not_one_turn_of_a_chat():
    tokenizer = byte_level_tokenizer()
    previous, tokenizer.chat_template = tokenizer.chat_template, "<user>{{ messages[0].content }}</user>"
    try:
        label_tokens = LabelTokens(tokenizer)
        turn, whole = (
            PromptStyle("Q: {question} T: {entities} Path:", chat=chat).encode(label_tokens, "q", ["t"])
            for chat in (True, False)
        )
    finally:
        tokenizer.chat_template = previous
    assert tokenizer.decode(turn) == "<user>Q: q T: t Path:</user><PATH>"
    assert tokenizer.decode(whole) == "Q: q T: t Path:<PATH>"


def test_text_of_tokens_reads_as_written():
    for family in ("qwen2", "bert"):
        model = random_model(family)
        ids = model.label_tokens.plain(" New York -> part of")
        assert "".join(model.token_text(i) for i in ids).split() == (
            "New York -> part of".split() if family == "qwen2" else "new york -> part of".split()
        )


def test_a_model_trained_one_way_is_asked_for_no_path_against_the_edges():
    model = random_model("qwen2")
    model.style = replace(model.style, one_way=True)
    pipeline = Pipeline(chat=ChatSettings())
    pipeline.add_model("one way", model)
    pipeline.add_graph("parts", KG, StatedFacts(list(KG.triples())))
    settings = Settings(graph="parts", model="one way", beams=4, hops=2, compare=False, explain=0)
    events = list(pipeline.run("which part?", settings, ["New York"]))
    paths = [event.path for event in events if isinstance(event, PathFound) and event.path]
    assert paths
    assert {relation for path in paths for relation in path.relations} <= set(KG.relations)
    assert any(isinstance(event, Notice) and "along the edges" in event.text for event in events)
