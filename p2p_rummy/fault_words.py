"""What the trust layer's faults are called, in the user's language: one short phrase for each stable word.

The words are the codes of the error tree (:mod:`protocol.errors`), the reasons that a fault or a refused link gives, and
the codes that peers send each other (:class:`protocol.wire.Code`).  The layer's own message is English and has the
details (which seat, which step); English readers get it as it is, others get the phrase with the message after it.
"""

from __future__ import annotations

from typing import Final

from p2p_rummy.catalogue import _, current_language, mark
from p2p_rummy.narrator import refusal
from p2p_rummy.options import SIZES_IN_WORDS
from p2p_rummy.refusals import OptionError
from protocol.errors import ProtocolError, RemoteProtocolError
from protocol.game import Refused
from protocol.verify import LogRefused

FAULTS: Final[dict[str, str]] = {
    # Errors by class.
    "protocol_error": mark("something went wrong between the players"),
    "local_error": mark("that cannot be done now"),
    "bad_encoding": mark("the data cannot be read"),
    "remote_error": mark("another player's program broke the protocol"),
    "verification_failed": mark("a signature or a proof does not hold"),
    "log_refused": mark("the log does not hold"),
    "bad_ticket": mark("this is not a valid ticket"),
    "no_such_table": mark("there is no such table here"),
    "link_lost": mark("the connection has ended"),
    "cannot_join": mark("the table cannot be joined"),
    "cannot_listen": mark("the program cannot listen for connections"),
    "secret_lost": mark("the secret of this hand is lost; you play again from the next hand on"),
    "damaged_file": mark("a file of the table is damaged"),
    "disk_failed": mark("the disk cannot be written"),
    "random_source": mark("the random source of this machine has failed"),
    "home_in_use": mark("another p2p-rummy is using this home directory"),
    # Why a peer is refused or a link has ended.
    "version": mark("the programs are of different versions; update the older one"),
    "unknown_table": mark("that table is not open there"),
    "not_seated": mark("you have no seat at that table"),
    "full": mark("all seats are taken"),
    "duplicate_key": mark("this player already sits at the table"),
    "name_taken": mark("somebody at the table has that name already; choose another with --name"),
    "started": mark("the game has begun already"),
    "wrong_key": mark("another player answers at that address"),
    "disagreement": mark("the players do not agree on the table"),
    "replaced": mark("a newer connection has taken its place"),
    "busy": mark("the other program has no room just now; try again soon"),
    "protocol": mark("the other side did not keep to the protocol"),
    "leaving": mark("the other side has left"),
    "slow_reader": mark("the other side does not read what it is sent"),
    "closed": mark("the connection was closed"),
    "broken": mark("the connection is broken"),
    "unreachable": mark("that address cannot be reached"),
    # What is wrong with what arrived on a link.
    "wrong_magic": mark("the other side does not speak this protocol"),
    "bad_hello": mark("the greeting cannot be read"),
    "bad_ping": mark("a sign of life cannot be read"),
    "bad_seal": mark("an encrypted message was changed on its way"),
    "empty_frame": mark("an empty message arrived"),
    "frame_too_long": mark("a message is too long"),
    "unknown_frame": mark("a message of an unknown form arrived"),
    "unknown_kind": mark("a message of an unknown kind arrived"),
    "not_authenticated": mark("a message came before the other side had proved who it is"),
    "repeated_auth": mark("the other side proved twice who it is"),
    "reflection": mark("our own message came back to us"),
    "own_key": mark("the other side uses our own key"),
    "own_key_misused": mark("this seat's key has signed elsewhere something that contradicts it"),
    # The lobby and the spectators.
    "lobby_order": mark("a message came at the wrong time before the start"),
    "watch_order": mark("a spectator's message came at the wrong time"),
    "wrong_claim": mark("the seat is claimed for another key than the connection's"),
    "wrong_roster": mark("the host's list of players is wrong"),
    "wrong_start": mark("the host started another table than the one agreed to"),
    "bad_agreement": mark("the agreement is not valid"),
    "bad_offer": mark("the host's offer is not valid"),
    # Statements that do not hold.
    "bad_signature": mark("a signature does not hold"),
    "bad_identity": mark("a key is not valid"),
    "bad_evidence": mark("the evidence does not hold"),
    "bad_key": mark("the rebuilt key is wrong"),
    "repeated_key": mark("two players sent the same key"),
    "wrong_nonce": mark("the nonce is not the one promised"),
    "wrong_link": mark("the entry does not follow on the one before"),
    "wrong_seats": mark("the entries are not from the players who owe them"),
    "wrong_step": mark("the entry is of another step"),
    "other_table": mark("the entry is of another table"),
    "no_seat": mark("the entry is of somebody without a seat"),
    "after_the_end": mark("an entry comes after the end of the game"),
    "impossible": mark("what it tells cannot have happened"),
    "empty": mark("it is empty"),
    # Cards.
    "bad_possession_proof": mark("the proof of a key does not hold"),
    "bad_equality_proof": mark("the proof of a card share does not hold"),
    "bad_shuffle": mark("the shuffle does not hold"),
    "bad_shuffle_proof": mark("the proof of a shuffle does not hold"),
    "bad_reveal": mark("the revealed key is not the one promised"),
    "bad_share": mark("a card share does not hold"),
    "bad_opening": mark("the opened cards are not those to be opened"),
    "bad_backup": mark("the backup of a key that was dealt is wrong"),
    "bad_backup_share": mark("a backup of a key is not the one promised"),
    "bad_complaint": mark("the complaint has no ground"),
    "false_complaint": mark("the complaint was about a backup that is good"),
    "already_open": mark("the card is open already"),
    "not_held": mark("the card is not held by that player"),
    "not_dropped": mark("the player whose cards are to be opened has not left"),
    "not_opened": mark("the sealed answer was never opened"),
    "unknown_card": mark("a card is none of the pack"),
    # Moves, answers and results.
    "out_of_turn": mark("it was not that player's turn"),
    "illegal_move": mark("the move is against the rules"),
    "wrong_answer": mark("the answer is not the one that was sealed"),
    "wrong_ruling": mark("the ruling is not what the answers lead to"),
    "wrong_result": mark("the result is not what was played"),
    "bad_return": mark("the request to return is not valid"),
    "bad_abandonment": mark("the table cannot be recorded as abandoned"),
    # Decisions about those who are missing.
    "bad_vote": mark("a vote is not valid"),
    "bad_certificate": mark("the votes do not decide what they are said to decide"),
    "equivocation": mark("two different statements were signed in one place"),
    "double_vote": mark("two votes were signed for one decision"),
    "two_proposals": mark("two proposals were signed for one decision"),
    "broke_its_lock": mark("a vote goes against an earlier binding one"),
    "omitted_what_it_held": mark("a vote leaves out an answer that the voter held"),
}


