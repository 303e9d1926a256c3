"""The page in a real Chromium, from disk: keyboard, mouse and touch, links, copying, narrow and dark screens."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from fibsbot.analysis.selection import DecisionSelection
from fibsbot.report.page import report_page
from fibsbot.report.timeline import match_timeline
from tests.browser import chromium, requires_chromium
from tests.report.example_matches import analysed, ending_in_a_gap, eventful

pytestmark = [requires_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
PHONE: Final = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
HOSTILE: Final = ("</script><script>document.title='taken'</script>", "<img src=x onerror=\"document.title='taken'\">")
NAMES: Final = ("alice", "bob")
Write = Callable[..., str]
Open = Callable[..., AbstractAsyncContextManager[Page]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Return a function that writes a page about matches of some players, once, and returns its address."""
    folder = tmp_path_factory.mktemp("pages")
    numbers = itertools.count(1)

    @functools.cache
    def write(*players: tuple[str, str]) -> str:
        path = folder / f"report{next(numbers)}.html"
        path.write_text(report_page([analysed(eventful(it)) for it in players or (NAMES,)], title="Matches"), "utf-8")
        return path.as_uri()

    return write


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[Open]:
    """Start one browser; return a function that opens a page and checks its requests and log.

    Pages with the same options share a context, whose making costs more than a page.
    """
    contexts: dict[str, BrowserContext] = {}

    @asynccontextmanager
    async def opening(address: str, **options: Any) -> AsyncIterator[Page]:
        said: list[str] = []
        asked: list[str] = []
        context = contexts.get(repr(options)) or await browser.new_context(**options)
        contexts[repr(options)] = context
        page = await context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(address)
        try:
            yield page
        finally:
            await page.close()
        assert [] == said
        own = address.partition("#")[0]
        assert set() == {it.partition("#")[0] for it in asked if not it.startswith("data:")} - {own}

    async with chromium() as browser:
        yield opening


async def current(page: Page) -> str:
    """Return the link of the current entry."""
    return await page.locator("[aria-current]").get_attribute("id") or ""


async def press(page: Page, *keys: str) -> str:
    """Press keys, and return the link of the current entry."""
    for key in keys:
        await page.keyboard.press(key)
    return await current(page)


