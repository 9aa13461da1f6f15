"""Which factors have a unit of their own in trained runs: the count in docs/presets.md.

For every unit and factor, R² is the share of the variance of the unit's posterior means that the values of the factor explain,
adjusted for their number: the R² next to the sliders of a run's page. A factor is separated if a unit with a KL divergence of at
least 0.3 nats has an R² of at least 0.7 for it, and of at most 0.15 for every other factor.

    python tools/separated_factors.py runs/seed-0 runs/seed-1 ...

Needs: pip install numpy
"""
import json
import sys
from pathlib import Path

import numpy as np

LEAST_KL, LEAST, MOST_OF_OTHERS = 0.3, 0.7, 0.15


def explained(means, values):
    """R² of some means on a factor, whose values are categories."""
    classes, counts = np.unique(values, return_counts=True)
    groups = np.array([means[values == value].mean() for value in classes])
    total = ((means - means.mean()) ** 2).sum()
    if total <= 0:
        return 0.0
    share = (counts * (groups - means.mean()) ** 2).sum() / total
    return max(0.0, 1 - (1 - share) * (len(means) - 1) / (len(means) - len(classes)))


def read(run):
    """Codes, factors, their names, and the KL divergence of each unit at the end of training."""
    arrays = np.load(run / "codes.npz")
    end = "" if "codes" in arrays else "_train"
    codes, factors = arrays["codes" + end].astype(float), arrays["factors" + end].astype(int)
    names = arrays["factor_names"] if "factor_names" in arrays else range(factors.shape[1])
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    divergences = [last[f"train/kl_unit/{unit}"] for unit in range(codes.shape[1])]
    return codes, factors, [str(name) for name in names], np.array(divergences)


def main():
    for run in map(Path, sys.argv[1:]):
        codes, factors, names, divergences = read(run)
        print(f"{run}\nunit     KL" + "".join(f"{name:>13}" for name in names))
        separated = set()
        for unit in np.argsort(-divergences):
            shares = np.array([explained(codes[:, unit], column) for column in factors.T])
            first, second = np.sort(shares)[::-1][:2]
            own = divergences[unit] >= LEAST_KL and first >= LEAST and second <= MOST_OF_OTHERS
            if own:
                separated.add(names[shares.argmax()])
            mark = f"  {names[shares.argmax()]}" if own else ""
            print(f"{unit:4} {divergences[unit]:6.2f}" + "".join(f"{share:13.2f}" for share in shares) + mark)
        print(f"{len(separated)} of {len(names)} factors separated\n")


if __name__ == "__main__":
    main()
