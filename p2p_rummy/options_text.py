"""docs/options.md, written from the option table: ``python -m p2p_rummy.options_text > docs/options.md``."""

from __future__ import annotations

from collections.abc import Iterator

from p2p_rummy.options import OPTIONS, RUM_GAMES, Option, write

HEAD = """# Options

Written by `python -m p2p_rummy.options_text` from the table in `p2p_rummy/options.py`; a test compares the two.

`p2p-rummy host --game GAME --set NAME=VALUE` sets an option, `p2p-rummy options GAME` lists those of a game, and
`p2p-rummy rules GAME --set NAME=VALUE` prints the rules that follow. Combinations that make no table are refused with the
reason before anybody sits down (R255). All seats sign every option that differs from the game's own value.

A value given once holds for every game that has the option; otherwise the games that differ are named."""


def options_markdown() -> str:
    """The whole page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield ""
    yield "## The rum family"
    yield ""
    yield f"Games: {', '.join(f'`{game}`' for game in RUM_GAMES)}."
    for option in OPTIONS:
        if "rum500" in option.games:
            yield from _option(option)
    yield ""
    yield "## Rummoli"
    yield ""
    yield "`players_min`, `players_max`, `leaver` and `hints` mean the same as above."
    for option in OPTIONS:
        if option.games == ("rummoli",):
            yield from _option(option)
    yield ""


def _option(option: Option) -> Iterator[str]:
    yield ""
    yield f"### {option.name}"
    yield ""
    yield f"{option.text} ({option.rule})"
    yield ""
    if option.choices:
        yield from (f"- `{value}`: {meaning}" for value, meaning in option.choices.items())
    else:
        yield f"- allowed: {option.allowed().replace(' | ', ' or ')}"
    yield f"- default: {_defaults(option)}"


def _defaults(option: Option) -> str:
    games: dict[str, list[str]] = {}
    for game in RUM_GAMES:
        if game in option.presets:
            games.setdefault(write(option.presets[game]), []).append(game)
    others = "".join(f"; `{value}` in {', '.join(names)}" for value, names in games.items())
    return f"`{write(option.default)}`{others}"


if __name__ == "__main__":
    print(options_markdown(), end="")
