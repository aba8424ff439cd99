"""The public endpoints, called as a user's program calls them."""

from __future__ import annotations

import pytest
from gradio_client.exceptions import AppError

from tests.helpers.small import QUESTION


def test_exactly_four_endpoints_are_public(client):
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert sorted(named) == ["/ask", "/link", "/paths", "/verify_path"]


def test_ask_answers_from_verified_paths(client):
    result = client.predict(QUESTION, api_name="/ask", beams=4)
    assert result["answer"]
    assert result["entities"] == ["Inception"]
    assert result["paths"]
    assert all(path["verified"] for path in result["paths"])
    cited = {index for citation in result["citations"] for index in citation}
    assert cited <= {path["index"] for path in result["paths"]}


def test_what_the_page_points_out_is_told_to_programs_too(client):
    noticed = client.predict(QUESTION, api_name="/ask", method="direct")["notices"]
    assert any("does not look at the graph" in text for text in noticed)


def test_paths_are_as_many_as_asked_and_all_different(client):
    paths = client.predict(QUESTION, api_name="/paths", beams=3)
    assert len({path["text"] for path in paths}) == len(paths) == 3


def test_verify_path_judges_each_hop(client):
    good = client.predict("inception -> directed by -> christopher nolan -> born in -> london", api_name="/verify_path")
    bad = client.predict("Inception -> directed by -> Steven Spielberg", api_name="/verify_path")
    assert good["faithful"]
    assert good["text"] == "Inception -> directed by -> Christopher Nolan -> born in -> London"
    assert not bad["faithful"]
    assert bad["hops"][0]["verdict"] == "unknown entity"


def test_link_finds_the_entities(client):
    assert client.predict(QUESTION, api_name="/link")["chosen"] == ["Inception"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"question": ""}, "question"),
        ({"question": "x" * 10_000}, "characters"),
        ({"graph": "/etc/passwd"}, "no graph"),
        ({"beams": 0}, "K"),
        ({"hops": 99}, "L"),
        ({"method": "nonsense"}, "nonsense"),
        ({"method": "dog", "options": "wide=3"}, "no option 'wide'"),
        ({"method": "dog", "options": "width"}, "name=value"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence(client, wrong, says):
    with pytest.raises(AppError, match=says):
        client.predict(**{"question": QUESTION, "api_name": "/ask", **wrong})
