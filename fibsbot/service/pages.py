"""Pages of running bots: HTML with its style and script in it, made of files, and the headers that protect them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from attrs import frozen

from fibsbot.drawing.themes import stylesheet
from fibsbot.web.content_policy import own_policy
from fibsbot.web.request_guards import PRIVATE_HEADERS


@frozen
class ServicePage:
    """A page."""

    html: str
    headers: Mapping[str, str]
    """Of the page and all that it asks for."""


def service_page(name: str) -> ServicePage:
    """Return the page of this name, from the files of its package with what all pages share before each."""
    style = f"{stylesheet()}{_asset('page.css')}{_asset(f'{name}.css', name)}"
    script = f"{_asset('page.js')}{_asset(f'{name}.js', name)}"
    html = _asset(f"{name}.html", name).replace("/* style */", style).replace("/* script */", script)
    return ServicePage(html, {"Content-Security-Policy": own_policy(script, style), **PRIVATE_HEADERS})


def _asset(file: str, package: str = "") -> str:
    return (resources.files("fibsbot.service") / package / "assets" / file).read_text(encoding="utf-8")
