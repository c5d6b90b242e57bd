"""The one table of options: name, type, allowed values, default in each preset, rule, and what it means.

Everything about options comes from :data:`OPTIONS`: what a table accepts, docs/options.md, ``p2p-rummy
options`` and the rules text.  Adding a variation touches this table and one game file.

:func:`resolve` turns what somebody set (text such as ``ace=low``, or typed values out of a scenario file) into
:class:`Settings`, complete and checked, or raises :class:`~p2p_rummy.refusals.OptionError` with the reason
(R255).  Values travel as text (:func:`write`), and ``write`` and :func:`read` are inverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from p2p_rummy.cards import PACK
from p2p_rummy.refusals import OptionError

Sizes = tuple[tuple[int, int], ...]
"""Hand size by number of players: ``((2, 13), (3, 7))`` is 13 with two, 7 with three or more."""
Value = bool | int | str | Sizes | None
Kind = Literal["bool", "int", "choice", "sizes", "packs"]
SIZES_IN_WORDS: Final = "cards, or by players such as 2:13,3+:7"

RUM_GAMES: Final = (
    "rum500",
    "rummy",
    "rum500_wiki",
    "rum500_korean",
    "dealers_joker",
    "partnership",
    "persian",
    "calling_rum",
)
GAMES: Final = (*RUM_GAMES, "rummoli")
W_FAMILY: Final = ("rum500_wiki", "dealers_joker", "partnership", "persian", "calling_rum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One row.  ``default`` is rum500's (or Rummoli's own); ``presets`` has the games that differ."""

    name: str
    kind: Kind
    default: Value
    text: str
    rule: str
    choices: Mapping[str, str] = field(default_factory=dict)
    low: int = 0
    high: int = 0
    nullable: bool = False
    presets: Mapping[str, Value] = field(default_factory=dict)
    games: tuple[str, ...] = RUM_GAMES

    def default_in(self, game: str) -> Value:
        return self.presets.get(game, self.default)

    def allowed(self) -> str:
        """The allowed values in words, such as ``low | high_or_low`` or ``0..4``."""
        match self.kind:
            case "bool":
                words = "true | false"
            case "choice":
                words = " | ".join(self.choices)
            case "packs":
                words = "auto | 1 | 2"
            case "sizes":
                words = SIZES_IN_WORDS
            case "int":
                words = str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
        return words + (" | none" if self.nullable else "")


def _for(value: Value, *games: str) -> dict[str, Value]:
    return dict.fromkeys(games, value)


