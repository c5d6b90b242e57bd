"""The peer: everything that owns sockets, files, threads and the clock.

tcp          listening, dialling, socket options
connection   one link over a stream, with its limits
door         who comes in
mesh         one link to each other seat, kept up
hosting, joining    the two sides of the lobby on real links
home         a peer's directory: identity, friends, tables
disk, driver one session: its files, and the carrying out of what it asks
table        what faces and bots hold: host_table, join_table, resume_table
"""

from protocol.peer.home import Acquaintance, Friends, Home, NoSuchTable, TableHome
from protocol.peer.joining import CannotJoin
from protocol.peer.life import MakeGame, TableEvent, Unreachable
from protocol.peer.table import Table, host_table, join_table, resume_table, watch_table
from protocol.peer.tcp import CannotListen, Network, TcpNetwork

__all__ = [
    "Acquaintance",
    "CannotJoin",
    "CannotListen",
    "Friends",
    "Home",
    "MakeGame",
    "Network",
    "NoSuchTable",
    "Table",
    "TableEvent",
    "TableHome",
    "TcpNetwork",
    "Unreachable",
    "host_table",
    "join_table",
    "resume_table",
    "watch_table",
]
