"""The table on a terminal: line mode (append-only, for ssh and screen readers) and the full-screen table."""
