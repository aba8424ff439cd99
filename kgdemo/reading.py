"""From what was typed to what is asked: entities linked, mistyped words put right, one ``Query`` made.

Where the question names nothing that the graph holds, this says so, with what may have been meant.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Generator, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from kgdemo.answering.computation import BY, listed
from kgdemo.answering.operands import all_of_kind
from kgdemo.answering.records import says_order
from kgdemo.answering.senses import names_meant
from kgdemo.errors import UserError
from kgdemo.events import AnswerFinal, Candidate, EntitiesLinked, Event, Notice
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import FUNCTION_WORDS, bare, fold, spoken
from kgdemo.linking.linker import LIKELY
from kgdemo.linking.names import name_index, other_names_of
from kgdemo.linking.words import common_words, english_words, frequent_words, ordinary_words
from kgdemo.opened import OpenedGraph
from kgdemo.query.answer_type import kind_of, singulars
from kgdemo.query.form import understand
from kgdemo.query.measures import COMPARING, UNIT_WORDS
from kgdemo.query.query import WITHOUT_TOPIC, Form, Query
from kgdemo.query.spelling import (
    corrected,
    in_full,
    in_roman,
    in_whole_words,
    unknown_words,
    with_apostrophes,
    without_slips,
)
from kgdemo.query.wording import in_fewer_words, in_plain_verbs, plain_question

_NAMED = 0.3  # a mention from this score on is taken for a name, and its letters are left as they are
_SHORT = 3  # letters from which a question word is looked for in a mistyped one
_LONG_NAME = 5  # letters of a name in which one may be wrong; two in one twice as long
_DESCRIBED = re.compile(r"^(?:who|what) (?:is|was|are|were) (?:.* )??(\w+) (?:of|in|on|for)\b", re.IGNORECASE)
_WHO_IS = re.compile(r"^(?:who|what) (?:is|was|are|were) ", re.IGNORECASE)
_JOINED = re.compile(r"\b(?:of|in|on|for)\b", re.IGNORECASE)
_SPEAKS_OF_IT = re.compile(r"\b(?:its|his|her|their|it|he|she|they)\b", re.IGNORECASE)
_SEEN_THERE = re.compile(r"\b(see|visit|find|eat|drink|buy|hear|meet|speak|use|have|built|made|buried) there\b", re.I)
_TELLS_WHICH = re.compile(
    r"(?:[^.?!:,]*[.!] )?"
    r"(?P<what>(?:the|that|this) [^.?!:,]+ (?:with|in|by|of|from|that|which|who|where) [^.?!:,]+)[:,] ?",
    re.IGNORECASE,
)
_ITS_YEAR = re.compile(r" (?:1[5-9]|20)\d\d\b")
_ORDER = re.compile(r"\b(?:first|second|third|last|(?:larg|high|bigg|old|small)est)\b", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """A question as it is understood.

    Attributes:
        text: the question as it was typed, with what is mistyped put right.
        query: what is asked.
        linked: the entities that were found in it.
        typed: whether nothing had to be put right in it.
        refused: why no path can start from it, where it names nothing; a description may fit something still.
    """

    text: str
    query: Query
    linked: EntitiesLinked
    typed: bool = True
    refused: AnswerFinal | None = None

    def names(self, described: str) -> bool:
        """Whether what seems to be described is a name that was found: the *Statue of Liberty*, the *Last Supper*.

        Args:
            described: the question that would have to be asked first: *who is the Statue of Liberty*.
        """
        mentions, given = self.linked.mentions, self.linked.chosen if self.linked.given else ()
        chosen = [mention for mention in mentions if mention.candidates[0].entity in self.linked.chosen]
        named = [mention for mention in chosen if not _is_record(mention.candidates[0])]
        names = [mention.text for mention in named if mention.candidates[0].type != "position"]
        told = re.sub(r"^(?:the|an?) ", "", _WHO_IS.sub("", described).lower())
        numbered = set(re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", r"\1", told).split())
        if any(numbered == set(fold(text).split()) for text in given):  # the *2nd period* is period 2
            return True
        events = [mention.text.lower() for mention in chosen if mention.candidates[0].type in ("event", "games")]
        if any(f" the {' '.join(told.split()[:2])}" in name.lower() for name in names):  # *On the Origin of Species*
            return True
        if any(re.sub(r"^the ", "", text) == told for text in events):  # the *first Academy Awards ceremony*
            return True
        bare = [re.sub(r"^the ", "", name.lower()) for name in names if " " in name]
        if any(re.match(rf"{re.escape(name)} (?:in|on|at)\b", told) for name in bare):  # *the Eiffel Tower* in Paris
            return True
        found = _DESCRIBED.match(described)
        noun = found[1].lower() if found else ""
        ordered = [mention.text for mention in chosen if not _is_record(mention.candidates[0])]
        return any(_ORDER.search(text) for text in (*given, *ordered)) or any(
            _JOINED.search(text) and noun in text.lower().split() for text in (*given, *names)
        )


def _is_record(candidate: Candidate) -> bool:
    """Whether a name tells a record or a first, which is another way to describe who holds it."""
    return candidate.type == "feat" or bool(_RECORD.match(candidate.entity) and candidate.type == "event")


def read(
    question: str, entities: Sequence[str], graph: OpenedGraph, typed: bool = True
) -> Generator[Event, None, Reading | None]:
    """Understand a question.

    Args:
        question: as it was typed, or in plain words.
        entities: topic entities; linked from the question when empty.
        graph: what it is about.
        typed: whether it was typed so.

    Returns:
        None where the question cannot be read, which then is the answer.

    Raises:
        UserError: the graph has no such entity.
    """
    question = " ".join(question.split())
    if (asked := in_whole_words(question)) != question:
        question, typed = asked, False
    if graph.linker.knows_all_names:

        def is_name(text: str) -> bool:
            return bool(name_index(graph.kg).called(text))

        whole = in_full(with_apostrophes(in_roman(question, is_name), is_name), is_name)
        question = in_fewer_words(whole, is_name)
        typed &= question == whole
    question = in_plain_verbs(question)
    about = question if entities else _about_what_was_named(question, graph)
    meant, linked = put_right(about, entities, graph)
    typed &= meant == question
    if not typed:
        yield Notice(f"Read as: {meant}")
    question = meant
    query = understand(question, linked.chosen, graph.kg)
    if not linked.chosen and query.text != question:  # in other words it may name something
        linked = _linked(query.text, graph)
        query = understand(question, linked.chosen, graph.kg)
    if len(word := query.plan.initial) > 1:  # of kings named *Henry* it is the name that is asked for
        linked = dataclasses.replace(linked, chosen=_but_called(word, linked))
        query = understand(question, linked.chosen, graph.kg)
    if graph.linker.knows_all_names and (strange := _nonsense(query, graph)):
        said = f"I cannot read this: neither I nor the graph {graph.kg.name} know {listed(strange)}. Please rephrase."
        yield linked
        yield AnswerFinal(said, (), (), BY, refusal=said)
        return None
    if len(chosen := _but_units(linked)) < len(linked.chosen):
        linked = dataclasses.replace(linked, chosen=chosen)
        query = understand(question, linked.chosen, graph.kg)
    if query.plan.form is Form.SUPERLATIVE and query.plan.place > 1:
        linked = dataclasses.replace(linked, chosen=_beside_the_record(linked, graph))
        query = understand(question, linked.chosen, graph.kg)
    may_lack = query.plan.form in WITHOUT_TOPIC or says_order(query.text)  # who *came first* may be a record
    without_topic = not linked.chosen and may_lack
    yield dataclasses.replace(linked, nearest=()) if without_topic else linked
    if not linked.chosen and not without_topic:
        said = _nothing_found(query, linked, graph)
        return Reading(question, query, linked, typed, AnswerFinal(said, (), (), BY, refusal=said))
    return Reading(question, query, linked, typed)


def _about_what_was_named(question: str, graph: OpenedGraph) -> str:
    """A question about *it* or *him* with what the sentence before names alone; as it stands where that is unclear."""
    asked = plain_question(question)
    start = question.find(asked)
    if start < _LONG_NAME or not (_SPEAKS_OF_IT.search(asked) or _SEEN_THERE.search(asked)):
        return question
    if (told := _TELLS_WHICH.fullmatch(question[:start])) and _SPEAKS_OF_IT.search(asked):
        return _in_place_of_it(asked, told["what"][0].lower() + told["what"][1:]) or question
    before = _linked(question[:start], graph)
    names = [
        m.text + (year[0] if (year := _ITS_YEAR.match(question, m.end)) else "")
        for m in before.mentions
        if m.candidates[0].entity in before.chosen
    ]
    if len(names) == 1 and _SEEN_THERE.search(asked):
        return _SEEN_THERE.sub(rf"\1 in {names[0]}", asked)
    named = _linked(_SPEAKS_OF_IT.sub("", asked), graph)
    named_too = {m.candidates[0].entity for m in named.mentions if m.text not in common_words()}
    if len(names) != 1 or names[0] in common_words() or not named_too.isdisjoint(named.chosen):
        return question
    return _in_place_of_it(asked, names[0]) or question


_WHOSE = re.compile(
    r"\b(?:its|his|her|their) (?P<what>[\w-]+"
    r"(?: (?!(?:is|was|were|are|called|named|born|die|in|on|of|from|by)\b)[\w-]+){0,2})",
    re.IGNORECASE,
)


def _in_place_of_it(asked: str, one: str) -> str:
    """A question with a thing in place of *its* or *it*; empty where it speaks of none."""
    whose = _WHOSE.sub(lambda said: f"the {said['what']} of {one}", asked, count=1)
    own = whose if whose != asked else re.sub(r"\b(?:it|he|she|they)\b", one, asked, count=1, flags=re.IGNORECASE)
    return f"{own}?" if own != asked else ""


def put_right(question: str, entities: Sequence[str], graph: OpenedGraph) -> tuple[str, EntitiesLinked]:
    """The question with its mistyped words and names put right, and the entities found in it.

    First go the slips that are plain without any name, since a name may be like such a word; then mistyped names; then
    all other words that name nothing.
    """
    sure = graph.linker.knows_all_names
    question = _asking_right(question, graph)
    if sure:
        question = without_slips(question, graph.vocabulary, graph.linker.knows, _is_meant(graph.kg), ordinary_words())
    linked = _given(entities, graph) if entities else _linked(question, graph)
    question = _chosen_right(question, entities, graph)
    for mend in (_names_right, _spelled) if sure else (_names_right,):
        mended = mend(question, linked, graph)
        if mended != question:
            question, linked = mended, linked if linked.given else _linked(mended, graph)
    return question, linked


def _but_called(word: str, linked: EntitiesLinked) -> tuple[str, ...]:
    """The topics without what was found for one word of the question."""
    found = {m.candidates[0].entity for m in linked.mentions if m.text.lower().startswith(word.lower())}
    return tuple(entity for entity in linked.chosen if linked.given or entity not in found)


def _but_units(linked: EntitiesLinked) -> tuple[str, ...]:
    """What was found but for the unit that a value is asked in, *in miles*, where there is anything else."""
    units = {m.candidates[0].entity for m in linked.mentions if m.text.lower() in UNIT_WORDS}
    return tuple(one for one in linked.chosen if one not in units) or linked.chosen


def _beside_the_record(linked: EntitiesLinked, graph: OpenedGraph) -> tuple[str, ...]:
    """The topics where the second of an order is asked for: of the *longest river in Africa* only the place."""
    chosen = list(linked.chosen)
    for mention in linked.mentions if not linked.given else ():
        record = mention.candidates[0]
        if record.entity in chosen and record.type == "feat":
            _, _, where = mention.text.rpartition(" in ")
            place = chosen.index(record.entity)
            chosen[place : place + 1] = graph.linker.link(where).chosen if where != mention.text else ()
    return tuple(dict.fromkeys(chosen))


_RECORD = re.compile(r"(?:First|Last|Only|Most|\w+est)\b")
_ASKING = ("what", "which", "where", "when", "who", "whose", "whom", "how")


def _asking_right(question: str, graph: OpenedGraph) -> str:
    """The question with a mistyped question word at its beginning put right, *waht*; and *wich* anywhere."""
    question = re.sub(r"\b(w)(?:ich|hcih|hihc|hitch)\b(?= [a-z])", r"\1hich", question, flags=re.IGNORECASE)
    first, _, rest = question.lstrip().partition(" ")
    typed = first.lower()
    if not rest or typed in _ASKING or len(typed) < _SHORT or typed[0] not in "wh" or graph.linker.knows(typed):
        return question
    near = [word for word in _ASKING if OSA.distance(typed, word) == 1]
    return f"{near[0].capitalize() if first[0].isupper() else near[0]} {rest}" if len(near) == 1 else question


def _linked(question: str, graph: OpenedGraph) -> EntitiesLinked:
    return names_meant(question, graph.linker, graph.kg)


def _given(entities: Sequence[str], graph: OpenedGraph) -> EntitiesLinked:
    """The entities that were chosen by hand."""
    began = time.perf_counter()
    known = set(graph.kg.entities.known(entities))  # asked for at once, as a graph behind a store likes it
    for entity in entities:
        if entity not in known:
            near = [candidate.entity for candidate in graph.linker.nearest(entity, 3)]
            hint = f"; did you mean {', '.join(near)}?" if near else "; check its spelling."
            raise UserError(f"The graph {graph.kg.name} has no entity {entity!r}{hint}")
    return EntitiesLinked((), tuple(entities), given=True, ms=1000 * (time.perf_counter() - began))


def _names_right(question: str, linked: EntitiesLinked, graph: OpenedGraph) -> str:
    """The question with mistyped names as the graph spells them, since the path model reads them letter by letter."""
    parts, done = [], 0
    for mention in sorted(linked.mentions, key=lambda mention: mention.start):
        entity = mention.candidates[0].entity
        names = [bare(name) for name in graph.kg.names_of(entity)]
        typed = re.sub(r"['’]s?$", "", mention.text)
        folded = {fold(name): name for name in names}
        rightly = name_index(graph.kg).called(typed) if graph.linker.knows_all_names else other_names_of(typed)
        if rightly:  # *German* is right, though the country is *Germany*
            continue
        if fold(typed) in COMPARING:  # *denser* is no slip for *Denver*
            continue
        beginning, _, rest = typed.partition(" ")
        if fold(beginning) in FUNCTION_WORDS and name_index(graph.kg).called(rest):
            continue  # *was Mozart* is no slip for W. A. Mozart
        best = process.extractOne(fold(typed), list(folded), scorer=OSA.distance, score_cutoff=2)
        slips = best[1] if best else 0
        meant = entity in linked.chosen and slips and len(typed) >= _LONG_NAME * slips and not fold(typed).endswith("s")
        numbered = best and re.sub(r"\W*\d+\W*", "", best[0]) == re.sub(r"\W*\d+\W*", "", fold(typed))  # *number 1*
        if best and meant and not numbered and mention.start >= done:
            parts += [question[done : mention.start], folded[best[0]]]
            done = mention.start + len(typed)
    return "".join([*parts, question[done:]])


def _chosen_right(question: str, chosen: Sequence[str], graph: OpenedGraph) -> str:
    """The question with the mistyped names of entities that were chosen by hand as the graph spells them."""
    for entity in (one for one in chosen if kind_of(graph.kg, one) != "movement"):  # which *impressionists* are in
        named = {fold(name): name for own in graph.kg.names_of(entity) if len(name := bare(own)) >= _LONG_NAME}
        words = list(re.finditer(r"[^\W_]+", question))
        near: list[tuple[int, int, int, str]] = []  # slips, where it stands, what should
        for name in named if all(f" {name} " not in f" {fold(question)} " for name in named) else ():
            for first, last in zip(words, words[len(name.split()) - 1 :], strict=False):
                typed, most = fold(question[first.start() : last.end()]), min(2, len(name) // _LONG_NAME)
                slips = OSA.distance(typed, name, score_cutoff=most)
                owner = "'s" if typed == f"{name}s" else ""
                several = owner and question[: first.start()].lower().endswith("the ")  # *the Curies*
                if slips <= most and not several:
                    near.append((slips, first.start(), last.end(), named[name] + owner))
        if near:
            _, start, end, name = min(near)
            question = question[:start] + name + question[end:]
    return question


def _spelled(question: str, linked: EntitiesLinked, graph: OpenedGraph) -> str:
    """The question with mistyped words put right; what names an entity stays as it is."""
    mentions = graph.linker.link(question).mentions if linked.given else linked.mentions
    exact = graph.linker.knows_all_names  # else a name that is spelled rightly cannot be told
    named = [
        (m.start, m.end)
        for m in mentions
        if m.candidates[0].score >= _NAMED
        or (exact and len(m.text) > _LONG_NAME and m.text not in common_words() and name_index(graph.kg).called(m.text))
    ]
    return corrected(question, named, graph.vocabulary, graph.linker.knows, _is_meant(graph.kg))


def _is_meant(kg: KnowledgeGraph) -> Callable[[str, str], bool]:
    """Whether an English word is to stay: *arrow*, but not what is near a word of relations, *borne* for *born*.

    One that has a letter more or less than a word of questions was hardly meant as that: *bits* for *its*.

    A word of which that one is another form is typed as it is meant: *register* for *registered*, *periodic* for
    *period*.
    """
    asking = FUNCTION_WORDS.union(*(spoken(label).lower().split() for label in kg.relations))

    def is_form_of(word: str, better: str) -> bool:
        return better.startswith(word) or (word.startswith(better) and len(word) > len(better) + 1)

    return lambda word, better: (
        word in frequent_words()
        or (_is_english(word) and (better not in asking or is_form_of(word, better) or len(word) != len(better)))
    )


def _is_english(word: str) -> bool:
    """Whether a word is a common one, as the British spell it too: *flavours*."""
    spelled = {word, word.replace("our", "or"), word.replace("is", "iz"), word.replace("tre", "ter")}
    forms = [form for own in spelled for form in singulars(own)]
    return any(form in common_words() for form in forms) or any(form in english_words() for form in forms)


def _nonsense(query: Query, graph: OpenedGraph) -> list[str]:
    """The words that neither English nor the graph has, where they are half of the question: *asdf banana blorp*."""
    words = [word for word in unknown_words(query.text, graph.vocabulary) if not graph.linker.knows(fold(word))]
    strange = [word for word in words if word.lower() not in common_words()]
    return strange if len(strange) > 1 and 2 * len(strange) >= len(query.text.split()) - 1 else []


def unknown_name(text: str, graph: OpenedGraph) -> str:
    """The first word with a capital, of more than a few letters, that neither English nor the graph has; else empty.

    Args:
        text: of a question.
        graph: what it is about.
    """
    if not graph.linker.knows_all_names:
        return ""
    _, _, behind = text.partition(" ")
    strange = (word for word in unknown_words(behind, graph.vocabulary) if word[:1].isupper() and not word.isupper())
    return next(
        (
            word
            for word in strange
            if len(word) > _LONG_NAME and not graph.linker.knows(fold(word)) and not _is_english(word.lower())
        ),
        "",
    )


def _nothing_found(query: Query, linked: EntitiesLinked, graph: OpenedGraph) -> str:
    """What is said of a question without a topic entity."""
    name, noun, linker = graph.kg.name, query.plan.noun, graph.linker
    members = all_of_kind(graph.kg, noun) if noun else []
    if members:
        return (
            f"The graph {name} holds {len(members)} {noun} ({listed(members, 8)}), but nothing by which I could "
            "tell which of them are meant."
        )
    near = ", ".join(candidate.entity for candidate in linked.nearest[:5] if candidate.score >= LIKELY)
    strange = [word for word in unknown_words(query.text, graph.vocabulary) if not linker.knows(fold(word))]
    said = (
        f"The graph {name} knows nothing called {listed(strange)}"
        if strange
        else f"No entity of the graph {name} was found in the question"
    )
    if near:
        return f"{said}; the nearest names are {near}. Pick one or rephrase."
    return f"{said}; name one{'' if linker.knows_all_names else ' as the graph spells it'}, or choose another graph."
