"""Rummy 500 and the rummy family: cards, rules, games, bots and faces on top of :mod:`protocol`."""

__version__ = "0.1.0"