def fault_words(word: str, message: str) -> str:
    """A fault as the user is told it.  ``word`` is a code or a reason; one that is not known here leaves the message."""
    phrase = FAULTS.get(word)
    if phrase is None or current_language() == "en":
        return message
    return _("{fault} ({details})", fault=_(phrase), details=message)


def fault_word(error: ProtocolError) -> str:
    """The most telling word of an error: its reason if that is a stable word, else its code."""
    reason = getattr(error, "reason", "")
    return reason if reason in FAULTS else error.code


def details(error: ProtocolError) -> str:
    """The trust layer's English line for a person: seats are counted from 1, as at the table, and not from 0."""
    match error:
        case LogRefused(seat=int(seat)):
            step = f", step {error.step}" if error.step is not None else ""
            return f"record {error.record}{step}, seat {seat + 1}: {error.message} ({error.reason})"
        case RemoteProtocolError(seat=int(seat)):
            step = f"step {error.step}: " if error.step is not None else ""
            return f"seat {seat + 1}: {step}{error.message}"
        case _:
            return str(error)


def error_words(error: Exception) -> str:
    """An error as the user is told it: what the trust layer or a game says with its phrase, others as they are."""
    match error:
        case ProtocolError():
            return fault_words(fault_word(error), details(error))
        case OptionError():
            values = {
                name: _(SIZES_IN_WORDS) if text == SIZES_IN_WORDS else text
                for name, text in error.values.items()
            }
            return _(error.sentence, **values)
        case Refused() if current_language() != "en":
            # The engine's line names the option, the cards, the values; the phrase alone would not help.
            phrase = refusal(error.code, str(error), error.rule, error.cards)
            return _("{fault} ({details})", fault=phrase, details=str(error))
        case _:
            return str(error)
