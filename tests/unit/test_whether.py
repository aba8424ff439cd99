"""Yes/no questions about orders, measures and dates: turned round, answered, and held against what they claim."""

from __future__ import annotations

import pytest

from kgdemo.events import AnswerFinal, Operation
from kgdemo.pipeline import Pipeline
from kgdemo.query.claimed import kin_claimed, number_claimed, turned_round
from kgdemo.query.form import plan_of
from kgdemo.query.query import Form
from kgdemo.settings import Settings

ASKED = Settings(compare=False, explain=0)  # the answer alone


@pytest.mark.parametrize(
    ("question", "turned"),
    [
        (
            "is Mercury closer to the Sun than Venus",
            ("which is closer to the Sun, Mercury or Venus", "Mercury"),
        ),
        ("is Edinburgh north of London", ("which is further north, Edinburgh or London", "Edinburgh")),
        ("was Nixon president before JFK", ("who was president first, Nixon or JFK", "Nixon")),
        ("did Mary I become queen after Elizabeth I", ("who was queen last, Mary I or Elizabeth I", "Mary I")),
        ("is the blue whale the largest animal", ("what is the largest animal", "the blue whale")),
        ("was Adams the second president of the USA", ("who was the second president of the USA", "Adams")),
        ("has Italy won the World Cup more often than Spain", ("who has won more World Cups, Italy or Spain", "Italy")),
        ("has Italy won more World Cups than Spain", ("who has won more World Cups, Italy or Spain", "Italy")),
        ("is Everest taller than 8000 metres", ("what is the height of Everest", "> 8000 metres")),
        ("is the river under 500 km long", ("what is the length of the river", "< 500 km")),
        (
            "does France have more than 60 million people",
            ("what is the population of France", "> 60000000 people"),
        ),
        ("did the Titanic sink in 1912", ("when did the Titanic sink", "= 1912")),
        ("was Mozart born before 1750", ("when was Mozart born", "< 1750")),
        ("did Germany win the World Cup in 2014", ("who won the World Cup in 2014", "Germany")),
        ("is there a country bigger than Russia", ("which countries are bigger than Russia", "*")),
        ("did Newton ever marry", ("who was the spouse of Newton", "*")),
        ("is Paris in France", ("", "")),
        ("is K2 or Everest the highest mountain", ("", "")),
        ("was it Sax who invented the saxophone", ("who invented the saxophone", "Sax")),
        ("is there a planet with rings", ("which planets have rings", "* planet")),
        ("does Tokyo have more people than Delhi", ("", "")),  # two values are compared as they stand
    ],
)
def test_what_a_question_claims_is_the_answer_of_another(question: str, turned: tuple[str, str]) -> None:
    assert turned_round(question) == turned


