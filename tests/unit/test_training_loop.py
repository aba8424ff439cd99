"""The loop: what the loss counts, what the rate does, and that a broken run ends where an unbroken one does."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
import torch

from kgdemo.errors import UserError
from kgdemo.lab.training import loop
from kgdemo.lab.training.examples import Example
from kgdemo.lab.training.loop import (
    IGNORED,
    Checkpoints,
    Encoder,
    SampledHead,
    Share,
    TrainConfig,
    batch_loss,
    collate,
    schedule,
    train,
)
from kgdemo.lab.training.templates import TemplateSource
from tests.helpers.training import TEMPLATES, encoder_of, film_graph, same_weights, tiny

SOURCE = TemplateSource(film_graph(), TEMPLATES, hops=(0.6, 0.4), two_topics=0.2)
CONFIG = TrainConfig(steps=10, batch_size=4, learning_rate=3e-3, negatives=20, longest=200, save_every=5, seed=3)
EXAMPLES = [SOURCE(Random(seed)) for seed in range(6)]


def run(made, out, config: TrainConfig = CONFIG, measure=None) -> None:
    train(made.model, encoder_of(made), [Share(SOURCE, 1.0)], 0, config, out, measure)


def test_the_rate_warms_up_then_falls_by_a_cosine():
    config = TrainConfig(warmup=0.1, floor=0.05)
    rates = [schedule(step / 1000, config) for step in range(1001)]
    assert rates[:101] == sorted(rates[:101])
    assert rates[100:] == sorted(rates[100:], reverse=True)
    assert 0 < rates[0] < 0.01
    assert rates[100] == pytest.approx(1.0)
    assert rates[550] == pytest.approx((1 + 0.05) / 2)  # half way down a cosine
    assert rates[1000] == pytest.approx(0.05)


def test_a_source_is_used_in_its_part_of_the_run():
    share = Share(SOURCE, 0.4, from_step=10, until_step=20)
    assert [share.at(step) for step in (0, 9, 10, 19, 20)] == [0.0, 0.0, 0.4, 0.4, 0.0]
    assert Share(SOURCE, 0.4, from_step=10).at(10**6) == 0.4


def test_an_example_is_encoded_as_decoding_reads_it():
    made = tiny("qwen2")
    encoder = Encoder(made.label_tokens, made.style, entity_weight=0.3, stop=[7], answer_share=1.0)
    example = Example("who directed Jaws", ("Jaws",), ("Jaws", "directed by", "Steven Spielberg"), "Steven Spielberg")
    encoded = encoder(example, Random(0))
    assert encoded.prompt == made.style.encode(made.label_tokens, "who directed Jaws", ("Jaws",))
    spelled = made.label_tokens.plain(" Jaws -> directed by -> Steven Spielberg")
    answer = made.label_tokens.plain(" Steven Spielberg")
    assert encoded.output == [*spelled, *made.label_tokens.end, *answer, 7]
    weight_of = dict(zip(encoded.output, encoded.weights, strict=True))
    assert all(weight_of[token] == 1.0 for token in made.label_tokens.plain(" directed by"))
    assert encoded.weights[-1] == 0.3
    short = Encoder(made.label_tokens, made.style, 0.3, [7], answer_share=0.0)(example, Random(0))
    assert short.output == [*spelled, *made.label_tokens.end]


@pytest.mark.parametrize("bidirectional", [False, True])
def test_prompts_end_and_outputs_begin_in_one_column(bidirectional: bool):
    made = tiny()
    encoded = [encoder_of(made)(example, Random(0)) for example in EXAMPLES]
    batch = collate(encoded, pad=0, bidirectional=bidirectional)
    prompts = batch.input_ids.shape[1] - batch.targets.shape[1]
    assert prompts == max(len(e.prompt) for e in encoded)
    for row, example in enumerate(encoded):
        start, stop = prompts - len(example.prompt), prompts + len(example.output)
        assert batch.input_ids[row, start:stop].tolist() == example.prompt + example.output
        assert batch.position_ids[row, start:stop].tolist() == list(range(stop - start))
        assert batch.targets[row].tolist()[: len(example.output)] == example.output
        assert set(batch.targets[row].tolist()[len(example.output) :]) <= {IGNORED}
        looks = batch.may_look[row, 0]
        assert not looks[start:stop, :start].any()  # nobody looks at padding
        assert torch.equal(
            looks[prompts:stop, start:stop], torch.ones(len(looks), len(looks)).tril().bool()[prompts:stop, start:stop]
        )
        assert bool(looks[start, prompts - 1]) == bidirectional  # the prompt's first token sees its last


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", ["bert", "qwen2", "llama"])
@pytest.mark.parametrize("lower", [False, True])
def test_padding_changes_no_loss(family: str, attention: str, lower: bool, monkeypatch):
    """The loss of a batch is that of its examples, each read alone: in every attention, in both precisions."""
    monkeypatch.setattr(loop, "_gains_from_bf16", lambda device: lower)
    made = tiny(family, attention)
    encoded = [encoder_of(made)(example, Random(0)) for example in EXAMPLES]
    style = made.style.bidirectional
    with torch.no_grad():
        concurrently = batch_loss(made.model, collate(encoded, 0, style), None, 0)
        alone = [batch_loss(made.model, collate([e], 0, style), None, 0) for e in encoded]
    counts = [sum(e.weights) for e in encoded]
    expected = sum(a * c for a, c in zip(alone, counts, strict=True)) / sum(counts)
    assert float(concurrently) == pytest.approx(float(expected), rel=2e-2 if lower else 1e-4)


def test_the_loss_counts_output_tokens_alone():
    """Against the plain definition: weighted mean of -log p(token | prompt, tokens before), whole vocabulary."""
    made = tiny("qwen2")
    encoded = encoder_of(made)(EXAMPLES[0], Random(0))
    ids = torch.tensor([encoded.prompt + encoded.output])
    with torch.no_grad():
        log_probs = made.model(input_ids=ids).logits[0].log_softmax(-1)
        loss = batch_loss(made.model, collate([encoded], 0, False), None, 0)
    losses = [-float(log_probs[len(encoded.prompt) + i - 1, token]) for i, token in enumerate(encoded.output)]
    expected = sum(w * x for w, x in zip(encoded.weights, losses, strict=True)) / sum(encoded.weights)
    assert float(loss) == pytest.approx(expected, rel=1e-2)


def test_a_sample_of_the_vocabulary_estimates_the_whole_softmax():
    torch.manual_seed(0)
    inner = torch.nn.Linear(8, 2000, bias=False)
    hidden, targets = torch.randn(1, 5, 8), torch.tensor([[3, 1999, IGNORED, 3, 40]])
    exact = inner(hidden).logsumexp(-1)
    head, generator = SampledHead(inner), torch.Generator().manual_seed(1)
    estimates = []
    for _ in range(40):
        columns = head.sample(targets, 200, generator)
        logits = head(hidden)
        kept = targets >= 0
        assert torch.equal(head.ids[columns[kept]], targets[kept])
        assert torch.equal(columns[~kept], targets[~kept])
        assert torch.allclose(
            logits[kept].gather(1, columns[kept][:, None]), inner(hidden)[kept].gather(1, targets[kept][:, None])
        )
        estimates.append(logits.logsumexp(-1))
    assert torch.allclose(torch.stack(estimates).mean(0), exact, atol=0.05)
    head.full()
    assert torch.equal(head(hidden), inner(hidden))


def test_training_teaches(tmp_path):
    made = tiny()
    batch = collate([encoder_of(made)(example, Random(0)) for example in EXAMPLES], 0, True)
    with torch.no_grad():
        before = float(batch_loss(made.model.eval(), batch, None, 0))
    run(made, tmp_path, replace(CONFIG, steps=30))
    with torch.no_grad():
        after = float(batch_loss(made.model, batch, None, 0))
    assert after < 0.8 * before
    assert not isinstance(made.model.get_output_embeddings(), SampledHead)


@pytest.mark.parametrize("stop", [3, 5, 8])
def test_a_resumed_run_gives_the_weights_of_an_unbroken_one(stop: int, tmp_path):
    whole, broken, resumed = tiny(), tiny(), tiny()
    run(whole, tmp_path / "whole")
    _run_until(broken, tmp_path / "broken", stop)
    assert not same_weights(broken.model, whole.model)
    run(resumed, tmp_path / "broken")
    assert same_weights(resumed.model, whole.model)


def _run_until(made, out, stop: int) -> None:
    """A run that is killed after so many steps, its newest checkpoint a step or two back."""

    def killed(model: torch.nn.Module) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(made, out, replace(CONFIG, save_every=2, measure_every=stop), killed)
    assert Checkpoints(out).folder.joinpath("checkpoint.pt").is_file()


def test_the_best_checkpoint_is_kept(tmp_path):
    made, scores, kept = tiny(), iter([0.2, 0.6, 0.6, 0.5, 0.1]), []

    def measure(model: torch.nn.Module) -> float:
        assert not model.training
        assert not isinstance(model.get_output_embeddings(), SampledHead)  # measured as it will be exported
        kept.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return next(scores)

    run(made, tmp_path, replace(CONFIG, measure_every=2), measure)
    best = tiny(family="bert")
    Checkpoints(tmp_path).load_for_export(best.model)
    assert all(torch.equal(tensor, kept[1][name]) for name, tensor in best.model.state_dict().items())
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
    assert [(line["step"], line["score"]) for line in lines if "score" in line] == [
        (2, 0.2),
        (4, 0.6),
        (6, 0.6),
        (8, 0.5),
        (10, 0.1),
    ]


def test_a_resumed_run_knows_the_best_score_so_far(tmp_path):
    run(tiny(), tmp_path, replace(CONFIG, steps=4, save_every=2, measure_every=2), lambda model: 0.9)
    before = torch.load(tmp_path / "best.pt", weights_only=True)["step"]
    run(tiny(), tmp_path, replace(CONFIG, steps=8, save_every=2, measure_every=2), lambda model: 0.5)
    assert torch.load(tmp_path / "best.pt", weights_only=True)["step"] == before == 2


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    run(tiny("qwen2"), tmp_path)
    with pytest.raises(UserError, match="another model"):
        run(tiny("bert"), tmp_path)


def test_examples_longer_than_allowed_are_an_error_not_an_endless_loop(tmp_path):
    with pytest.raises(UserError, match="longest"):
        run(tiny(), tmp_path, replace(CONFIG, longest=5))