async def fits(page: Page) -> bool:
    """Whether the page needs no horizontal scrolling."""
    return bool(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


async def test_keys_step_through_the_match(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        assert "m1g1t1" == await current(page)
        assert "m1g1t1" == await press(page, "ArrowLeft")
        assert "m1g1t2" == await press(page, "ArrowRight")
        assert "m1g1t3" == await press(page, "j", "j")
        assert "m1g1t3n" == await press(page, "k")
        assert "m1g2t1" == await press(page, "g")
        assert "m1g2t2" == await press(page, "n")
        assert "m1g1t4a" == await press(page, "p")
        assert "m1g3t7" == await press(page, "g", "g", "g")
        assert "m1g2t1" == await press(page, "G")
        await expect(page.locator(".headline")).to_have_text("alice 65: 24/13")
        assert 0 < await page.locator(".board svg circle").count()


async def test_arrows_up_and_down_belong_to_the_score_sheet_alone(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        assert "m1g1t1" == await press(page, "ArrowDown")
        await page.locator("#m1g1t2").click()
        assert "m1g1t3n" == await press(page, "ArrowDown")
        assert "m1g3t7" == await press(page, "End")
        assert "m1g3t7" == await page.evaluate("document.activeElement.id")


async def test_board_verdict_and_buttons_fit_the_screen(opened: Open, written: Write) -> None:
    async with opened(f"{written()}", viewport={"width": 1366, "height": 768}) as page:
        await page.keyboard.press("n")
        assert 0 == await page.evaluate("scrollY")
        for part in (".headline", ".verdict", ".board svg", ".buttons", ".plays tbody tr"):
            box = await page.locator(part).first.bounding_box()
            assert box
            assert box["height"] > 0
            assert box["y"] + box["height"] <= 768, part


async def test_the_filter_shows_only_errors_of_a_player(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        choice = page.locator("select.filter")
        assert ["all decisions", "only errors", "only my errors", "only errors of alice"] == await choice.locator(
            "option"
        ).all_inner_texts()
        await choice.select_option("only my errors")
        shown = await page.locator(".entry:visible").evaluate_all("links => links.map((link) => link.id)")
        entries = await page.evaluate("JSON.parse(document.querySelector('#m1-data').textContent).entries")
        mine = [f"m1{entry['key']}" for entry in entries if entry.get("grade") and entry["seat"] == 1]
        assert mine == shown
        assert 0 < len(mine) < len(entries)
        await page.locator("h1").click()
        assert mine[1] == await press(page, *["ArrowRight"] * (1 if mine[0] == await current(page) else 2))


async def numbers(page: Page) -> list[str]:
    """Return the numbers of the points as they are read from left to right, the upper ones first."""
    found: list[str] = await page.locator(".board .fb-on-frame text").evaluate_all(
        "all => all.map((one) => [one.getBoundingClientRect(), one.textContent])"
        ".sort(([a], [b]) => Math.round(a.y - b.y) || a.x - b.x).map(([, text]) => text)"
    )
    return found


async def test_a_board_is_flipped_and_numbered_by_choice(opened: Open, written: Write) -> None:
    upper, lower = [str(point) for point in range(13, 25)], [str(point) for point in range(12, 0, -1)]
    async with opened(written()) as page:
        await press(page, "g", "n")
        assert [*upper, *lower] == await numbers(page)
        await press(page, "f")
        assert [*lower, *upper] == await numbers(page)
        await page.reload()
        assert [*lower, *upper] == await numbers(page), "the browser remembers it"
        await page.get_by_role("button", name="Flip").click()
        assert [*upper, *lower] == await numbers(page)
        await page.locator(".mover").check()
        seen = set()
        for _ in range(3):
            entry = (await current(page)).removeprefix("m1")
            entries = await page.evaluate("JSON.parse(document.querySelector('#m1-data').textContent).entries")
            is_other = next(bool(one.get("other")) for one in entries if one["key"] == entry)
            seen.add(is_other)
            assert ([*lower, *upper] if is_other else [*upper, *lower]) == await numbers(page)
            await press(page, "j")
        assert {True, False} == seen
        await press(page, "m")
        assert [*upper, *lower] == await numbers(page)


async def test_only_selected_errors_are_visited_and_practised(opened: Open, tmp_path: Path) -> None:
    analysis, selection = analysed(eventful()), DecisionSelection("alice", least_loss=0.001)
    wanted = [f"m1{entry.key}" for entry in match_timeline(analysis, selection=selection).errors]
    assert len(wanted) > 2
    path = tmp_path / "alice.html"
    path.write_text(report_page([analysis], title="alice", selection=selection), "utf-8")
    async with opened(path.as_uri()) as page:
        assert wanted == [await press(page, "n") for _ in wanted]
        assert wanted[-1] == await press(page, "n")
        await page.keyboard.press("q")
        assert "only selected errors" == await page.locator("select.filter option:checked").inner_text()
        shown = await page.locator(".entry:not([hidden])").evaluate_all("links => links.map((link) => link.id)")
        assert wanted == shown


async def test_errors_are_practised_with_the_answer_hidden(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        entries = await page.evaluate("JSON.parse(document.querySelector('#m1-data').textContent).entries")
        mine = [entry for entry in entries if entry.get("grade") and entry["seat"] == 1]
        await page.keyboard.press("q")
        for place, entry in enumerate(mine):
            assert f"m1{entry['key']}" == await current(page)
            await expect(page.locator(".headline")).to_have_text(entry["question"])
            await expect(page.locator(".verdict")).to_have_text("")
            await expect(page.locator(".details")).to_be_hidden()
            await expect(page.locator(".sheet").first).to_be_hidden()
            assert 0 == await page.locator(".board .fb-arrow").count()
            await page.get_by_role("button", name="Show the answer").click()
            await expect(page.locator(".headline")).to_have_text(entry["headline"])
            await expect(page.locator(".details")).to_be_visible()
            last = place == len(mine) - 1
            await expect(page.locator(".answer")).to_have_text("That was the last error" if last else "Next error")
            await page.locator("h1").click()
            await page.keyboard.press("Space")
        await page.keyboard.press("q")
        await expect(page.locator(".sheet").first).to_be_visible()
        await expect(page.locator(".answer")).to_be_hidden()


async def test_columns_have_heads_on_a_telephone(opened: Open, written: Write) -> None:
    async with opened(written(), **PHONE) as page:
        await page.keyboard.press("n")
        heads = page.locator(".plays thead th")
        assert [True] * 10 == [await head.is_visible() for head in await heads.all()]
        cells = page.locator(".plays tbody tr").first.locator("th, td")
        for head, cell in zip(await heads.all(), await cells.all(), strict=True):
            above, below = await head.bounding_box(), await cell.bounding_box()
            assert above
            assert below
            assert abs(above["x"] - below["x"]) < 1


async def test_the_match_can_be_downloaded(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        async with page.expect_download() as download:
            await page.get_by_role("link", name=".mat").click()
        assert "alice-bob.mat" == (await download.value).suggested_filename


async def test_help_opens_and_closes(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        assert "m1g1t1" == await press(page, "j")
        await page.get_by_role("button", name="Close").click()
        await expect(page.get_by_role("dialog")).to_be_hidden()
        assert "m1g1t2" == await press(page, "j")


async def test_links_open_a_turn_and_survive_a_reload(opened: Open, written: Write) -> None:
    address = written(NAMES, ("carol", "dave"))
    async with opened(f"{address}#m2g2t2") as page:
        await expect(page.locator(".headline")).to_have_text("dave 44: 24/20(2) 13/9(2)")
        await page.keyboard.press("k")
        await expect(page).to_have_url(f"{address}#m2g2t2a")
        await page.reload()
        await expect(page.locator(".headline")).to_have_text("carol takes")
        await expect(page.locator("#m1")).to_be_hidden()
        await page.evaluate("location.hash = '#m1g1'")
        await expect(page.locator(".headline")).to_have_text("bob 31: 8/5 6/5")


async def test_several_matches_have_an_index(opened: Open, written: Write) -> None:
    async with opened(written(NAMES, ("carol", "dave"))) as page:
        await expect(page.locator("section.match:visible")).to_have_count(0)
        await page.get_by_role("link", name="carol \N{EN DASH} dave", exact=True).click()
        await expect(page.locator("section.match:visible")).to_have_count(1)
        await expect(page.locator("#m2-title")).to_be_visible()
        assert "m2g1t1" == await current(page)


async def test_mouse_graph_and_touch_step_through_the_match(opened: Open, written: Write) -> None:
    async with opened(written(), **PHONE) as page:
        await page.get_by_role("button", name="Forward (").click()
        assert "m1g1t2" == await current(page)
        await page.locator("#m1g2t1").click()
        assert "m1g2t1" == await current(page)
        await swipe(page, 300, 100)
        assert "m1g2t2d" == await current(page)
        await swipe(page, 100, 300)
        assert "m1g2t1" == await current(page)
        plot = page.locator(".plot:visible")
        box = await plot.bounding_box()
        assert box
        await plot.click(position={"x": box["width"] - 3, "y": box["height"] / 2})
        assert "m1g3t7" == await current(page)
        await page.locator(".cards a").first.click()
        assert "m1g1t4r" == await current(page)


async def swipe(page: Page, start: int, end: int) -> None:
    """Swipe over the board."""
    await page.evaluate(
        """([start, end]) => {
            const board = document.querySelector(".board");
            const finger = (x) => new Touch({ identifier: 1, target: board, clientX: x, clientY: 200 });
            const touch = (kind, at, touches) => board.dispatchEvent(
                new TouchEvent(kind, { changedTouches: [finger(at)], touches, bubbles: true })
            );
            touch("touchstart", start, [finger(start)]);
            touch("touchend", end, []);
        }""",
        [start, end],
    )


async def test_the_best_play_is_shown_on_demand(opened: Open, written: Write) -> None:
    async with opened(f"{written()}#m1g1t1") as page:
        board = page.locator(".board")
        made = await board.inner_html()
        await page.keyboard.press("b")
        await expect(page.get_by_role("button", name="best")).to_have_attribute("aria-pressed", "true")
        assert made != await board.inner_html()
        await page.get_by_role("button", name="best").click()
        assert made == await board.inner_html()


async def test_an_id_is_copied(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.get_by_role("button", name="Copy the XGID").click()
        await expect(page.get_by_role("button", name="Copy the XGID")).to_have_text("Copied")
        shown = await page.locator(".ids code").first.inner_text()
        assert shown.startswith("XGID=-b----E-C---eE---c-e----B-:")
        assert shown == await page.evaluate("navigator.clipboard.readText()")


async def test_an_id_is_copied_without_clipboard_access(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        await page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('closed')); }")
        await page.get_by_role("button", name="Copy the GNUbg ID").click()
        await expect(page.get_by_role("button", name="Copy the GNUbg ID")).to_have_text("Copied")


@pytest.mark.parametrize("names", [NAMES, ("x" * 60, "W" * 60)])
async def test_a_phone_never_scrolls_sideways(opened: Open, written: Write, names: tuple[str, str]) -> None:
    async with opened(written(names), **PHONE) as page:
        assert await fits(page)
        await page.keyboard.press("n")
        assert await fits(page)
    async with opened(written(names, names), **PHONE) as page:
        assert await fits(page)


async def test_light_and_dark_follow_the_preference(opened: Open, written: Write) -> None:
    address = written()
    look = """() => [
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector(".board .fb-field")).fill,
    ]"""
    seen = {}
    for scheme in ("light", "dark"):
        async with opened(address, color_scheme=scheme) as page:
            seen[scheme] = [sum(map(int, re.findall(r"\d+", it)[:3])) for it in await page.evaluate(look)]
    assert all(light > dark + 300 for light, dark in zip(seen["light"], seen["dark"], strict=True)), seen


async def test_without_javascript_score_sheet_and_statistics_are_shown(opened: Open, written: Write) -> None:
    async with opened(written(NAMES, NAMES), java_script_enabled=False) as page:
        await expect(page.locator("noscript p")).to_be_visible()
        await expect(page.locator("section.match")).to_have_count(2)
        await expect(page.locator("#m2g2t2")).to_be_visible()
        await expect(page.get_by_text("Performance rating (PR)").last).to_be_visible()


async def test_hostile_names_have_no_effect(opened: Open, written: Write) -> None:
    async with opened(written(HOSTILE)) as page:
        assert await page.title() == "Matches"
        for _ in range(18):
            await page.keyboard.press("j")
        assert await page.title() == "Matches"
        assert 0 == await page.locator("img").count()


async def test_the_score_sheet_is_a_single_tab_stop(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        assert 1 == await page.locator('.sheet a[tabindex="0"]').count()
        await page.locator("#m1g1t1").focus()
        await page.keyboard.press("Tab")
        assert await page.evaluate("!document.activeElement.closest('.sheet')")


async def test_a_printed_page_has_no_buttons_but_the_boards_of_errors(opened: Open, written: Write) -> None:
    async with opened(written()) as page:
        await page.emulate_media(media="print")
        await expect(page.locator(".board-box")).to_be_hidden()
        await expect(page.locator(".thumb svg").first).to_be_visible()
        await expect(page.locator("#m1g3t7")).to_be_visible()


@pytest.mark.parametrize("width", [360, 1366])
async def test_an_entry_outside_of_the_graph_does_not_widen_the_page(opened: Open, tmp_path: Path, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_text(report_page([analysed(ending_in_a_gap())], title="A gap"), "utf-8")
    async with opened(path.as_uri(), viewport={"width": width, "height": 768}) as page:
        cursor = page.locator(".plot:visible .cursor")
        await expect(cursor).to_be_visible()
        await page.locator(".sheet").focus()
        await page.keyboard.press("End")
        await expect(page.locator(".headline")).to_contain_text("5 turns are missing")
        await expect(cursor).to_be_hidden()
        assert await fits(page)
