"""A line of progress, in terminals and notebooks."""

import sys
import time


def _is_notebook(stream):
    return type(stream).__module__.startswith("ipykernel")


def bar():
    """A function that shows the progress of one piece of work: on standard error, in a notebook below the cell."""
    # A notebook would show standard error as a warning.
    return _Bar(sys.stdout if _is_notebook(sys.stdout) else sys.stderr)


class _Bar:
    def __init__(self, stream):
        self._stream = stream
        # Notebooks show a carriage return as terminals do; anything else, such as a file, gets a line for each stage.
        self._moves = stream.isatty() or _is_notebook(stream)
        self._stage = None
        self._has_ended = False
        self._width = 0

    def __call__(self, stage, done, total, values):
        if self._has_ended and (stage, done) == (self._stage, total):
            return
        if stage != self._stage or self._has_ended:
            self._stage, self._first, self._start = stage, done, time.monotonic()
            self._has_ended = False
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
        self._has_ended = bool(total) and done >= total
        self._stream.write("\r" + text.ljust(self._width) + ("\n" if self._has_ended else ""))
        self._stream.flush()
        self._width = 0 if self._has_ended else len(text)
