"""The mean loss of each epoch of several runs, with mean and standard deviation over the runs, for docs/reproductions.md.

    python tools/epoch_losses.py --images 60000 --batch 64 --epochs 10 RUN...

A row of `metrics.jsonl` is a mean over several steps and need not end with an epoch; it is weighted by the share of its steps
in each epoch.
"""
import argparse
import json
import pathlib
import statistics


def epoch_losses(run, steps, epochs):
    """`steps` of an epoch need not be whole."""
    sums, weights, before = [0.0] * epochs, [0.0] * epochs, 0
    with open(pathlib.Path(run) / "metrics.jsonl") as log:
        for row in map(json.loads, log):
            for epoch in range(epochs):
                shared = max(0.0, min(row["step"], (epoch + 1) * steps) - max(before, epoch * steps))
                sums[epoch] += shared * row["train/loss"]
                weights[epoch] += shared
            before = row["step"]
    if before < epochs * steps:
        raise SystemExit(f"{run}: {before} steps are logged, {epochs} epochs have {epochs * steps:g}")
    return [total / weight for total, weight in zip(sums, weights)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The mean loss of each epoch of some runs.")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--images", type=int, required=True, help="images of an epoch")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    table = [epoch_losses(run, options.images / options.batch, options.epochs) for run in options.runs]
    rows = list(zip(options.runs, table))
    if len(table) > 1:
        rows += [(name, [measure(column) for column in zip(*table)])
                 for name, measure in (("mean", statistics.mean), ("deviation", statistics.stdev))]
    for name, losses in rows:
        print(name, *(f"{loss:.2f}" for loss in losses))
