"""What a call from Python costs: scores beside those of the command, and arrays that are borrowed beside those that are copied.

    python tools/bench_python.py RUN [CODES.npz]

RUN is a trained run of images, CODES.npz a file for `unbraid evaluate --codes`. The package must be installed. The command and
the function are timed in turns, each on the whole machine.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import unbraid

CODES = Path(__file__).resolve().parent.parent / "crates/unbraid-metrics/tests/golden/VAE.npz"
ROUNDS = 5


def seconds(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def describe(times):
    return f"median {statistics.median(times):.3f} s, {min(times):.3f} to {max(times):.3f}"


def bench_scores(file):
    arrays = dict(np.load(file))
    print(f"{file.name}: " + ", ".join(f"{name} {list(array.shape)} {array.dtype}" for name, array in arrays.items()))
    command = ["unbraid", "evaluate", "--codes", str(file), "--format", "json", "--quiet"]
    of_command, of_function, start = [], [], []
    for _ in range(ROUNDS):
        elapsed, done = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
        of_command.append(elapsed)
        elapsed, scores = seconds(
            lambda: unbraid.evaluate(
                arrays["codes_train"],
                arrays["factors_train"],
                codes_test=arrays["codes_test"],
                factors_test=arrays["factors_test"],
                log_variance=arrays["log_variance_train"],
                factor_names=arrays["factor_names"].tolist(),
            )
        )
        of_function.append(elapsed)
        start.append(seconds(lambda: subprocess.run(["unbraid", "--version"], check=True, capture_output=True))[0])
    expected = json.loads(done.stdout)
    differing = [name for name, value in scores.items() if expected.get(name, value) != value]
    print(f"unbraid evaluate    {describe(of_command)}")
    print(f"unbraid.evaluate    {describe(of_function)}")
    print(f"starting a command  {describe(start)}")
    print(f"scores that differ  {differing or 'none'} of {len(scores)}")


def bench_arrays(run):
    height, width, channels = run.image_shape
    images = np.random.default_rng(0).integers(0, 256, size=(20_000, height, width, channels), dtype=np.uint8)
    # The same values in another order of memory, which must be copied.
    turned = np.asfortranarray(images)
    for count, repeats in [(1, 200), (64, 100), (len(images), 3)]:
        borrowed, copied = [], []
        for _ in range(repeats):
            borrowed.append(seconds(lambda: run.encode(images[:count]))[0])
            copied.append(seconds(lambda: run.encode(turned[:count]))[0])
        borrowed, copied = (1e6 * statistics.median(times) for times in (borrowed, copied))
        print(f"encode {count:>6} images: borrowed {borrowed:>12,.0f} us, copied {copied:>12,.0f} us")
    calls = 100_000
    elapsed, _ = seconds(lambda: [unbraid.get_num_threads() for _ in range(calls)])
    print(f"a call without arguments: {1e9 * elapsed / calls:.0f} ns")


if __name__ == "__main__":
    bench_scores(Path(sys.argv[2]) if len(sys.argv) > 2 else CODES)
    bench_arrays(unbraid.Run(sys.argv[1]))
