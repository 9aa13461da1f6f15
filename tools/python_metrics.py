"""Writes crates/unbraid-python/python/unbraid/metrics.py: a function for each metric, from the descriptions of
metrics in the package and the doc comments of the crate unbraid-metrics.

    python tools/python_metrics.py            # the package must be installed
    python tools/python_metrics.py --check    # only compares
"""

import importlib.machinery
import importlib.util
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCORES = ROOT / "crates/unbraid-metrics/src/scores"
TARGET = ROOT / "crates/unbraid-python/python/unbraid/metrics.py"

#: Metrics whose function in Rust has another name.
FUNCTIONS = {"kl": "kl_per_unit", "downstream_logistic": "downstream"}


def describe_metrics():
    """The descriptions of metrics in the installed package, even if its metrics.py is broken."""
    folder = Path(importlib.util.find_spec("unbraid").submodule_search_locations[0])
    library = next(file for file in folder.glob("_native*") if file.suffix in (".so", ".pyd"))
    loader = importlib.machinery.ExtensionFileLoader("_native", str(library))
    native = importlib.util.module_from_spec(importlib.util.spec_from_loader("_native", loader))
    loader.exec_module(native)
    return native.describe_metrics()


HEAD = '''\
"""Metrics as functions of codes [points, units] and factors [points, factors].

Every function returns `Scores`: `float(mig(codes, factors))` is its number, `mig(codes, factors).details` its matrices.
Options of the metric are keyword arguments; those of `Points` say what else is known of the points, and how to score
them. Without `codes_test`, the first two thirds of the points are for training.

Written by tools/python_metrics.py.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from numpy.typing import NDArray

from ._native import evaluate
from ._scores import Scores


class Points(TypedDict, total=False):
    """Keyword arguments that all metrics take."""

    #: Codes and factors that learners are tested on.
    codes_test: NDArray[Any]
    factors_test: NDArray[Any]
    #: Logarithms of the posterior variances of the codes, which are then means.
    log_variance: NDArray[Any]
    #: The most likely class of each categorical unit.
    clusters: NDArray[Any]
    clusters_test: NDArray[Any]
    factor_names: Sequence[str]
    #: `categorical`, `ordered` or `angle`, for each factor.
    factor_kinds: Sequence[str]
    #: A function from factor vectors [n, factors] to codes [n, units], for scores that draw points under interventions,
    #: and the number of values of each factor. Without codes, `samples` training points are drawn from it.
    sampler: Callable[[NDArray[Any]], NDArray[Any]]
    factor_sizes: Sequence[int]
    samples: int
    seed: int
    #: Whether to compute the score on shuffled factors as well: its chance level.
    chance: bool
    #: How often to resample the points for an interval.
    bootstrap: int


def _run(
    name: str,
    codes: NDArray[Any] | None,
    factors: NDArray[Any] | None,
    options: dict[str, Any],
    points: Mapping[str, object],
) -> Scores:
    given = {key: value for key, value in options.items() if value is not None}
    keywords: dict[str, Any] = {"chance": False, **points}
    return evaluate(codes, factors, metrics=[name], options={name: given}, **keywords)
'''

#: What every metric takes.
KEYWORDS = set(re.findall(r"^    (\w+): ", HEAD.split("class Points")[1].split("def _run")[0], flags=re.MULTILINE))


def doc_comment(name):
    """The doc comment of a score's function: up to its errors and examples, without links of Rust."""
    wanted = re.compile(rf"^pub fn {FUNCTIONS.get(name, name)}\b")
    for file in sorted(SCORES.glob("*.rs")):
        lines = file.read_text().splitlines()
        for number, line in enumerate(lines):
            if wanted.match(line):
                first = number
                while lines[first - 1].startswith("///"):
                    first -= 1
                return cleaned(line[4:] if len(line) > 3 else "" for line in lines[first:number])
    raise SystemExit(f"{name}: no function of this name in {SCORES}")


