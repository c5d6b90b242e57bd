"""One error tree for the trust layer.

Every error says what happened, whose fault it is, where, and what to do next.  The two main branches
follow h11: a :class:`LocalProtocolError` is this program's (or its caller's) mistake, a
:class:`RemoteProtocolError` is a peer's, and names the peer.
"""

from __future__ import annotations

from typing import ClassVar


class ProtocolError(Exception):
    """Root of the tree.

    ``code`` is stable and machine-readable (the faces translate it); the message is one English line.
    """

    code: ClassVar[str] = "protocol_error"


class LocalProtocolError(ProtocolError):
    """This side asked for something the state does not allow.  The state is as it was before."""

    code = "local_error"


class RandomSourceFailed(LocalProtocolError):  # noqa: N818 - it happened; nobody made a mistake
    """The random source of this machine gives nothing, a constant, or what it gave before.  Nothing was made (N39)."""

    code = "random_source"


class EncodingError(ProtocolError):
    """Bytes that are not the canonical encoding of anything we would have written.

    ``field`` is a path such as ``entry.body[2][0]``.
    """

    code = "bad_encoding"

    def __init__(self, reason: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.reason = reason
        self.field = field


class RemoteProtocolError(ProtocolError):
    """A peer broke the protocol.

    ``seat`` is the seat at fault (None where only the link is known, e.g. before authentication), ``step``
    the step it happened in, ``reason`` a stable word for the kind of fault.  A fault that a stranger can
    check carries its evidence (see :mod:`protocol.evidence`).
    """

    code = "remote_error"

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        seat: int | None = None,
        step: int | None = None,
        evidence: bytes | None = None,
    ) -> None:
        where = "".join(
            part
            for part in (
                f"seat {seat}: " if seat is not None else "",
                f"step {step}: " if step is not None else "",
            )
        )
        super().__init__(f"{where}{message}")
        self.reason = reason
        self.message = message
        self.seat = seat
        self.step = step
        self.evidence = evidence


class VerificationError(RemoteProtocolError):
    """A signature, proof, commitment or opening that does not hold.  ``verify_*`` raise it, never return False."""

    code = "verification_failed"
