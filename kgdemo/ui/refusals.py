"""What a client gets wrong ends in one sentence: sent to it, and no traceback in the log.

A traceback in the log then always means a mistake of ours.
"""

from __future__ import annotations

import logging
from json import JSONDecodeError
from typing import Any

import gradio as gr
from fastapi.exceptions import RequestValidationError
from gradio.components.api_component import Api
from gradio.route_utils import FnIndexInferError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse

from kgdemo.settings import Profile
from kgdemo.ui.asking import Loading
from kgdemo.ui.metrics import METRICS
from kgdemo.view.escape import visible

logger = logging.getLogger(__name__)
_LONGEST = 600  # characters of a sentence


class Refused(gr.Error):
    """A client's mistake, as gradio sends it.

    Args:
        sentence: what is wrong, and what to do.
        reason: under which it is counted; none where it has been counted before.
    """

    def __init__(self, sentence: object, reason: str = "") -> None:
        if reason:
            METRICS.count("kgdemo_refused_total", reason=reason)
        super().__init__(visible(" ".join(str(sentence).split()), _LONGEST), print_exception=False)


class Page(gr.Blocks):
    """Gradio's page, which refuses values that do not fit before any of our functions is called with them.

    Attributes:
        profile: limits of the server.
        loading: how far it has come with its loading.
    """

    profile: Profile
    loading: Loading

    def validate_inputs(self, block_fn: Any, inputs: Any) -> None:
        """Refuse too few values, and from programs too many."""
        wanted = block_fn.inputs
        program = any(isinstance(block, Api) for block in wanted)
        if len(inputs) < len(wanted) or (program and len(inputs) > len(wanted)):
            names = ", ".join(str(block.label) for block in wanted) if program else "those of the page"
            raise Refused(f"{block_fn.name} takes {len(wanted)} values, {names}; {len(inputs)} came.", "values")

    async def preprocess_data(self, block_fn: Any, inputs: Any, state: Any, explicit_call: bool = False) -> Any:
        """The values as our functions get them.

        Raises:
            Refused: a component cannot read its value.
        """
        try:
            return await super().preprocess_data(block_fn, inputs, state, explicit_call)
        except gr.Error as error:
            raise Refused(error.message, "values") from None
        except Exception as error:
            logger.info("values refused: %s", type(error).__name__)
            raise Refused("A value that was sent does not fit its field; load the page anew.", "values") from error


def _answering(status: int, sentence: str) -> Any:
    def answer(_: Request, error: Exception) -> JSONResponse:
        METRICS.count("kgdemo_refused_total", reason="request")
        logger.info("request refused: %s", type(error).__name__)
        return JSONResponse({"error": sentence}, status)

    return answer


# Gradio reads requests with these exceptions unhandled, or echoes the whole request in its answer.
HANDLERS = {
    RequestValidationError: _answering(422, 'The request does not fit this address; send {"data": […]} as JSON.'),
    ValidationError: _answering(422, "The request does not fit this address; load the page anew."),
    JSONDecodeError: _answering(400, "The request is no JSON; send an object."),
    UnicodeDecodeError: _answering(400, "The request is no UTF-8; send JSON in UTF-8."),
    FnIndexInferError: _answering(404, "There is no endpoint of that name; /gradio_api/info lists them."),
    KeyError: _answering(404, "The request names a part that this page does not have; load the page anew."),
}
