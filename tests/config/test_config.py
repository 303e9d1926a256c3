"""Settings are read strictly, problems are told all at once, and sample and documentation follow the definition."""

from pathlib import Path

import pytest
from attrs import fields
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.bot.settings import AgentSettings, Timings
from fibsbot.config import Config, ConfigProblem, ConfigProblemsError, load_config, parse_config
from fibsbot.config.declaring import Setting, sections_of, settings_of
from fibsbot.config.writing import page, sample
from fibsbot.log import LogFormat

ROOT = Path(__file__).parent.parent.parent
WRITE_ANEW = "the definition has changed: run python -m fibsbot.config"
SETTINGS = [(name, setting) for name, section in sections_of(Config) for setting in settings_of(section)]


def problems(text: str) -> tuple[ConfigProblem, ...]:
    with pytest.raises(ConfigProblemsError) as caught:
        parse_config(text)
    return caught.value.problems


def test_an_empty_file_gives_the_defaults() -> None:
    assert Config() == parse_config("")


def test_the_sample_gives_the_defaults_and_follows_the_definition() -> None:
    path = ROOT / "config/fibsbot.toml"
    assert Config() == load_config(path)
    assert sample() == path.read_text(encoding="utf-8"), WRITE_ANEW


def test_the_sample_is_right_with_every_comment_sign_taken_away() -> None:
    lines = [line.removeprefix("# ") if " = " in line else line for line in sample().splitlines()]
    config = parse_config("\n".join(lines))
    assert "marvin" == config.account.name
    assert 10 == config.bot.matches


def test_the_documentation_follows_the_definition() -> None:
    assert page() == (ROOT / "docs/configuration.md").read_text(encoding="utf-8"), WRITE_ANEW


def test_a_value_is_taken_as_it_stands() -> None:
    config = parse_config('[server]\nhost = "fibs.com"\n[timing]\npause = 2\n[log]\nformat = "json"\ndirectory = "a b"')
    assert "fibs.com" == config.server.host
    assert 2 == config.timing.pause
    assert LogFormat.JSON is config.log.format
    assert Path("a b") == config.log.directory


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('server.port = "7"', "server.port: expected a whole number from 1 to 65535, got '7'"),
        ("server.port = 7.0", "server.port: expected a whole number from 1 to 65535, got 7.0"),
        ("server.port = true", "server.port: expected a whole number from 1 to 65535, got true"),
        ("server.port = 0", "server.port: expected a whole number from 1 to 65535, got 0"),
        ("server.host = 127", "server.host: expected a word without blanks, got 127"),
        ('server.host = ""', "server.host: expected a word without blanks, got ''"),
        (
            'account.client = "a\\nb"',
            "account.client: expected a word without blanks of at most 20 characters, got 'a\\nb'",
        ),
        ('account.name = "a1"', "account.name: expected a name of letters and underscores, at most 20, got 'a1'"),
        ("bot.accept = 1", "bot.accept: expected true or false, got 1"),
        ("timing.watchdog = 0", "timing.watchdog: expected a number above 0 and at most 86400, got 0"),
        ("timing.pause = nan", "timing.pause: expected a number from 0 to 86400, got nan"),
        ('log.format = "xml"', 'log.format: expected "console" or "json", got \'xml\''),
        ("log.directory = [1]", "log.directory: expected a path, got a list"),
        ("server = 3", "server: expected a table of settings, got 3"),
        ("server.prot = 3", "server.prot: expected port, perhaps, got an unknown setting"),
        ("sever.port = 3", "sever: expected server, perhaps, got an unknown setting"),
        ("log.x = 3", "log.x: expected one of directory, format, level, got an unknown setting"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(text: str, problem: str) -> None:
    assert [problem] == [str(it) for it in problems(text)]


def test_all_problems_are_told_at_once() -> None:
    found = problems('[server]\nport = "x"\nhost = 1\nextra = 2\n[bot]\nmax_length = 100\n[more]\n')
    assert {"server.port", "server.host", "server.extra", "bot.max_length", "more"} == {it.path for it in found}


def test_no_message_shows_what_may_be_a_password() -> None:
    text = 'password = "swordfish"\npassword_file = 77123\npassword_env = "sword fish"\npasword_file = "swordfish"'
    told = "\n".join(map(str, problems(f"[account]\n{text}")))
    assert 4 == len(told.splitlines())
    assert not any(secret in told for secret in ("swordfish", "sword fish", "77123"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"[server", "a TOML file"), (b"\xff\xfe", "text in UTF-8"), (None, "a file that can be read")],
)
def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path, content: bytes | None, expected: str) -> None:
    path = tmp_path / "some.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigProblemsError) as caught:
        load_config(path)
    (problem,) = caught.value.problems
    assert (str(path), expected) == (problem.path, problem.expected)
    assert 1 == len(str(problem).splitlines())


def extremes(setting: Setting) -> list[object]:
    about = setting.about
    above = None if about.above is None else about.above + 1e-9
    values = [about.example if setting.default is None else setting.default, about.least, above, about.most]
    if setting.about.longest:
        values.append("x" * setting.about.longest)
    return [str(it) if isinstance(it, Path) else getattr(it, "value", it) for it in values if it is not None]


@settings(max_examples=30)
@given(st.data())
def test_whatever_the_definition_allows_makes_a_run(data: st.DataObject) -> None:
    lines = []
    for name, setting in SETTINGS:
        value = data.draw(st.sampled_from([None, *extremes(setting)]))
        if value is not None:
            shown = repr(value) if not isinstance(value, bool) else str(value).lower()
            lines.append(f"{name}.{setting.name} = {shown}")
    run = parse_config("\n".join(lines)).run_settings("marvin", "paranoid")
    assert "marvin" == run.agent.name


def test_defaults_are_those_of_the_rooms_that_use_them() -> None:
    agent = Config().run_settings("marvin", "paranoid").agent
    assert AgentSettings("marvin", "paranoid") == agent
    assert Timings() == agent.timings


def test_every_setting_reaches_the_run_or_the_command() -> None:
    """A setting that nobody uses would be a lie; the ones named here are used by the command itself."""
    by_command = {
        ("account", "name"),
        ("account", "password_file"),
        ("account", "password_env"),
        ("bot", "strategy"),
        ("log", "directory"),
        ("log", "format"),
        ("log", "level"),
    }
    default = Config().run_settings("marvin", "paranoid")
    silent = set()
    for name, setting in SETTINGS:
        other = {bool: "true" if setting.default is False else "false", str: '"zaphod"', Path: '"x"'}.get(
            setting.kind, "13"
        )
        if (name, setting.name) not in by_command:
            run = parse_config(f"{name}.{setting.name} = {other}").run_settings("marvin", "paranoid")
            if run == default:
                silent.add((name, setting.name))
    assert set() == silent
    assert by_command <= {(name, setting.name) for name, setting in SETTINGS}


def test_settings_that_cannot_be_meant_are_warned_of() -> None:
    assert () == Config().warnings()
    text = "[bot]\nmin_length = 9\nmax_length = 3\naccept = false\n[reconnect]\nfirst = 10\nlongest = 1"
    assert 3 == len(parse_config(text).warnings())


def test_every_setting_is_described() -> None:
    assert all(setting.about.help.endswith(".") for _, setting in SETTINGS)
    assert all(field.type for field in fields(Config))
