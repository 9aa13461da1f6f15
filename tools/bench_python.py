"""The cost of calls from Python: scores compared with the command, calls that do almost nothing, borrowed and copied arrays,
and the memory of training on an array.

    python tools/bench_python.py RUN [CODES.npz]

RUN is a trained run of images, CODES.npz a file for `unbraid evaluate --codes`. The package must be installed. The command and
the function are timed in alternation, each on the whole machine. Training needs 1.3 GB of memory, and Linux for its peak.
"""

import json
import statistics
import subprocess
import sys
import tempfile
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


def microseconds(call, repeats):
    return 1e6 * statistics.median(seconds(call)[0] for _ in range(repeats))


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
    differing = [name for name, value in scores.items() if expected[name] != value]
    print(f"unbraid evaluate    {describe(of_command)}")
    print(f"unbraid.evaluate    {describe(of_function)}")
    print(f"starting a command  {describe(start)}")
    print(f"scores that differ  {differing or 'none'} of {len(scores)}")


def bench_calls(run):
    """Calls that compute nothing, or nothing to speak of."""
    calls = 100_000
    elapsed, _ = seconds(lambda: [unbraid.get_num_threads() for _ in range(calls)])
    print(f"a call without arguments:                   {1e6 * elapsed / calls:>8.2f} us")
    nothing = np.zeros((0, run.n_units + sum(run.categorical_units)), dtype=np.float32)
    print(f"decode without rows:                        {microseconds(lambda: run.decode(nothing), 1000):>8.1f} us")
    image = np.zeros((1, 8, 8, 1), dtype=np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        smallest = unbraid.train(
            image, out=Path(folder) / "run", n_units=1, steps=1, batch_size=1, evaluate=False, report=False, progress=False,
            set={"model.architecture": "linear"},
        )
        elapsed = microseconds(lambda: smallest.encode(image), 1000)
    print(f"encode one borrowed image, 64 x 2 products: {elapsed:>8.1f} us")


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


def peak():
    """The largest memory that this process has had, in MiB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def train_on_array(out):
    """Prints the size of an array and the peak memory before and after training on it, in MiB."""
    images = np.full((100_000, 64, 64, 3), 7, dtype=np.uint8)
    images[:, ::3] = 200
    before = peak()
    conv = {"model.architecture": "conv"}
    unbraid.train(images, out=out, steps=20, set=conv, evaluate=False, report=False, progress=False)
    print(images.nbytes / 2**20, before, peak())


def bench_memory():
    """In a process of its own, whose peak is then that of the array and training alone."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--train-on-array", str(Path(folder) / "run")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    size, before, after = map(float, done.stdout.split())
    print(
        f"training conv on 100,000 images of 64 x 64 x 3, {size:,.0f} MiB: "
        f"peak {before:,.0f} MiB before, {after:,.0f} MiB after, {after - before:,.0f} more"
    )


if __name__ == "__main__":
    if sys.argv[1] == "--train-on-array":
        train_on_array(sys.argv[2])
    else:
        run = unbraid.Run(sys.argv[1])
        bench_scores(Path(sys.argv[2]) if len(sys.argv) > 2 else CODES)
        bench_calls(run)
        bench_arrays(run)
        bench_memory()
