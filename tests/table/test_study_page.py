"""`report --serve`: from the report to the board and back, plays that are tried, positions that are pasted."""

from __future__ import annotations

from functools import partial
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser

from fibsbot.analysis.model import MatchAnalysis
from fibsbot.practice.exercises import ExerciseKind
from fibsbot.report.links import find_exercise
from fibsbot.report.page import report_page, report_policy
from fibsbot.report.timeline import match_timeline
from fibsbot.table.hosts import Document
from fibsbot.table.study_host import REPORT, StudyHost
from tests.browser import requires_chromium
from tests.report.example_matches import analysed, eventful
from tests.table.test_learning_page import served
from tests.table.test_practice_page import post, shown, verdict_of

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"


def analyses() -> list[MatchAnalysis]:
    return [analysed(eventful(names), luck=False) for names in (("alice", "bob"), ("carol", "dave"))]


def study() -> StudyHost:
    found = analyses()
    page = report_page(found, title="Matches", board="./?entry=")
    return StudyHost("heuristic", Document(page, report_policy()), partial(find_exercise, found))


def test_every_link_leads_to_its_decision_and_no_other() -> None:
    found = analyses()
    kinds = set()
    for number, analysis in enumerate(found, 1):
        timeline = match_timeline(analysis, number)
        for entry in timeline.entries:
            exercise = find_exercise(found, timeline.link(entry))
            one = entry.analysed or entry.not_doubled
            assert bool(exercise) is bool(one and (one.options or one.alternatives))
            if exercise and one:
                assert (one.decision.state, one.decision.text) == (exercise.state, exercise.made)
                kinds.add(exercise.kind)
    assert {ExerciseKind.PLAY, ExerciseKind.OFFER, ExerciseKind.ANSWER} <= kinds


@pytest.mark.parametrize(
    "link", ["", "m1", "m0g1t1", "m3g1t1", "m1g1t1x", "m1g" + "9" * 50, "m999999999g1t1", "m1g1t1\n"]
)
def test_what_is_no_link_leads_nowhere(link: str) -> None:
    assert None is find_exercise(analyses(), link)


async def test_a_pasted_position_is_analysed() -> None:
    async with served(StudyHost("heuristic")) as address, aiohttp.ClientSession() as session:
        assert await post(session, address, "position", position=OPENING)
        state = await verdict_of(session, address)
        verdict = state["practice"]["exercise"]["verdict"]
        assert ([], "", "") == (verdict["choices"][0]["marks"], verdict["next"], state["practice"]["exercise"]["about"])
        assert f"Best is {verdict['choices'][0]['text']}." == state["text"]
        assert await post(session, address, "next")
        assert "Your play with 3-1?" == (await shown(session, address))["text"]
        for source, target in ((24, 23), (23, 20)):
            assert await post(session, address, "act", action="move", numbers=[source, target])
        assert await post(session, address, "act", action="done")
        choices: list[dict[str, Any]] = (await verdict_of(session, address))["practice"]["exercise"]["verdict"][
            "choices"
        ]
        assert [["yours"]] == [choice["marks"] for choice in choices if choice["text"] == "24/20"]
        assert 404 == (await session.get(address + REPORT)).status


@pytest.mark.parametrize(
    "position",
    [
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:3:10",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:3:10",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:0:1:3:10",
    ],
)
async def test_positions_before_the_roll_and_after_a_double_are_analysed(position: str) -> None:
    async with served(StudyHost("heuristic")) as address, aiohttp.ClientSession() as session:
        assert await post(session, address, "position", position=position)
        state = await verdict_of(session, address)
        assert state["text"].startswith("Best is ")


async def test_what_is_no_position_is_said_in_a_line() -> None:
    async with served(StudyHost("heuristic")) as address, aiohttp.ClientSession() as session:
        for position in ("nonsense", "", None, [1], "x" * 5000):
            response = await session.post(address + "position", json={"position": position})
            assert 400 == response.status
            text = await response.text()
            assert text.startswith("expected ")
            assert 1 == len(text.splitlines())
        assert not await post(session, address, "open", entry="m1g1t1")


@pytest.mark.slow
@requires_chromium
@pytest.mark.asyncio(loop_scope="session")
async def test_from_the_report_to_the_board_and_back(browser: Browser) -> None:
    async with served(study()) as address:
        page = await browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        await page.goto(f"{address}{REPORT}#m2g2t2")
        await page.click(".try")
        await page.wait_for_selector("[data-place].source")
        assert await page.is_visible("#practice .paste")
        while await page.locator("[data-place].source").count():
            moved = await page.evaluate("document.documentElement.dataset.version")
            await page.locator("[data-place].source").first.click()
            await page.wait_for_function("(seen) => document.documentElement.dataset.version !== seen", arg=moved)
        await page.click("[data-action=done]")
        await page.wait_for_selector("#practice .by:has-text('yours')")
        await page.fill("#practice-position", OPENING)
        await page.keyboard.press("Enter")
        await page.wait_for_function("() => document.querySelector('#text').textContent.startsWith('Best is')")
        await page.get_by_role("link", name="The report").click()
        await page.wait_for_selector("html.scripted")
        assert [] == said