def test_a_claim_is_a_yes_no_question_whatever_else_its_words_fit() -> None:
    plan = plan_of("Is Mount Everest taller than 8000 metres?")
    assert plan.form is Form.YES_NO
    assert plan.claimed == "> 8000 metres"


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        ("Is Mercury closer to the Sun than Venus?", "Yes", "57.9"),
        ("Is Jupiter farther from the Sun than Saturn?", "No", "Saturn"),
        ("Was Nixon president before JFK?", "No", "1961"),
        ("Is Mount Everest over 9000 m high?", "No", "8,849"),
        ("Is the Nile longer than 6000 km?", "Yes", "6,650"),
        ("Did the Titanic sink in 1912?", "Yes", "15 April 1912"),
        ("Was Mozart born in 1760?", "No", "1756"),
        ("Did Germany win the World Cup in 2018?", "No", "France"),
        ("Did France host the Olympics in 1924?", "Yes", "Paris"),
        ("Is there a country bigger than Russia?", "No", "as far as the graph says"),
        ("Was Queen Victoria married?", "Yes", "Albert"),
        ("Was Thomas Jefferson the third president of the United States?", "Yes", "Third president"),
        ("Has Germany won more World Cups than Brazil?", "No", "5 World Cups"),
        ("Is bronze an alloy of copper and zinc?", "No", "Tin"),
        ("Is bronze an alloy of copper and tin?", "Yes", "Tin"),
        ("Did Marie Curie win the Nobel Prize twice?", "Yes", "2"),
        ("Can bats fly?", "Yes", "flying animal"),
        ("can penguins fly", "No", "flightless bird"),
        ("The sun, is it a star?", "Yes", "star"),
        ("Was Chopin born in Poland?", "Yes", "born in -> Żelazowa Wola -> located in -> Poland"),
        ("Was Chopin born in France?", "No", "Żelazowa Wola"),  # though he was a citizen of both
        ("did Karl Marx die in Germany", "No", "London"),
        ("Is Quito north of the equator?", "No", "-0.18 degrees"),
        ("does the equator go through Kenya", "Yes", "crossed by"),
        ("was Guernica painted before the Second World War broke out", "Yes", "1 September 1939"),
        ("do people drive on the right in Japan", "No", "left side of the road"),
        ("do they drive on the left in Japan", "Yes", "left side of the road"),
        ("do snakes have legs", "No", "0 legs"),
        ("Is mercury a liquid at room temperature?", "Yes", "liquid at room temperature"),
        ("are the Beatles older than the Rolling Stones", "Yes", "1960"),
        ("are there more people in China than in India", "No", "1,430,000,000"),
        ("did Germany win the first World Cup", "No", "Uruguay"),
        ("Is the Mona Lisa in the Louvre?", "Yes", "housed in -> Louvre"),
        ("Is the Mona Lisa in Paris?", "Yes", "Louvre -> located in -> Paris"),
        ("Is the Mona Lisa in the Prado?", "No", "housed in Louvre"),
        ("Is Lego a Swedish company?", "No", "Denmark"),
        ("Is Ikea a Swedish company?", "Yes", "Swed"),
        ("Is Sydney the capital of Australia?", "No", "Canberra"),
        ("Is Macbeth a play by Shakespeare?", "Yes", "William Shakespeare"),
        ("did canada fight in the second world war", "Yes", "World War II"),
        ("Did Marie Curie win more than one Nobel Prize?", "Yes", "2"),
        ("Does Mars have at least three moons?", "No", "2"),
        ("Does a piano have fewer than eighty keys?", "No", "88"),
        ("Was Robert Burns Scottish?", "Yes", "Alloway -> located in -> Scotland"),
        ("Was Vasco da Gama a Spanish explorer?", "No", "citizen of -> Portugal"),
        ("Was Napoleon an Englishman?", "No", "citizen of -> France"),
        ("Is the Golden Temple of the Sikhs in Delhi?", "No", "Amritsar"),
        ("Was Thor a son of Odin?", "Yes", "child of -> Odin"),
        ("Was Joseph Bonaparte the sister of Napoleon?", "No", "gender -> man"),
        ("Was Prince Albert Queen Victoria's husband?", "Yes", "spouse"),
        ("Was Anne Hathaway the wife of William Shakespeare?", "Yes", "spouse"),
        ("Was Leopold Mozart the son of Wolfgang Amadeus Mozart?", "No", "the other way round"),
        ("Is Canada larger in area than the United States?", "Yes", "9,985,000"),
        ("Did the Titanic sink before the First World War broke out?", "Yes", "1912"),
        ("Did Mrs Thatcher serve as Prime Minister before James Callaghan?", "No", "1976"),
        ("Has there ever been a Polish pope?", "Yes", "John Paul II"),
        ("Are there penguins in Africa?", "Yes", "African penguin"),
        ("Was Sherlock Holmes a real person?", "No", "created by"),
        ("Was Napoleon a fictional character?", "No", "born"),
        ("Was Napoleon Bonaparte ever in Egypt?", "Yes", "Battle of the Pyramids"),
        ("Was it Mozart who composed the Moonlight Sonata?", "No", "Beethoven"),
    ],
)
def test_the_answer_is_held_against_the_claim(pipeline: Pipeline, question: str, answer: str, says: str) -> None:
    events = list(pipeline.run(question, ASKED))
    final = next(event for event in events if isinstance(event, AnswerFinal))
    assert final.answers == (answer,)
    assert says in final.text
    operations = [event for event in events if isinstance(event, Operation)]
    assert operations
    assert all(operation.verified for operation in operations)


