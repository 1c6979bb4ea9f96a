"""What the program around a model has to say to it → a row."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from historycompat.processors.arguments import Signal
from historycompat.processors.errors import TripWire
from historycompat.processors.message_list import Row


def signal_row(signal: Signal) -> Row:
    """A user row with the signal as an element; `metadata.signal` keeps what it was made of."""
    tag = signal.get("tag_name", "signal")
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in signal.get("attributes", {}).items())
    text = f"<{tag}{attributes}>{escape(signal.get('contents', ''))}</{tag}>"
    return {
        "role": "user",
        "content": {"format": 2, "parts": [{"type": "text", "text": text}], "metadata": {"signal": dict(signal)}},
    }


def feedback_row(trip: TripWire) -> Row:
    """The system message that tells a model why its answer was rejected."""
    return {"role": "system", "content": f"The last answer was rejected: {trip}. Answer again with this in mind."}
