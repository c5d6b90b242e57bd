"""The table in a browser, served by the peer itself.

    page (static/)  <- WebSocket ->  http  ->  site (who may in)
                                      |
                                     desk (start page, one table)  ->  tables.TableLike

``site`` decides without touching a socket who may ask for what; ``http`` moves the bytes and survives any of
them; ``desk`` turns the page's messages into moves and the table's changes into messages.  The page holds no
rules: it draws :func:`p2p_rummy.view.table_view` and sends move texts.
"""
