"""``python -m p2p_rummy`` is ``p2p-rummy``."""

import sys

from p2p_rummy.cli import main

sys.exit(main())