@pytest.mark.parametrize(
    "question",
    [
        "Was Immanuel Kant Russian?",  # Königsberg is in Russia today
        "Was Joseph Conrad Polish?",  # whose birthplace and whose citizenship are two others
        "Was Mozart a German composer?",  # Austria and Germany have one language
        "Did Ernest Hemingway win the Nobel Prize more than once?",  # the graph need not hold all
        "Was King Arthur a real person?",
        "Was Macbeth a real person?",
        "Was Winston Churchill ever in India?",
        "Are there lions in Australia?",
        "Are rabbits native to Australia?",
    ],
)
def test_what_the_graph_leaves_open_is_refused(pipeline: Pipeline, question: str) -> None:
    final = [event for event in pipeline.run(question, ASKED) if isinstance(event, AnswerFinal)][-1]
    assert final.refusal
    assert not final.answers


@pytest.mark.parametrize(
    ("question", "claim"),
    [
        ("Does an octopus have more than one heart", (">", 1, "heart")),
        ("Has he won at least 12 Oscars", (">=", 12, "Oscars")),
        ("Does a spider have only six legs", ("=", 6, "legs")),
        ("Did she win the Nobel Prize more than twice", (">", 2, "Nobel Prize")),
        ("Is Paris in France", None),
    ],
)
def test_the_number_claimed_is_read_with_its_degree(question: str, claim: tuple[str, int, str] | None) -> None:
    assert number_claimed(question) == claim


