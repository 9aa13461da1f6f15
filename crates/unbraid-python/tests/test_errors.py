"""Wrong calls: each raises the exception that Python has for it, with what was found and what was expected.

Messages are whole; `...` stands for the rest of a long one, and RUN for the directory of the run."""

import os

import numpy as np
import pytest

import unbraid
from conftest import SMALL

CODES = np.random.default_rng(0).normal(size=(30, 3))
FACTORS = np.arange(60).reshape(30, 2) % 5
IMAGES = np.zeros((20, 32, 32, 1), dtype=np.uint8)


def evaluate(*arguments, **options):
    return lambda _: unbraid.evaluate(*arguments, **options)


def train(*arguments, **options):
    return lambda _: unbraid.train(*arguments, progress=False, **options)


def call(method, *arguments, **options):
    return lambda run: getattr(run, method)(*arguments, **options)


class Unreadable:
    def __array__(self, *_):
        raise LookupError("not now")


WRONG = {
    "codes as a list": (evaluate([[0.0]], FACTORS), TypeError, "codes: found list, expected a NumPy array with two axes"),
    "codes of one axis": (
        evaluate(CODES[:, 0], FACTORS), ValueError, "codes: found shape [30], expected two axes, one row for each point",
    ),
    "codes as words": (evaluate(CODES.astype(str), FACTORS), TypeError, "codes: found dtype <U32, expected float32 or float64"),
    "codes that are not finite": (
        evaluate(CODES * np.nan, FACTORS), ValueError,
        "codes: found NaN in row 0, column 0, expected finite numbers of magnitude at most 1e60",
    ),
    "codes that cannot be read": (evaluate(Unreadable(), FACTORS), LookupError, "not now"),
    "no codes": (evaluate(), TypeError, "codes: found None, expected an array of codes, or sampler="),
    "one row": (evaluate(CODES[:1], FACTORS[:1]), ValueError, "codes: found 1 row, expected at least 2"),
    "other rows": (evaluate(CODES, FACTORS[:20]), ValueError, "factors: found 20 rows, expected 30, the number of rows of codes"),
    "factors as words": (
        evaluate(CODES, FACTORS.astype(str)), TypeError, "factors: found dtype <U21, expected whole or real numbers",
    ),
    "test factors missing": (
        evaluate(CODES, FACTORS, codes_test=CODES), TypeError, "factors_test: found None, expected the factors of codes_test",
    ),
    "an unknown metric": (
        evaluate(CODES, FACTORS, metrics=["modularitty"]), ValueError,
        "unknown metric `modularitty`\nhint: did you mean `modularity`?",
    ),
    "an unknown option": (
        evaluate(CODES, FACTORS, options={"mig": {"bin": 3}}), ValueError,
        "mig.bin: unknown option of the metric `mig`\nhint: did you mean `bins`?",
    ),
    "an option out of range": (
        lambda _: unbraid.metrics.mig(CODES, FACTORS, bins=1), ValueError,
        "mig.bins: found 1, expected a whole number, 2 to 65536",
    ),
    "an option of another type": (
        lambda _: unbraid.metrics.mig(CODES, FACTORS, bins="many"), ValueError,
        'mig.bins: found "many", expected a whole number, 2 to 65536',
    ),
    "options that are no dict": (
        evaluate(CODES, FACTORS, options={"mig": 3}), TypeError, 'options["mig"]: found 3, expected a dict of options',
    ),
    "a metric without what it needs": (
        evaluate(CODES, metrics=["mig"]), ValueError, "metric `mig` needs factors, which the codes do not have",
    ),
    "an unknown kind of factor": (
        evaluate(CODES, FACTORS, factor_kinds=["angle", "round"]), ValueError,
        'factor_kinds: found "round", expected categorical, ordered or angle',
    ),
    "too few resamples": (evaluate(CODES, FACTORS, bootstrap=3), ValueError, "bootstrap: found 3, expected 0, or 20 or more"),
    "a sampler without sizes": (
        evaluate(sampler=lambda factors: factors), TypeError,
        "factor_sizes: found None, expected the number of values of each factor",
    ),
    "a sampler that is none": (
        evaluate(sampler=3, factor_sizes=[2]), TypeError, "sampler: found int, expected a function from factor vectors to codes",
    ),
    "a seed below zero": (evaluate(CODES, FACTORS, seed=-1), ValueError, "seed: found -1, expected a whole number, 0 or more"),
    "images of another type": (
        train(IMAGES.astype(np.float64)), TypeError, "data: found dtype float64, expected uint8, or float32 from 0 to 1",
    ),
    "floats beyond 1": (
        train(np.full((9, 32, 32, 1), 255, dtype=np.float32)), ValueError,
        "data: found a value of 255, expected float32 from 0 to 1",
    ),
    "images of five channels": (
        train(np.zeros((9, 32, 32, 5), dtype=np.uint8)), ValueError,
        "data: found shape [9, 32, 32, 5], expected (n, height, width, channels) with 1 or 3 channels...",
    ),
    "an ambiguous shape": (
        train(np.zeros((9, 3, 32, 3), dtype=np.uint8)), ValueError,
        'data: found shape [9, 3, 32, 3], expected layout="NHWC" or layout="NCHW" to say which',
    ),
    "an unknown layout": (
        train(IMAGES, layout="HCWN"), ValueError, 'layout: found "HCWN", expected one of NHWC, NCHW, NHW, HWC, CHW, HW',
    ),
    "no images": (
        train(IMAGES[:0]), ValueError, "data: found shape [0, 32, 32, 1], expected at least one image of at least one pixel",
    ),
    "factors of other images": (
        train(IMAGES, factors=FACTORS), ValueError, "factors: found 30 rows, expected 20, one for each image",
    ),
    "factors beside a name": (
        train(SMALL, factors=FACTORS), TypeError,
        "factors: found it beside a named data set, expected it only beside an array of images",
    ),
    "data that is a number": (
        train(3), TypeError, "data: found int, expected the name or path of a data set, a loaded one, or an array of images",
    ),
    "an unknown data set": (train("shappes"), ValueError, "unknown data set `shappes`\nhint: did you mean `shapes`?"),
    "a missing folder": (train("no/such/folder"), FileNotFoundError, "no/such/folder: cannot open: ..."),
    "an unknown objective": (
        train(SMALL, objective="betavae"), ValueError,
        "configuration: objective.name: unknown value `betavae`\nhint: did you mean `beta-vae`?",
    ),
    "an unknown weight": (
        train(SMALL, objective="beta-vae", bta=3), ValueError,
        "configuration: objective: unknown key `bta`\nhint: did you mean `beta`?\n...",
    ),
    "an unknown key": (
        train(SMALL, set={"trainng.steps": 3}), ValueError,
        "configuration: unknown key `trainng`\nhint: did you mean `training`?",
    ),
    "a batch that is too large": (
        train(IMAGES, batch_size=64), ValueError,
        "configuration: training.batch_size: found 64, expected at most 20, the number of images of `array`",
    ),
    "resuming nothing": (
        train(out="no-such-run", resume=True), FileNotFoundError, "no-such-run: nothing to resume: there is no run here",
    ),
    "a progress that is none": (
        lambda _: unbraid.train(SMALL, progress=3), TypeError, "progress: found int, expected True, False or a function",
    ),
    "an unknown device": (train(SMALL, device="abacus"), ValueError, "device: found `abacus`, expected `cpu`, ..."),
    "no run": (lambda _: unbraid.Run("no-such-run"), FileNotFoundError, "no-such-run: not a run: no such directory"),
    "no checkpoint": (
        lambda run: unbraid.Run(run.path, step=7), FileNotFoundError,
        "RUN/checkpoints/step-0000007.safetensors: no such checkpoint; the run kept only the last one",
    ),
    "images of another size": (
        call("encode", IMAGES), ValueError,
        "images: found shape [20, 32, 32, 1], expected images of 64 x 64 x 1 (height x width x channels), those of the run",
    ),
    "images as a list": (call("encode", [[1.0]]), TypeError, "images: found list, expected a NumPy array of images"),
    "latents of another width": (
        call("decode", np.zeros((2, 3))), ValueError,
        "latents: found shape [2, 3], expected (n, 10), a column for each unit, and for each class of a categorical one",
    ),
    "latents of three axes": (
        call("decode", np.zeros((2, 3, 1))), ValueError, "latents: found shape [2, 3, 1], expected (n, 10), a column for each...",
    ),
    "latents as words": (
        call("decode", np.array([["high"]])), TypeError, "latents: found dtype <U4, expected float32 or float64",
    ),
    "an unknown unit": (call("traverse", unit="azimuth"), ValueError, "unit `azimuth`: no such unit; expected its number, ..."),
    "a unit out of range": (
        call("traverse", unit=10), ValueError, "unit 10: no such unit; RUN has 10 continuous units, 0 to 9",
    ),
    "a unit that is a float": (
        call("traverse", unit=1.5), TypeError, "unit: found float, expected the number or the name of a unit",
    ),
    "a value that is a word": (
        call("edit", np.zeros((64, 64, 1), dtype=np.uint8), {0: "high"}), TypeError, "units: found the value high, expected numbers",
    ),
    "an unknown format": (
        call("export", "tflite", "model"), ValueError, 'format: found "tflite", expected onnx, safetensors or hub',
    ),
    "a licence without a card": (
        call("export", "onnx", "model", licence="mit"), ValueError,
        "licence: found it without a model card, expected it only with the format hub",
    ),
    "no model": (lambda _: unbraid.import_model("no-such.pt", out="run"), FileNotFoundError, "no-such.pt: cannot read it: ..."),
    "data of a model that is a number": (
        lambda _: unbraid.import_model("no-such.pt", out="run", data=3), TypeError,
        "data: found int, expected the name or path of a data set, or a loaded one",
    ),
    "no study": (
        lambda _: unbraid.study("no-such-study"), FileNotFoundError,
        "no-such-study: found nothing, expected the directory of a study",
    ),
    "no threads": (lambda _: unbraid.set_num_threads(0), ValueError, "threads: found 0, expected 1 to 1024"),
    "an image out of range": (
        lambda _: unbraid.datasets.load(SMALL).images[192], IndexError, "index 192 is out of bounds for axis 0 with size 192",
    ),
    "an index out of range": (
        lambda _: unbraid.datasets.load(SMALL).read(np.array([192])), IndexError, "indices: found 192, expected 0 to 191",
    ),
    "indices that are floats": (
        lambda _: unbraid.datasets.load(SMALL).read(np.zeros(2)), TypeError,
        "indices: found dtype float64, expected whole numbers",
    ),
    "indices as a list": (
        lambda _: unbraid.datasets.load(SMALL).read([1, 2]), TypeError,
        "indices: found list, expected a NumPy array with one axis",
    ),
    "indices of two axes": (
        lambda _: unbraid.datasets.load(SMALL).read(np.zeros((2, 1), dtype=int)), ValueError,
        "indices: found shape [2, 1], expected one axis",
    ),
    "an option of no data set": (
        lambda _: unbraid.datasets.load("shapes", positons=4), ValueError,
        "data set `shapes` has no option `positons`\nhint: did you mean `positions`?",
    ),
    "an unknown factor": (
        lambda _: unbraid.datasets.load(SMALL).sample(3, fixed="colour"), ValueError,
        "fixed: found colour, expected one of shape, x, y",
    ),
    "an unknown factor of pairs": (
        lambda _: unbraid.datasets.load(SMALL).pairs(3, 3), ValueError, "factor: found 3, expected one of shape, x, y",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_raises(name, trained, tmp_path, monkeypatch):
    function, exception, message = WRONG[name]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(exception) as raised:
        function(trained)
    found = str(raised.value)
    beginning, goes_on, _ = message.replace("RUN", str(trained.path)).partition("...")
    assert (found[: len(beginning)] if goes_on else found) == beginning
    # Nothing is left behind.
    assert os.listdir(tmp_path) == []
