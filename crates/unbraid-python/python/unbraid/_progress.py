"""A line of progress, in terminals and notebooks."""

import sys
import time


def bar():
    """A function that shows the progress of one piece of work on standard error."""
    return _Bar(sys.stderr)


class _Bar:
    def __init__(self, stream):
        self._stream = stream
        # Notebooks show a carriage return as terminals do; anything else, such as a file, gets a line for each stage.
        self._moves = stream.isatty() or type(stream).__module__.startswith("ipykernel")
        self._stage = None
        self._width = 0

    def __call__(self, stage, done, total, values):
        if stage != self._stage:
            self._stage, self._first, self._start = stage, done, time.monotonic()
            if not self._moves:
                print(f"{stage}: {total}", file=self._stream, flush=True)
        if not self._moves:
            return
        text = f"{stage} {done}/{total}" if total else f"{stage} {done}"
        seconds = time.monotonic() - self._start
        if 0 < done - self._first and done < total and seconds > 1:
            left = seconds / (done - self._first) * (total - done)
            text += f", {left:.0f} s left"
        if "loss" in values:
            text += f", loss {values['loss']:.2f}"
        end = "\n" if total and done >= total else ""
        self._stream.write("\r" + text.ljust(self._width) + end)
        self._stream.flush()
        self._width = 0 if end else len(text)
        if end:
            self._stage = None
