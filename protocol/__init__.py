"""The trust layer: signed logs, a mental deck and a table of peers.

Cards are numbers here.  Nothing in this package knows rummy, screens or bots; the game is whatever
implements :class:`protocol.game.Game`.
"""

PROTOCOL_VERSION = 1