def test_of_a_name_before_a_possessive_every_parting_is_read() -> None:
    assert kin_claimed("Was Thor a son of Odin") == [("Thor", "son", "Odin")]
    assert ("Prince Albert", "husband", "Queen Victoria") in kin_claimed("Was Prince Albert Queen Victoria's husband")


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which countries are bigger than Canada?", {"Russia"}),
        ("How many mountains are higher than K2?", {"1"}),
        ("Which rivers are longer than the Rhine but lie in Europe?", {"Danube", "Volga"}),
        ("Which mountains over 8000 metres lie in Pakistan?", {"K2", "Nanga Parbat"}),
        ("Which novels by Charles Dickens were published after 1850?", {"Bleak House", "Little Dorrit"}),
        ("Which Greek gods are children of Zeus and Hera?", {"Ares", "Hephaestus"}),
        ("Which Shakespeare plays are set in Italy?", {"Romeo and Juliet", "Othello"}),
        ("Which women won the Nobel Prize in Chemistry?", {"Marie Curie", "Dorothy Hodgkin"}),
        ("which element is named after Marie and Pierre Curie", {"Curium"}),
        ("Which mammals can fly?", {"bat", "common vampire bat"}),
        ("sons and daughters of Loki", {"Fenrir", "Hel (goddess)"}),
        ("Which neighbours of Kenya are landlocked?", {"Ethiopia", "Uganda", "South Sudan"}),
        ("which countries have won the men's football world cup exactly two times", {"Uruguay", "France"}),
        ("What is Thor's hammer called?", {"Mjölnir"}),
        ("what is the name of King Arthur's sword", {"Excalibur"}),
        ("The most deep lake of the world, how is it called?", {"Lake Baikal"}),
        ("Which river is more long, the Danube or the Rhine?", {"Danube"}),
        ("Which battle was fought first, Agincourt or Hastings?", {"Battle of Hastings"}),
        ("who has won the european cup / champions league more times, ac milan or bayern munich", {"AC Milan"}),
        ("which planets are nearer to the sun than earth", {"Mercury (planet)", "Venus (planet)"}),
        ("which planet is number seven from the sun", {"Uranus (planet)"}),
        ("who was US president on November 22, 1963", {"John F. Kennedy", "Lyndon B. Johnson"}),
        ("How high is a basketball hoop in feet?", {"10 feet"}),
        ("which year did London host the Olympics", {"1908", "1948", "2012"}),
        ("which side of the road do they drive on in Japan", {"left side of the road"}),
        ("How many months does the pregnancy of an elephant last?", {"22 months"}),
        ("What do the angles of a triangle add up to in degrees?", {"180 degrees"}),
        ("how fast can a cheetah run in km per hour", {"110 km/h"}),
        ("In what year finished the Spanish Civil War?", {"1 April 1939"}),
        ("what year did ford start making the model t", {"1908"}),
        ("who was king of England when Shakespeare died", {"James VI and I"}),
        ("who sang yesterday", {"The Beatles"}),
        ("capital of the country that mines the most copper", {"Santiago"}),
        ("Who won the very first Nobel Prize in Physics?", {"Wilhelm Röntgen"}),
        ("what is the capital of the country where Lego comes from", {"Copenhagen"}),
        ("which country that borders Switzerland has no coast", {"Austria", "Liechtenstein"}),
        ("Which countries share a land border with both Sweden and Russia?", {"Norway", "Finland"}),
        ("into wpich sea does the rhine flow", {"North Sea"}),
        ("countries along the nanube", {"Austria", "Serbia"}),
        ("Which ship was launched earlier, the Lusitania or the Titanic?", {"RMS Lusitania"}),
        ("who won the wimbledon men's singles in 2001", {"Goran Ivanišević"}),
        ("Who played Rick in Casablanca?", {"Humphrey Bogart"}),
        ("which cities in Italy have hosted the Olympics", {"Rome", "Turin", "Cortina d'Ampezzo"}),
        ("how many electrons does a neutral carbon atom have", {"6"}),
        ("in what year did the films directed by Stanley Kubrick come out", {"1968", "1971", "1980"}),
        ("In what year did On the Origin of Species first appear?", {"1859"}),
        ("In what year did Charles Darwin publish On the Origin of Species?", {"1859"}),
        ("What year did Marie Curie win the Nobel Prize for Chemistry?", {"1911"}),
        ("Which element comes directly after oxygen in the periodic table?", {"Fluorine"}),
        ("In the Bible, which book comes before Exodus?", {"Book of Genesis"}),
        ("Who was the elder, Charlotte or Emily Brontë?", {"Charlotte Brontë"}),
        ("How many US states have a coast on the Pacific Ocean?", {"5"}),
        ("In which country was the actor who played Maximus in Gladiator born?", {"New Zealand"}),
        ("On which island did the French emperor who lost the Battle of Waterloo die?", {"Saint Helena"}),
        ("what is the lightest of all the elements", {"Hydrogen"}),
        ("Can you give me the names of all six wives of Henry VIII?", {"Anne Boleyn", "Catherine Parr"}),
        ("How many lines should a limerick have?", {"5"}),
        ("what does forte mean in music", {"loud"}),
        ("Name Canada's three territories.", {"Yukon", "Nunavut", "Northwest Territories"}),
        ("name the five great lakes please", {"Lake Superior", "Lake Erie"}),
        ("Which prime ministers of Canada were born in Scotland?", {"John A. Macdonald"}),
        ("Please tell me who the first woman in space was.", {"Valentina Tereshkova"}),
        ("In which city was the wife of King Louis XVI of France born?", {"Vienna"}),
        ("When were the Olympic Games held in Montreal?", {"1976"}),
        ("After Russia, what's the next biggest country by area?", {"Canada"}),
        ("Which city hosted the Summer Olympics directly after Beijing 2008?", {"London"}),
        ("which year did india win its first cricket world cup", {"1983"}),
        ("Are there mammals that lay eggs? Which ones?", {"platypus"}),
        ("In The Lion King, what does 'Hakuna Matata' mean?", {"no worries"}),
        ("What is the meaning of carpe diem?", {"“Seize the day”"}),
        ("How long ago did the dinosaurs die out?", {"66 million years ago"}),
        ("Which Irish physicist won the Nobel Prize in 1951?", {"Ernest Walton"}),
        ("How many times has Ireland won the Eurovision Song Contest?", {"7"}),
        ("How deep is the Mariana Trench at its deepest point?", {"10,935 m"}),
        ("whats a baby hare called again? its gone clean out of my head", {"leveret"}),
    ],
)
def test_what_lies_came_or_is_beyond_something_else_is_found(
    pipeline: Pipeline, question: str, answers: set[str]
) -> None:
    final = [event for event in pipeline.run(question, ASKED) if isinstance(event, AnswerFinal)][-1]
    assert answers <= set(final.answers)
    assert not {"Mount Everest", "David Copperfield (novel)", "Cronus", "Brazil", "Soviet Union", "Fraser River"} & set(
        final.answers
    )


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Who was king of the United States in 1850?", "no such office"),
        ("write me a short poem about the river Vistula", "written"),
        ("how many naira is one us dollar right now", "from day to day"),
        ("Which is the largest moon of Venus?", "states none for Venus"),
        ("did Shakespeare write Hamlet before 1600", "does not say when"),
        ("is tomato soup red", "does not decide this"),
        ("Is Vladivostok in Europe?", ""),  # though its country is
        ("who is the mother of the queen shown on the Penny Black", ""),  # she is no other queen
        ("Which joined the European Union first, Poland or Bulgaria?", "neither of them"),
        ("Do mature human red blood cells contain a nucleus?", "I found 1"),  # that blood has such cells says nothing
    ],
)
def test_what_nobody_can_say_is_refused_with_its_reason(pipeline: Pipeline, question: str, reason: str) -> None:
    final = [event for event in pipeline.run(question, ASKED) if isinstance(event, AnswerFinal)][-1]
    assert not final.answers
    assert reason in final.refusal


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which Thor movies did Taika Waititi direct?", {"Thor: Ragnarok", "Thor: Love and Thunder"}),
        ("Who became US president straight after Abraham Lincoln?", {"Andrew Johnson"}),
        ("Which countries in South America have no coast?", {"Bolivia", "Paraguay"}),
        (
            "Which planets are nearer to the Sun than the Earth and have no moon?",
            {"Mercury (planet)", "Venus (planet)"},
        ),
        ("Which rivers are longer than the Rhine and flow through Germany?", {"Danube"}),
        ("What animals lay eggs and are mammals and live in Australia?", {"platypus", "short-beaked echidna"}),
        (
            "Which presidents of the USA were assassinated while in office?",
            {"Abraham Lincoln", "James A. Garfield", "William McKinley", "John F. Kennedy"},
        ),
    ],
)
def test_no_more_than_what_fits_is_the_answer(pipeline: Pipeline, question: str, answers: set[str]) -> None:
    final = [event for event in pipeline.run(question, ASKED) if isinstance(event, AnswerFinal)][-1]
    assert set(final.answers) == answers


@pytest.mark.parametrize(
    "question",
    [
        "Did women in New Zealand get the vote before women in Switzerland?",  # a seat of government says nothing of it
        "Which countries are larger than France and border Germany?",  # there is none
        "how old is our geography teacher mrs thompson",
        "How long did Nelson Mandela have to spend in prison?",  # his years in office were others
        "Who took over as US president when Abraham Lincoln was shot?",
        "Did Brian Boru survive the Battle of Clontarf?",  # who commanded there may have fallen
        "Which planet in our solar system is smaller than the Earth and has at least one moon?",  # not the Moon
    ],
)
def test_what_says_something_else_is_no_answer(pipeline: Pipeline, question: str) -> None:
    final = [event for event in pipeline.run(question, ASKED) if isinstance(event, AnswerFinal)][-1]
    assert final.refusal or final.answers == ("Mars (planet)",)
