"""Runs of a study beside the published runs of disentanglement_lib with the same method and setting, as a table in Markdown.

    unbraid study table dsprites -o results.csv
    python tools/compare_published.py results.csv results_dsprites_full.csv

Each cell is ours, then mean and standard deviation over the published seeds, how many of these deviations lie between, and
how many of the published runs have a lower value. A single run of ours is within two deviations in 19 of 20 cases.
"""
import argparse
import csv
import statistics

# Ours, the published column, and the name in the table.
NUMBERS = [
    ("train/reconstruction", "reconstruction_loss", "reconstruction"),
    ("train/kl", "kl_loss", "KL"),
    ("beta_vae_score", "beta_vae_eval_accuracy", "BetaVAE"),
    ("factor_vae_score", "factor_vae_eval_accuracy", "FactorVAE"),
    ("mig", "mig_discrete_mig", "MIG"),
    ("sap", "sap_score", "SAP"),
    ("dci_disentanglement", "dci_disentanglement", "DCI"),
    ("dci_completeness", "dci_completeness", "completeness"),
    ("dci_informativeness_test", "dci_informativeness_test", "informativeness"),
    ("modularity", "modularity_score", "modularity"),
    ("explicitness", "modularity_explicitness_score_test", "explicitness"),
]

# The setting of each method: our column, and the published method and column.
SETTINGS = {
    "beta-vae": ("objective.beta", "beta_vae", "vae_beta"),
    "annealed-vae": ("objective.capacity.to", "annealed_vae", "annealed_vae_c_max"),
    "factor-vae": ("objective.gamma", "factor_vae", "factor_vae_gamma"),
    "dip-vae-i": ("objective.lambda_od", "dip_vae_i", "dip_vae_lambda_od"),
    "dip-vae-ii": ("objective.lambda_od", "dip_vae_ii", "dip_vae_lambda_od"),
    "beta-tcvae": ("objective.beta", "beta_tc_vae", "beta_tc_vae_beta"),
}


def number(text):
    """`None` for an empty field."""
    return float(text) if text else None


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cell(value, published):
    """Ours, mean ± deviation of the published runs, the distance in deviations, and its place among them."""
    mean, deviation = statistics.mean(published), statistics.stdev(published)
    digits = 1 if mean > 2 else 3
    ours = f"{value:.{digits}f}"
    lower = sum(other < value for other in published)
    distance = (value - mean) / deviation
    return f"{ours} ({mean:.{digits}f} ± {deviation:.{digits}f}, {distance:+.1f}, {lower} of {len(published)})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Runs of a study beside published runs of disentanglement_lib.")
    parser.add_argument("results", help="table of a study")
    parser.add_argument("published", help="published table of the same data set")
    options = parser.parse_args()
    runs = [run for run in rows(options.results) if run["state"] == "done" and run["method"] in SETTINGS]
    all_published = rows(options.published)
    columns = []
    for run in runs:
        setting, method, column = SETTINGS[run["method"]]
        same = [
            row for row in all_published
            if row["model_name"].strip("'") == method and number(row[column]) == number(run[setting])
        ]
        if len(same) < 2:
            raise SystemExit(f"{options.published}: found {len(same)} runs of {method} with {column} = {run[setting]}")
        columns.append((f"{run['method']} {run[setting]}, seed {run['seed']}", run, same))
    print("| |", " | ".join(name for name, _, _ in columns), "|")
    print("|---" * (1 + len(columns)) + "|")
    for key, column, name in NUMBERS:
        published = lambda same: [value for row in same if (value := number(row[column])) is not None]
        cells = [cell(float(run[key]), published(same)) if run.get(key) else "" for _, run, same in columns]
        print(f"| {name} |", " | ".join(cells), "|")
