"""`fibsbot check-config`: what is wrong with a file of settings, and what it will do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from fibsbot.bot.settings import AgentSettings
from fibsbot.cli import ConfigError
from fibsbot.config.checking import Checked, check
from fibsbot.config.doubting import doubts
from fibsbot.config.problems import told
from fibsbot.policy import describe
from fibsbot.policy.wording import counted
from fibsbot.service.settings import AccountPlan


@click.command("check-config")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Fail with status 1 if there are warnings.")
def check_config(file: Path, *, strict: bool) -> None:
    """Tell what is wrong with a file of settings, and what it will do.

    Every problem is told at once, a line each, and the exit status is 78. Settings that are legal but useless are
    warned of. Passwords are looked for, and never shown.
    """
    checked = check(file)
    if checked.problems:
        raise ConfigError(told(file, checked.problems))
    warnings = doubts(checked.config)
    for warning in warnings:
        click.echo(f"{file}: warning: {warning}", err=True)
    click.echo(f"{file}: {f'can be used, warnings: {len(warnings)}' if warnings else 'good'}")
    for line in _summary(checked):
        click.echo(f"  {line}")
    if warnings and strict:
        raise SystemExit(1)


def _summary(checked: Checked) -> Iterator[str]:
    """Yield what the file will do, a line each."""
    for plan in checked.plans:
        run, name = plan.run, plan.run.agent.name
        tls = " through TLS" if run.tls else ""
        yield f"{name} plays on {run.host}:{run.port}{tls}, strategy {plan.strategy}"
        for line in _account(plan, checked.secrets[name].source):
            yield f"  {line}"
    service = checked.config.service
    yield f"store: {service.store or 'none'}"
    yield f"control socket: {service.control or 'none'}"
    if service.web_port is not None:
        yield f"metrics and health: 127.0.0.1:{service.web_port or '(a free port)'}"


def _account(plan: AccountPlan, source: str) -> Iterator[str]:
    agent = plan.run.agent
    yield f"password: from {source}"
    yield f"policy: {describe(agent.policy)}"
    yield from (f"invites: {line}" for line in _invitations(agent))
    if agent.chat.operators:
        yield f"operators: {', '.join(agent.chat.operators)}"
    if agent.matches is not None:
        yield f"logs out after {counted(agent.matches, 'match')}"
    yield f"session log: {plan.run.log_path}"


def _invitations(agent: AgentSettings) -> Iterator[str]:
    seek = agent.seek
    if agent.invite:
        yield f"{agent.invite} to {counted(agent.length, 'point')}, whenever there is no match"
    if seek.after is not None:
        often = f"at most {seek.per_hour} an hour"
        yield f"somebody to {counted(seek.length, 'point')}, after {seek.after:g} s without a match, {often}"