OPTIONS: Final[tuple[Option, ...]] = (
    # --- who plays, with what ---
    Option(
        name="players_min",
        kind="int",
        low=2,
        high=8,
        default=2,
        presets=_for(4, "partnership", "persian"),
        games=GAMES,
        rule="R2",
        text="The fewest players.",
    ),
    Option(
        name="players_max",
        kind="int",
        low=2,
        high=8,
        default=8,
        presets={"rummy": 6, "partnership": 4, "persian": 4},
        games=GAMES,
        rule="R2",
        text="The most players.",
    ),
    Option(
        name="partnership",
        kind="bool",
        default=False,
        presets=_for(True, "partnership", "persian"),
        rule="R190",
        text="Seats 1 and 3 play against seats 2 and 4, with one score a side.",
    ),
    Option(
        name="packs",
        kind="packs",
        default="auto",
        presets=_for(1, "rummy", "dealers_joker", "partnership", "persian"),
        rule="R3",
        text="Packs of 52 cards; auto is one for up to four players and two for five or more.",
    ),
    Option(
        name="jokers_per_pack",
        kind="int",
        low=0,
        high=4,
        default=2,
        presets={"rummy": 0, "rum500_wiki": 0, "partnership": 0, "persian": 4, "calling_rum": 0},
        rule="R120",
        text="Jokers that come with each pack.",
    ),
    Option(
        name="jokers_wild",
        kind="bool",
        default=True,
        presets={"persian": False},
        rule="R196",
        text="A joker stands for any card it is said to stand for; otherwise it melds only with jokers.",
    ),
    Option(
        name="hand_size",
        kind="sizes",
        default=((2, 13), (3, 7)),
        presets={
            "rummy": ((2, 10), (3, 7), (5, 6)),
            "partnership": ((2, 7),),
            "persian": ((2, 7),),
        },
        rule="R12",
        text="Cards dealt to each player, by number of players.",
    ),
    # --- the deal ---
    Option(
        name="first_dealer",
        kind="choice",
        choices={
            "random": "by the joint randomness of the table",
            "low_card": "who draws the lowest card, ace lowest",
            "high_card": "who draws the highest card",
        },
        default="random",
        presets={"rum500_korean": "high_card"} | _for("low_card", *W_FAMILY),
        rule="R10",
        text="Who deals the first hand.",
    ),
    Option(
        name="next_dealer",
        kind="choice",
        choices={
            "left": "the deal passes clockwise",
            "hand_winner": "who went out, else the best score of the hand",
        },
        default="left",
        rule="R169",
        text="Who deals the next hand; hand_winner comes with first_discard=eldest_chooses.",
    ),
    Option(
        name="deal_direction",
        kind="choice",
        choices={"cw": "clockwise from the dealer's left", "ccw": "from the dealer's right"},
        default="cw",
        presets={"dealers_joker": "ccw"},
        rule="R175",
        text="The way round the cards are dealt; play is always clockwise.",
    ),
    Option(
        name="first_discard",
        kind="choice",
        choices={
            "turn_up": "the next stock card is turned up",
            "eldest_chooses": "the seat left of the dealer gets one card more and discards one",
        },
        default="turn_up",
        rule="R169",
        text="How the discard pile begins.",
    ),
    Option(
        name="dealers_joker",
        kind="bool",
        default=False,
        presets={"dealers_joker": True},
        rule="R176",
        text="The first joker lies open by the stock; the dealer names its effect before the deal.",
    ),
    # --- melds ---
    Option(
        name="ace",
        kind="choice",
        choices={"low": "A 2 3 only", "high_or_low": "A 2 3 or Q K A"},
        default="high_or_low",
        presets=_for("low", "rummy", "rum500_korean"),
        rule="R33",
        text="Where the ace stands in a run.",
    ),
    Option(
        name="round_the_corner",
        kind="bool",
        default=False,
        rule="R168",
        text="Runs may go past the ace: K A 2.",
    ),
    Option(
        name="min_run",
        kind="int",
        low=3,
        high=4,
        default=3,
        rule="R167",
        text="Fewest cards of a new run.",
    ),
    Option(
        name="opening_minimum",
        kind="int",
        low=0,
        high=500,
        default=0,
        presets=_for(30, *W_FAMILY),
        rule="R163",
        text="What a seat's (or side's) first melds must be worth together, in one move.",
    ),
    Option(
        name="opening_scope",
        kind="choice",
        choices={"game": "once in a game", "hand": "in every hand anew"},
        default="game",
        rule="R163",
        text="How long an opening lasts.",
    ),
    Option(
        name="out_of_turn_melds",
        kind="bool",
        default=False,
        rule="R210",
        text="Others may meld and lay off in the window after a turn.",
    ),
    # --- the pile ---
    Option(
        name="take_depth",
        kind="choice",
        choices={"any": "any card and all above it", "top": "the top card only"},
        default="any",
        presets={"rummy": "top"},
        rule="R141",
        text="How deep a seat may take from the discard pile.",
    ),
    Option(
        name="top_card",
        kind="choice",
        choices={"free": "may be kept", "must_meld": "must be put on the table in that turn"},
        default="free",
        presets=_for("must_meld", *W_FAMILY),
        rule="R122",
        text="What a single top card that was taken is good for.",
    ),
    Option(
        name="deepest_use",
        kind="choice",
        choices={
            "any": "in a new meld or as a lay-off",
            "new_meld": "in a new meld, always",
            "short_layoff": "in a new meld; a lay-off counts if at most two cards were taken",
        },
        default="any",
        presets=_for("new_meld", "rum500_wiki", "partnership", "persian", "calling_rum"),
        rule="R123",
        text="How the deepest card taken must be put on the table.",
    ),
    # --- calling ---
    Option(
        name="calling",
        kind="choice",
        choices={
            "off": "no calls",
            "full": "any pile card that can be laid, with all above it",
            "latest_only": "the newest discard only, as a lay-off",
        },
        default="full",
        presets=_for("off", "rummy", "rum500_wiki", "dealers_joker", "partnership", "persian")
        | {"calling_rum": "latest_only"},
        rule="R124",
        text="Calling rummy after another seat's turn.",
    ),
    Option(
        name="call_conflict",
        kind="choice",
        choices={"proximity": "the caller nearest clockwise from the discarder"},
        default="proximity",
        rule="R109",
        text="Who wins when several seats call.",
    ),
    # --- the end of a hand ---
    Option(
        name="going_out",
        kind="choice",
        choices={
            "free": "by laying or discarding the last card",
            "discard_required": "only by discarding the last card",
            "floating": "by a discard; who lays the last card floats and plays on",
            "unplayable_discard": "floating, and the last discard must fit nothing on the table",
        },
        default="free",
        rule="R126",
        text="How a seat goes out.",
    ),
    Option(
        name="unplayable_enforcement",
        kind="choice",
        choices={
            "strict": "a playable last discard is refused",
            "challenge": "it stands unless another seat calls and lays it",
        },
        default="strict",
        rule="R132",
        text="How going_out=unplayable_discard is enforced.",
    ),
    Option(
        name="stock_out",
        kind="choice",
        choices={
            "decline_ends": "the hand ends when the seat to draw declines the pile",
            "all_pass": "it ends when every seat in turn has declined it",
        },
        default="decline_ends",
        presets=_for("all_pass", *W_FAMILY),
        rule="R164",
        text="The end of a hand whose stock is gone.",
    ),
    Option(
        name="recycle_stock",
        kind="choice",
        choices={
            "off": "an empty stock stays empty",
            "turn_over": "the pile but its top card is turned over unshuffled",
            "reshuffle": "the pile but its top card is shuffled anew by everybody",
        },
        default="off",
        presets={"rummy": "reshuffle"},
        rule="R149",
        text="Whether the pile becomes a new stock.",
    ),
    Option(
        name="exhausted_rounds",
        kind="int",
        low=1,
        high=20,
        default=2,
        rule="R75",
        text="Rounds of turns without a stock and without a card laid, after which the hand ends; with a "
        "recycled stock also how often it is recycled without a card laid.",
    ),
    # --- scoring ---
    Option(
        name="scoring",
        kind="choice",
        choices={
            "melds_minus_hand": "table cards count for, hand cards against a seat",
            "winner_takes_hands": "who goes out scores the cards in the other hands",
        },
        default="melds_minus_hand",
        presets={"rummy": "winner_takes_hands"},
        rule="R80",
        text="What a hand scores.",
    ),
    Option(
        name="card_values",
        kind="choice",
        choices={"face": "2 to 10 count their number", "5_10_15": "2 to 9 count five"},
        default="face",
        presets=_for("5_10_15", "rum500_wiki", "dealers_joker", "partnership", "calling_rum"),
        rule="R121",
        text="What cards count; T J Q K 10 and a high ace 15 in both.",
    ),
    Option(
        name="joker_value",
        kind="int",
        low=0,
        high=100,
        default=15,
        presets={"dealers_joker": 0, "persian": 20},
        rule="R81",
        text="What a joker counts, on the table and in hand.",
    ),
    Option(
        name="exhausted_scoring",
        kind="choice",
        choices={"normal": "as always", "no_deduction": "hand cards are not deducted"},
        default="normal",
        presets=_for("no_deduction", *W_FAMILY),
        rule="R164",
        text="What a hand scores that ended for want of a stock.",
    ),
    Option(
        name="going_rummy_doubles",
        kind="bool",
        default=False,
        presets={"rummy": True},
        rule="R147",
        text="Going out at one go, with nothing laid before, doubles the score of the hand.",
    ),
    Option(
        name="four_at_once_doubles",
        kind="bool",
        default=False,
        presets={"persian": True},
        rule="R198",
        text="A group of four laid at once counts double.",
    ),
    Option(
        name="going_out_bonus",
        kind="int",
        low=0,
        high=500,
        default=0,
        presets={"persian": 25},
        rule="R199",
        text="Points for going out.",
    ),
    Option(
        name="game_bonus",
        kind="int",
        low=0,
        high=1000,
        default=0,
        presets={"persian": 50},
        rule="R200",
        text="Points for winning the game.",
    ),
    Option(
        name="rummy_master_bonus",
        kind="int",
        low=0,
        high=1000,
        default=0,
        rule="R166",
        text="Points for a hand of one seven-card run and the last card discarded; 500 is usual.",
    ),
    # --- the end of the game ---
    Option(
        name="win_rule",
        kind="choice",
        choices={
            "highest": "the highest total at or above the target",
            "must_go_out": "a seat that goes out and is then at or above the target",
            "first_out": "of several at or above it, the one that went out",
        },
        default="highest",
        presets=_for("first_out", "rum500_wiki", "dealers_joker", "calling_rum"),
        rule="R134",
        text="Who wins the game.",
    ),
    Option(
        name="target",
        kind="int",
        low=1,
        high=100_000,
        nullable=True,
        default=500,
        presets={"rummy": 150, "persian": None},
        rule="R135",
        text="The total that ends the game.",
    ),
    Option(
        name="max_hands",
        kind="int",
        low=1,
        high=1000,
        nullable=True,
        default=None,
        presets={"persian": 2},
        rule="R151",
        text="The number of hands after which the highest total wins.",
    ),
    # --- the table ---
    Option(
        name="leaver",
        kind="choice",
        choices={
            "minus_hand": "the hand is shown and leaves play; it counts against the leaver at the end",
            "void_hand": "the hand ends and counts for nobody, but the leaver loses the hand cards",
            "bot": "the hand is shown and the table plays it on by a fixed rule until the hand ends",
        },
        default="minus_hand",
        games=GAMES,
        rule="R80",
        text="What becomes of a hand whose player has gone.",
    ),
    Option(
        name="hints",
        kind="bool",
        default=False,
        games=GAMES,
        rule="R102",
        text="The faces show legal melds and calls.",
    ),
    # --- Rummoli ---
    Option(
        name="start_chips",
        kind="int",
        low=9,
        high=1000,
        default=100,
        games=("rummoli",),
        rule="R220",
        text="Chips of each player at the start.",
    ),
    Option(
        name="bet_limit",
        kind="int",
        low=1,
        high=100,
        default=5,
        games=("rummoli",),
        rule="R225",
        text="The most that one bet or raise may be.",
    ),
    Option(
        name="claim",
        kind="choice",
        choices={
            "manual": "a pot is claimed by its player with the card or before the next one",
            "auto": "pots are paid at once",
        },
        default="manual",
        games=("rummoli",),
        rule="R231",
        text="How pots are won in the stops phase.",
    ),
    Option(
        name="max_rounds",
        kind="int",
        low=1,
        high=1000,
        nullable=True,
        default=None,
        games=("rummoli",),
        rule="R234",
        text="Rounds after which the game ends; without it, when all agree or one player has chips left.",
    ),
    Option(
        name="final",
        kind="choice",
        choices={
            "one_pot": "one poker deal for all that is left on the board",
            "per_pot": "one deal for each pot, the smallest first",
        },
        default="one_pot",
        games=("rummoli",),
        rule="R234",
        text="How the chips left on the board are played for.",
    ),
    Option(
        name="widow",
        kind="bool",
        default=True,
        games=("rummoli",),
        rule="R222",
        text="An extra hand is dealt, which the dealer may take or auction.",
    ),
)

