"""Scores of codes: a mapping from keys to numbers that shows itself as a table."""

import math
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import Any

from numpy.typing import NDArray

from ._native import describe_metrics


@cache
def _descriptions() -> dict[str, dict[str, Any]]:
    return {description["name"]: description for description in describe_metrics()}


class Scores(Mapping[str, float]):
    """Scores by their keys: ``scores["mig"]``. NaN if a score is undefined for these codes; ``undefined`` says why.

    ``float(scores)`` is the first number, which is the only one of many metrics.
    """

    def __init__(
        self,
        *,
        numbers: dict[str, float],
        details: dict[str, NDArray[Any]],
        chance: dict[str, float],
        chance_deviation: dict[str, float],
        interval: dict[str, tuple[float, float]],
        majority: dict[str, float],
        undefined: dict[str, str],
        parameters: dict[str, dict[str, Any]],
        metrics: dict[str, str],
        seconds: dict[str, float],
        notes: list[str],
        factor_names: list[str],
    ) -> None:
        self._numbers = numbers
        #: Matrices and lists by their keys: ``details["mutual_information"]`` is [units, factors].
        self.details = details
        #: The same scores after the factors were shuffled: their chance level.
        self.chance = chance
        #: Standard deviations of ``chance`` over the shuffles, where there were several.
        self.chance_deviation = chance_deviation
        #: The interval that holds 95 % of each score over resampled points, if ``bootstrap`` asked for it.
        self.interval = interval
        #: Beside accuracies, the accuracy of always predicting the most common value.
        self.majority = majority
        #: Why a score is undefined, by its key.
        self.undefined = undefined
        #: The options of each metric, by its name.
        self.parameters = parameters
        #: Wall-clock seconds of each metric, by its name.
        self.seconds = seconds
        #: What has to be known of all scores, a sentence each.
        self.notes = notes
        #: The names of the factors, in the order of the columns of matrices.
        self.factor_names = factor_names
        self._metrics = metrics

    def __getitem__(self, key: str) -> float:
        try:
            return self._numbers[key]
        except KeyError:
            known = ", ".join(self._numbers)
            raise KeyError(f"{key!r}; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __float__(self) -> float:
        return next(iter(self._numbers.values()), math.nan)

    def meaning(self, key: str) -> str:
        """What a good value of this score says, which way is better, and its range."""
        description = _descriptions().get(self._metrics.get(key, ""))
        if description is None:
            return ""
        low, high = ("" if math.isinf(end) else f"{end:g}" for end in description["range"])
        span = f"{low} to {high}" if high else f"{low} and above"
        better = {"higher": "higher is better", "lower": "lower is better", "neither": "neither is better"}
        return f"{description['meaning']} ({span}, {better[description['better']]})"

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for key, value in self._numbers.items():
            shown = "n/a" if math.isnan(value) else f"{value:.4f}"
            chance = self.chance.get(key)
            yield key, shown, "" if chance is None else f"{chance:.4f}", self.undefined.get(key) or self.meaning(key)

    def __repr__(self) -> str:
        rows = [("score", "value", "chance", "meaning"), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        line = "{:<{}}  {:>{}}  {:>{}}  {}"
        lines = [line.format(a, widths[0], b, widths[1], c, widths[2], d).rstrip() for a, b, c, d in rows]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        number = ' style="text-align: right; font-variant-numeric: tabular-nums"'
        rows = "".join(
            f"<tr><td><code>{escape(key)}</code></td><td{number}>{value}</td><td{number}>{chance}</td>"
            f'<td style="text-align: left">{escape(meaning)}</td></tr>'
            for key, value, chance, meaning in self._rows()
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        head = "<tr><th>score</th><th>value</th><th>chance</th><th style='text-align: left'>meaning</th></tr>"
        return f"<table>{head}{rows}</table>{notes}"
