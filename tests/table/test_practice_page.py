"""Practice in a browser: the question, an answer by click or key, the verdict, the next exercise; answers are kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import cache
from typing import Any

import aiohttp
import pytest
from attrs import define, field
from playwright.async_api import Browser, Page

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.analysis.selection import DecisionSelection
from fibsbot.practice.deck import Deck, PracticeItem, Recall
from fibsbot.practice.exercises import Exercise, ExerciseKind, exercises_of
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.table.practice_host import Answered, PracticeFeed, PracticeHost
from tests.browser import requires_chromium
from tests.formats.simulated_matches import simulate
from tests.table.test_learning_page import served

NOON = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)


@cache
def exercises() -> tuple[Exercise, ...]:
    match = simulate(5, 5, games=3, names=("anna", "bert"))
    analysis = analyse_match(match, HeuristicStrategy(), luck=False)
    return tuple(exercises_of(analysis, selection=DecisionSelection(least_loss=0.04)))


def some(kind: ExerciseKind, count: int = 1) -> list[Exercise]:
    return [exercise for exercise in exercises() if exercise.kind is kind][:count]


@define
class SavedAnswers:
    """Keeps answers in memory, or fails."""

    saved: list[tuple[PracticeItem, Answered]] = field(factory=list)
    fault: str = ""

    def save(self, item: PracticeItem, answer: Answered) -> None:
        """Keep an answer."""
        if self.fault:
            raise OSError(self.fault)
        self.saved.append((item, answer))


def practising(
    found: list[Exercise], store: SavedAnswers, feed: Callable[[PracticeFeed], None] | None = None
) -> PracticeHost:
    deck = Deck(lambda: NOON)
    deck.add(map(PracticeItem, found))
    return PracticeHost(deck, store, "heuristic", feed)


async def shown(session: aiohttp.ClientSession, address: str) -> dict[str, Any]:
    state: dict[str, Any] = await (await session.get(address + "state")).json()
    return state


async def post(session: aiohttp.ClientSession, address: str, path: str, **asked: object) -> bool:
    response = await session.post(address + path, json=asked)
    assert response.status == 200, await response.text()
    return bool((await response.json())["done"])


async def verdict_of(session: aiohttp.ClientSession, address: str) -> dict[str, Any]:
    """Return the state as soon as there is a verdict."""
    while True:
        state = await shown(session, address)
        if (state["practice"]["exercise"] or {}).get("verdict"):
            return state


async def test_the_answer_is_hidden_until_the_decision_is_made_and_kept_before_it_is_shown() -> None:
    store, (double,) = SavedAnswers(), some(ExerciseKind.OFFER)
    async with served(practising([double], store)) as address, aiohttp.ClientSession() as session:
        before = await shown(session, address)
        assert None is before["practice"]["exercise"]["verdict"]
        assert double.title == before["text"]
        assert [["roll", "No double"], ["double", "Double"]] == before["practice"]["exercise"]["choices"]
        assert not await post(session, address, "next")
        assert await post(session, address, "answer", choice=double.made)
        after = await verdict_of(session, address)
        ((item, answer),) = store.saved
        assert (double.id, double.made, Recall.AGAIN) == (item.exercise.id, answer.choice and answer.choice.text, 1)
        assert f"loses {double.loss:.3f}" in after["text"]
        first, second = after["practice"]["exercise"]["verdict"]["choices"]
        assert ([], ["yours", "in the match"]) == (first["marks"], second["marks"])
        assert not await post(session, address, "answer", choice=double.best.text)
        assert await post(session, address, "next")
        done = (await shown(session, address))["practice"]
        assert (None, 1, "tomorrow") == (done["exercise"], done["later"], done["next"])


async def test_a_play_that_is_not_among_the_best_is_valued() -> None:
    store = SavedAnswers()
    exercise = next(one for one in exercises() if len(one.state.plays) > len(one.choices) and one.state.dice)
    other = next(play for play in exercise.state.plays if exercise.choice_of(play) is None)
    async with served(practising([exercise], store)) as address, aiohttp.ClientSession() as session:
        for move in other.moves:
            assert await post(session, address, "act", action="move", numbers=[move.source, move.target])
        assert await post(session, address, "act", action="done")
        state = await verdict_of(session, address)
        (answer,) = [answer.choice for _, answer in store.saved]
        assert answer is not None
        assert answer.loss >= exercise.choices[-2].loss
        rows = state["practice"]["exercise"]["verdict"]["choices"]
        assert ["yours"] in [row["marks"] for row in rows]


async def test_an_answer_that_cannot_be_kept_is_said_and_practice_goes_on() -> None:
    (exercise,) = some(ExerciseKind.OFFER)
    async with (
        served(practising([exercise], SavedAnswers(fault="the disk is full"))) as address,
        aiohttp.ClientSession() as session,
    ):
        assert await post(session, address, "solution")
        state = await verdict_of(session, address)
        assert ["this answer is not kept: the disk is full"] == state["practice"]["faults"]
        assert f"Best is {exercise.choice_name(exercise.best.text)}." == state["text"]


async def test_exercises_come_while_matches_are_analysed_and_what_failed_is_said() -> None:
    (exercise,) = some(ExerciseKind.OFFER)

    def feed(feed: PracticeFeed) -> None:
        feed.progress("Analysing match.mat: 3 of 40 turns")
        feed.add([exercise])
        feed.fail("skipped: other.mat")

    async with served(practising([], SavedAnswers(), feed)) as address, aiohttp.ClientSession() as session:
        while not (practice := (await shown(session, address))["practice"])["faults"]:
            pass
        assert "Analysing match.mat: 3 of 40 turns" == practice["progress"]
        assert (1, ["skipped: other.mat"]) == (practice["new"], practice["faults"])
        assert practice["exercise"]


async def test_nothing_may_be_left_to_the_table_and_nonsense_is_refused() -> None:
    (play,) = some(ExerciseKind.PLAY)
    async with served(practising([play], SavedAnswers())) as address, aiohttp.ClientSession() as session:
        for preference in ("forced", "greedy", "roll"):
            assert await post(session, address, "prefer", preference=preference, wanted=True)
        for action in ("resign", "double", "take", "roll", "next"):
            assert not await post(session, address, "act", action=action)
        assert not await post(session, address, "answer", choice=play.best.text)
        assert 400 == (await session.post(address + "choose", json={"kind": "guess"})).status
        assert 404 == (await session.post(address + "learn", json={"lesson": "hint"})).status
        state = await shown(session, address)
        assert play.title == state["text"]
        assert state["moves"]


@pytest.mark.slow
@requires_chromium
@pytest.mark.asyncio(loop_scope="session")
async def test_a_person_practises_by_clicks_and_keys(browser: Browser) -> None:
    store = SavedAnswers()
    found = [*some(ExerciseKind.OFFER), *some(ExerciseKind.PLAY, 2)]
    async with served(practising(found, store)) as address:
        page = await browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        errors: list[object] = []
        page.on("pageerror", lambda error: errors.append(error))  # noqa: PLW0108 - it wants a Python function
        await page.goto(address)
        for _ in found:
            await answer_and_read(page)
            await page.keyboard.press("Space")
        await page.wait_for_selector("#practice .done:visible")
        assert "Nothing is due. The next exercise comes tomorrow." == await page.inner_text("#practice .done")
        assert {exercise.id for exercise in found} == {item.exercise.id for item, _ in store.saved}
        assert [] == errors


async def answer_and_read(page: Page) -> None:
    """Answer by a key or by clicks, and look at the verdict."""
    await page.wait_for_selector("#answers .solution:visible")
    assert await page.locator("#practice .hint").count() == 0 or not await page.is_visible("#practice .hint")
    if await page.locator("#answers [data-choice]").count():
        await page.keyboard.press("1")
    else:
        while await page.locator("[data-place].source").count():
            moved = await page.evaluate("document.documentElement.dataset.version")
            await page.locator("[data-place].source").first.click()
            await page.wait_for_function("(seen) => document.documentElement.dataset.version !== seen", arg=moved)
        await page.click("[data-action=done]")
    await page.wait_for_selector("#practice .hint:visible")
    assert await page.locator("#practice .by", has_text="yours").count() == 1
    if await page.locator("#practice .hint button").count():
        assert await page.locator("#advice .line").count()