BY_NAME: Final[dict[str, Option]] = {option.name: option for option in OPTIONS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One table's options, complete and checked.  ``chosen`` are the names somebody set."""

    game: str
    seats: int
    values: Mapping[str, Value]
    chosen: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Value:
        return self.values[name]

    def differences(self) -> dict[str, str]:
        """Every option that differs from the preset, as text: what the agreement lists.

        ``resolve(game, differences, seats)`` gives the same values again.
        """
        return {
            name: write(value)
            for name, value in self.values.items()
            if value != preset_value(name, self.game, self.values)
        }

    def plain(self) -> dict[str, bool | int | str]:
        """All options as data that JSON can carry (text for everything that is neither number nor truth)."""
        return {
            name: value if isinstance(value, bool | int) else write(value)
            for name, value in self.values.items()
        }


def options_of(game: str) -> tuple[Option, ...]:
    """The rows of one game.  Raises OptionError with the games there are."""
    if game not in GAMES:
        raise OptionError(
            "bad_option",
            "there is no game {game!r}; the games are {games}",
            game=game,
            games=", ".join(GAMES),
        )
    return tuple(option for option in OPTIONS if game in option.games)


def resolve(game: str, given: Mapping[str, object], seats: int) -> Settings:
    """The settings of a table.  ``given`` has text or typed values.  Raises OptionError (R255)."""
    rows = options_of(game)
    known = {option.name for option in rows}
    for name in given:
        if name not in known:
            if name in BY_NAME:
                raise OptionError(
                    "bad_option",
                    "{game} has no option {name!r}; {name} belongs to {games} (p2p-rummy options {game} lists them)",
                    game=game,
                    name=name,
                    games=", ".join(BY_NAME[name].games),
                )
            raise OptionError(
                "bad_option",
                "{game} has no option {name!r} (p2p-rummy options {game} lists them)",
                game=game,
                name=name,
            )
    values = {
        option.name: read(option, given[option.name]) if option.name in given else option.default_in(game)
        for option in rows
    }
    for name in known - given.keys():
        values[name] = preset_value(name, game, values)
    settings = Settings(game=game, seats=seats, values=values, chosen=frozenset(given))
    for clash in _clashes(settings):
        raise clash
    return settings


def preset_value(name: str, game: str, values: Mapping[str, Value]) -> Value:
    """What an option is if nobody sets it; ``next_dealer`` goes with ``first_discard`` (R169)."""
    if name == "next_dealer" and values["first_discard"] == "eldest_chooses":
        return "hand_winner"
    return BY_NAME[name].default_in(game)


# --- values as text -------------------------------------------------------------------------------------


def write(value: Value) -> str:
    """A value as text: ``true``, ``500``, ``none``, ``low``, ``2:13,3+:7``."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        if len(value) == 1:
            return str(value[0][1])
        last = value[-1]
        return ",".join([*(f"{players}:{cards}" for players, cards in value[:-1]), f"{last[0]}+:{last[1]}"])
    return str(value)


def read(option: Option, given: object) -> Value:
    """The value that ``given`` means for this option.  Raises OptionError with the values allowed."""
    try:
        return _read(option, given)
    except ValueError:
        raise OptionError(
            "bad_option",
            "{name}={given} is not allowed: {name} is {allowed}",
            rule=option.rule,
            name=option.name,
            given=given if isinstance(given, str) else _shown(given),
            allowed=option.allowed(),
        ) from None


def _shown(given: object) -> str:
    if given is None or isinstance(given, bool):
        return write(given)
    return str(given)


def _read(option: Option, given: object) -> Value:
    text = given.strip().lower() if isinstance(given, str) else None
    if option.nullable and (given is None or text in ("none", "null")):
        return None
    match option.kind:
        case "bool":
            if isinstance(given, bool):
                return given
            return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[
                _known(text, ("true", "yes", "on", "false", "no", "off"))
            ]
        case "choice":
            return _known(text, tuple(option.choices))
        case "packs":
            if text == "auto":
                return text
            return _number(given, 1, 2)
        case "int":
            return _number(given, option.low, option.high)
        case "sizes":
            return _sizes(given)


def _known(text: str | None, words: tuple[str, ...]) -> str:
    if text not in words:
        raise ValueError
    return text


def _number(given: object, low: int, high: int) -> int:
    if isinstance(given, str) and given.strip().isascii() and given.strip().isdigit() and len(given) < 12:
        given = int(given)
    if not isinstance(given, int) or isinstance(given, bool) or not low <= given <= high:
        raise ValueError
    return given


def _sizes(given: object) -> Sizes:
    """``7``, ``"2:13,3+:7"`` or ``{"2": 13, "3+": 7}``; a number of players reaches up to the next one."""
    if isinstance(given, int) or (isinstance(given, str) and given.strip().isdigit()):
        return ((2, _number(given, 1, PACK)),)
    if isinstance(given, tuple):
        given = dict(given)
    if isinstance(given, str):
        pairs: list[tuple[str, object]] = []
        for part in given.split(","):
            players, colon, cards = part.partition(":")
            if not colon:
                raise ValueError
            pairs.append((players, cards))
    elif isinstance(given, Mapping):
        pairs = [(str(players), cards) for players, cards in given.items()]
    else:
        raise ValueError
    sizes = {
        _number(players.strip().removesuffix("+").partition("-")[0], 2, 8): _number(cards, 1, PACK)
        for players, cards in pairs
    }
    if 2 not in sizes or len(sizes) != len(pairs):
        raise ValueError
    return tuple(sorted(sizes.items()))


def hand_size(sizes: Sizes, players: int) -> int:
    """R12: the size given for the largest number that is not above ``players``."""
    return max((least, cards) for least, cards in sizes if least <= players)[1]


def pack_count(packs: Value, seats: int) -> int:
    """R3: with auto, two packs for five or more."""
    return packs if isinstance(packs, int) else (2 if seats >= 5 else 1)


# --- combinations (R255) --------------------------------------------------------------------------------


def _clashes(settings: Settings) -> list[OptionError]:
    """Every reason why this is no table; the first is the one reported."""
    value = settings.values
    seats = settings.seats
    game = settings.game
    found: list[OptionError] = []
    low, high = value["players_min"], value["players_max"]
    assert isinstance(low, int)
    assert isinstance(high, int)
    if low > high:
        found.append(
            OptionError(
                "bad_option",
                "players_min={low} is above players_max={high}",
                rule="R255",
                low=low,
                high=high,
            )
        )
    elif not low <= seats <= high:
        found.append(
            OptionError(
                "bad_option",
                "{game} is for {low} to {high} players here, not for {seats}",
                rule="R2",
                game=game,
                low=low,
                high=high,
                seats=seats,
            )
        )
    if game == "rummoli":
        return found

    packs = pack_count(value["packs"], seats)
    jokers = value["jokers_per_pack"]
    assert isinstance(jokers, int)
    if value["unplayable_enforcement"] == "challenge" and value["going_out"] != "unplayable_discard":
        found.append(
            OptionError(
                "bad_option",
                "unplayable_enforcement=challenge needs going_out=unplayable_discard",
                rule="R132",
            )
        )
    if "jokers_wild" in settings.chosen and value["jokers_wild"] is True and jokers == 0:
        found.append(
            OptionError(
                "bad_option",
                "jokers_wild=true with no joker in the pack; set jokers_per_pack too",
                rule="R255",
            )
        )
    if value["take_depth"] == "top" and value["deepest_use"] != "any":
        found.append(
            OptionError(
                "bad_option",
                "take_depth=top goes with deepest_use=any only, not {given}",
                rule="R255",
                given=write(value["deepest_use"]),
            )
        )
    if value["take_depth"] == "top" and value["calling"] == "full":
        found.append(
            OptionError(
                "bad_option",
                "calling=full takes from inside the pile, which take_depth=top forbids",
                rule="R255",
            )
        )
    if value["partnership"] is True and seats != 4:
        found.append(
            OptionError(
                "bad_option",
                "partnership=true needs exactly four seats, not {seats}",
                rule="R190",
                seats=seats,
            )
        )
    if value["round_the_corner"] is True and value["ace"] == "low":
        found.append(
            OptionError(
                "bad_option",
                "round_the_corner=true joins K A 2, which ace=low forbids; set ace=high_or_low",
                rule="R168",
            )
        )
    if value["dealers_joker"] is True and jokers == 0:
        found.append(
            OptionError(
                "bad_option",
                "dealers_joker=true needs a joker; set jokers_per_pack to 1 or more",
                rule="R176",
            )
        )
    if value["dealers_joker"] is True and value["jokers_wild"] is False:
        found.append(OptionError("bad_option", "dealers_joker=true needs jokers_wild=true", rule="R178"))
    sizes = value["hand_size"]
    assert isinstance(sizes, tuple)
    cards = packs * (PACK + jokers) - (value["dealers_joker"] is True)
    for players in range(seats, 1, -1):  # fewer may be left when somebody has gone
        size = hand_size(sizes, players)
        if players * size + 1 > cards:
            found.append(
                OptionError(
                    "bad_option",
                    "{players} hands of {size} and one card more are {needed} cards; the packs hold {cards}",
                    rule="R255",
                    players=players,
                    size=size,
                    needed=players * size + 1,
                    cards=cards,
                )
            )
    if value["target"] is None and value["max_hands"] is None:
        found.append(
            OptionError(
                "bad_option",
                "with target=none and max_hands=none the game would never end; set one of them",
                rule="R90",
            )
        )
    return found