def cleaned(lines):
    kept, is_code = [], False
    for line in lines:
        if line.startswith("```"):
            is_code = not is_code
        if line.startswith("# ") and not is_code:
            break
        kept.append(line)
    text = "\n".join(kept)
    text = re.sub(r"```text\n(.*?)```", lambda match: indented(match.group(1)), text, flags=re.DOTALL)
    text = re.sub(r"```\n.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\[`([^`]+)`\]\([^()]*(\(\))?\)", r"`\1`", text)
    text = re.sub(r"\[`([^`]+)`\]", r"`\1`", text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return text.replace("\\[", "[").replace("\\]", "]").strip()


def indented(formula):
    return "\n" + textwrap.indent(formula.rstrip(), "    ") + "\n"


def annotation(option):
    expected = option["expected"]
    words = re.findall(r'"([^"]+)"', expected)
    if expected.startswith("a whole number"):
        kind = "int"
    elif expected.startswith("a number"):
        kind = "float"
    elif expected == "true or false":
        kind = "bool"
    elif expected.startswith("a list"):
        kind = "Sequence[int]"
    else:
        return f"Literal[{', '.join(map(repr, words))}]"
    return f'{kind} | Literal["none"]' if words else kind


def function(description):
    name = description["name"]
    options = {}
    for option in description["options"]:
        options.setdefault(option["name"], []).append(option)
    parameters, explained, passed = [], [], []
    for key, variants in options.items():
        first = variants[0]
        kinds = list(dict.fromkeys(annotation(variant) for variant in variants))
        conditional = first["only_with"] is not None
        default = None if conditional else first["default"]
        default = tuple(default) if isinstance(default, list) else default
        optional = " | None" if default is None else ""
        parameters.append(f"{key}: {' | '.join(kinds)}{optional} = {default!r}".replace("'", '"'))
        explained.append(f"{key}: {first['meaning']}; {first['expected']}")
        if conditional:
            owners = sorted({f'{variant["only_with"][0]}="{variant["only_with"][1]}"' for variant in variants})
            defaults = {repr(variant["default"]) for variant in variants}
            shown = f", {defaults.pop()} by default" if len(defaults) == 1 else ""
            explained[-1] += f" (only with {' or '.join(owners)}{shown})"
        passed.append(f'"{key}": {f"list({key})" if isinstance(default, tuple) else key}')
    unlabelled = "factors" not in description["needs"]
    head = "codes: NDArray[Any] | None = None, factors: NDArray[Any] | None = None"
    if not description["interventional"]:
        head = "codes: NDArray[Any], factors: NDArray[Any]" + (" | None = None" if unlabelled else "")
    star = "*, " if parameters else ""
    # An option may have the name of a keyword argument that it then hides, which types cannot say.
    rest = "**points: Any" if KEYWORDS & set(options) else "**points: Unpack[Points]"
    signature = f"def {name}({head}, {star}{''.join(p + ', ' for p in parameters)}{rest}) -> Scores:"
    if len(signature) > 110:
        lines = [head, *(["*"] if parameters else []), *parameters, rest]
        body = "".join(f"    {line},\n" for line in lines)
        signature = f"def {name}(\n{body}) -> Scores:"
    text = doc_comment(name)
    keys = ", ".join(f"`{key}`" for key, _ in description["numbers"])
    needs = [need for need in description["needs"] if need not in ("factors", "codes_test")]
    text += f"\n\nGives {keys}."
    if needs:
        text += f" Needs {' and '.join(f'`{need}`' for need in needs)}."
    if description["interventional"]:
        text += " Draws from `sampler` if there is one, else from the rows of the codes."
    if explained:
        text += "\n\nOptions:\n" + "\n".join(f"* {line}" for line in explained)
    wrapped = "\n".join(wrap(line) for line in joined(text.splitlines()))
    raw = "r" if "\\" in wrapped else ""
    docstring = textwrap.indent(f'{raw}"""{wrapped}\n"""', "    ", lambda line: line.strip())
    call = f'    return _run("{name}", codes, factors, {{{", ".join(passed)}}}, points)'
    if len(call) > 116:
        entries = "".join(f"        {entry},\n" for entry in passed)
        call = f'    options = {{\n{entries}    }}\n    return _run("{name}", codes, factors, options, points)'
    return f"{signature}\n{docstring}\n{call}\n"


def joined(lines):
    """Paragraphs and entries of lists as a line each; formulas, which are indented, as they are."""
    result = []
    for line in lines:
        begins = not line or line.startswith(("* ", "    ")) or line == "Options:"
        if begins or not result or not result[-1] or result[-1].startswith("    "):
            result.append(line)
        else:
            result[-1] += " " + line.strip()
    return result


def wrap(line):
    if len(line) <= 116 or line.startswith("    "):
        return line
    indent = "  " if line.startswith("* ") else re.match(r" *", line).group()
    return textwrap.fill(line, 116, subsequent_indent=indent)


def main():
    # How well images are reconstructed is not in codes: only a run can be scored by that.
    metrics = [metric for metric in describe_metrics() if "reconstructions" not in metric["needs"]]
    names = "".join(f'    "{name}",\n' for name in sorted(metric["name"] for metric in metrics))
    text = HEAD + "".join(f"\n\n{function(metric)}" for metric in metrics)
    text += f'\n\n__all__ = [\n    "Points",\n{names}]\n'
    if "--check" in sys.argv[1:]:
        if TARGET.read_text() != text:
            raise SystemExit(f"{TARGET}: out of date; expected what python tools/python_metrics.py writes")
    else:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
