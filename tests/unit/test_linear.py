"""Linear layers by oneDNN say what PyTorch's own say, and step aside where gradients or other types are wanted."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from kgdemo.models import bert as linear
from kgdemo.models.bert import OneDNNLinear, pack, with_onednn, without_onednn
from tests.unit.test_decoding import model_named

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this PyTorch carries no oneDNN")


@needs_onednn
@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    width=st.integers(1, 70),
    height=st.integers(1, 70),
    bias=st.booleans(),
    packed=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_shape_gives_the_product_of_double_precision(shape, width, height, bias, packed, seed):
    torch.manual_seed(seed)
    layer, rows = nn.Linear(width, height, bias), torch.randn(*shape, width)
    ours = OneDNNLinear(layer)
    if packed:
        ours.pack()
    with torch.inference_mode():
        found = ours(rows)
        exact = rows.double() @ layer.weight.double().T + (layer.bias.double() if bias else 0)
    assert found.shape == exact.shape
    assert torch.allclose(found.double(), exact, atol=1e-5)


@needs_onednn
@settings(max_examples=20, deadline=None)
@given(number=st.integers(1, 1300), packed=st.booleans())
def test_many_rows_are_multiplied_part_by_part_with_the_same_result(number, packed):
    layer, rows = nn.Linear(24, 9), torch.randn(number, 24, generator=torch.Generator().manual_seed(number))
    ours = OneDNNLinear(layer)
    if packed:
        ours.pack()
    with torch.inference_mode():
        assert torch.allclose(ours(rows), nn.functional.linear(rows, layer.weight, layer.bias), atol=1e-5)


@needs_onednn
def test_the_numbers_of_rows_that_onednn_compiles_code_for_are_bounded(monkeypatch):
    layer, met = OneDNNLinear(nn.Linear(6, 4)), set()

    def multiply(rows, weight, bias, *how):
        met.add(tuple(rows.shape))
        return nn.functional.linear(rows, weight, bias)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", multiply)
    with torch.inference_mode():
        for number in range(2_000):
            assert layer(torch.ones(number, 6)).shape == (number, 4)
            assert layer(torch.ones(1, number, 6)).shape == (1, number, 4)
    assert {number for number, _ in met} == {0, *linear.ROWS}
    assert all(linear.row_count(number) - number < max(4, number / 4) for number in range(1, linear.ROWS[-1]))


@needs_onednn
def test_weights_are_shared_and_gradients_flow():
    layer = nn.Linear(6, 4)
    ours = OneDNNLinear(layer)
    ours(torch.ones(2, 6)).sum().backward()
    assert torch.equal(layer.weight.grad, torch.full((4, 6), 2.0))
    with torch.no_grad():
        layer.weight.zero_()
        assert torch.equal(ours(torch.ones(1, 6))[0], layer.bias)


@needs_onednn
def test_packed_weights_are_not_used_once_the_weights_have_changed():
    layer = nn.Linear(6, 4)
    ours = OneDNNLinear(layer)
    ours.pack()
    rows = torch.ones(1, 6)
    with torch.no_grad():
        assert ours.quickest is not layer.weight
        assert torch.allclose(ours(rows), layer(rows), atol=1e-6)
        layer.weight.add_(1.0)  # as an optimiser does
        assert torch.allclose(ours(rows), layer(rows), atol=1e-6)
        ours.pack()
        assert torch.allclose(ours(rows), layer(rows), atol=1e-6)
        layer.weight.data = torch.zeros(4, 6)  # as loading and moving do
        assert torch.equal(ours(rows)[0], layer.bias)


@needs_onednn
def test_only_what_is_not_too_large_is_packed(monkeypatch):
    model = nn.Sequential(OneDNNLinear(nn.Linear(6, 4)), OneDNNLinear(nn.Linear(4, 4)))
    monkeypatch.setattr(linear, "_MAX_BYTES", 4 * 40 - 1)
    pack(model)
    assert all(layer.quickest is layer.weight for layer in model)
    monkeypatch.setattr(linear, "_MAX_BYTES", 4 * 40)
    pack(model)
    assert all(layer.quickest is not layer.weight for layer in model)
    half = nn.Sequential(OneDNNLinear(nn.Linear(6, 4).to(torch.bfloat16)))
    pack(half)
    assert half[0].quickest is half[0].weight


@needs_onednn
def test_half_precision_is_left_to_pytorch():
    layer = nn.Linear(6, 4).to(torch.bfloat16)
    rows = torch.randn(2, 6, dtype=torch.bfloat16)
    with torch.inference_mode():
        assert torch.equal(OneDNNLinear(layer)(rows), layer(rows))


@needs_onednn
@pytest.mark.parametrize("family", ["qwen2", "bert", "gpt2"])
def test_a_model_is_changed_in_place_and_a_plain_copy_shares_its_weights(family):
    model = model_named(family, 0).model
    pack(model)
    plain = without_onednn(model)
    kinds = [type(module) for module in model.modules()]
    assert OneDNNLinear in kinds
    assert nn.Linear not in kinds
    assert OneDNNLinear not in [type(module) for module in plain.modules()]
    assert [p.data_ptr() for p in plain.parameters()] == [p.data_ptr() for p in model.parameters()]
    assert plain.state_dict().keys() == model.state_dict().keys()
    ids = torch.tensor([[3, 5, 7, 4]])
    with torch.inference_mode():
        assert torch.allclose(model(input_ids=ids).logits, plain(input_ids=ids).logits, atol=1e-5)
    assert with_onednn(plain) is plain
    assert OneDNNLinear in [type(module) for module in plain.modules()]
