"""Whether two sets of runs differ in a number, for docs/reproductions.md.

    python tools/compare_seeds.py cluster_accuracy ours.csv theirs.csv --where epochs=30

Prints the mean and the standard deviation of each table's column, the difference of the means with Welch's 95 % confidence
interval, and two p-values: Welch's, and that of the exact permutation test of the difference, which assumes no distribution.

Needs: pip install scipy
"""
import argparse
import csv
import itertools
import statistics

from scipy import stats


def column(path, name, conditions):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for key in [name, *conditions]:
        if not rows or key not in rows[0]:
            raise SystemExit(f"{path}: found no column `{key}`, expected one")
    values = [float(row[name]) for row in rows if all(row[key] == value for key, value in conditions.items())]
    if len(values) < 2:
        raise SystemExit(f"{path}: rows to compare: found {len(values)}, expected at least 2")
    return values


def permutation_p(first, second):
    """The share of all divisions of the numbers into two sets of these sizes whose means differ at least as much."""
    pooled = first + second
    total, size = sum(pooled), len(first)

    def difference(chosen):
        return abs(chosen / size - (total - chosen) / len(second))

    observed = difference(sum(first))
    divisions = [difference(sum(part)) for part in itertools.combinations(pooled, size)]
    # Sums of the same numbers in another order differ in their last bits.
    return sum(value >= observed - 1e-12 for value in divisions) / len(divisions)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Whether two sets of runs differ in a number.")
    parser.add_argument("column")
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--where", nargs="+", default=[], metavar="COLUMN=VALUE", help="only rows with these values")
    options = parser.parse_args()
    conditions = dict(condition.split("=", 1) for condition in options.where)
    first, second = (column(path, options.column, conditions) for path in (options.first, options.second))
    for path, values in ((options.first, first), (options.second, second)):
        print(f"{path}: {len(values)} runs, {statistics.mean(values):.4g} ± {statistics.stdev(values):.3g}, "
              f"median {statistics.median(values):.4g}, {min(values):.4g} to {max(values):.4g}")
    welch = stats.ttest_ind(first, second, equal_var=False)
    low, high = welch.confidence_interval(0.95)
    print(f"difference {statistics.mean(first) - statistics.mean(second):+.3g}, 95 % between {low:+.3g} and {high:+.3g}; "
          f"Welch t = {welch.statistic:.2f}, p = {welch.pvalue:.3f}; permutations p = {permutation_p(first, second):.3f}")
