"""Which reasoner speaks: a configured chat endpoint, else the embedded one."""

from __future__ import annotations

from kgdemo.models.chat import OpenAIChat
from kgdemo.reasoning.base import Embedder, Reasoner
from kgdemo.reasoning.chat import ChatReasoner
from kgdemo.reasoning.embedded import EmbeddedReasoner
from kgdemo.settings import ChatSettings


def reasoner_for(chat: ChatSettings, embedder: Embedder) -> Reasoner:
    """The reasoner for these settings."""
    if chat.model:
        return ChatReasoner(OpenAIChat(chat))
    return EmbeddedReasoner(embedder)
