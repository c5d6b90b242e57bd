"""The commands, one module each: ``arguments(parser)`` and ``run(args) -> int``.  See :mod:`p2p_rummy.cli`."""
