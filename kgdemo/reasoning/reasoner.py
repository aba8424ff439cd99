"""Which reasoner speaks: a configured chat model, at an endpoint or on this machine, else the embedded one."""

from __future__ import annotations

from kgdemo.linking.base import Embedder
from kgdemo.models.chat import ChatModel, OpenAIChat
from kgdemo.models.chat_local import LocalChat
from kgdemo.reasoning.base import Reasoner
from kgdemo.reasoning.chat import ChatReasoner
from kgdemo.reasoning.chat_local import LocalReasoner
from kgdemo.reasoning.embedded import EmbeddedReasoner
from kgdemo.settings import ChatSettings


def chat_model(chat: ChatSettings) -> ChatModel | None:
    """The chat model of these settings; None where none is configured.

    Raises:
        ModelError: a local model that cannot be loaded.
    """
    if not chat.model:
        return None
    return LocalChat.load(chat.model) if chat.local else OpenAIChat(chat)


def reasoner_for(chat: ChatSettings, embedder: Embedder) -> Reasoner:
    """The reasoner for these settings.

    Raises:
        ModelError: a local model that cannot be loaded.
    """
    model = chat_model(chat)
    if model is None:
        return EmbeddedReasoner(embedder)
    return LocalReasoner(model) if isinstance(model, LocalChat) else ChatReasoner(model)
