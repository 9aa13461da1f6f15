"""Writes crates/unbraid-metrics/tests/golden/by_definition.json: MCC, MED, InfoM, InfoC, InfoE, SNC and nearest-neighbour mutual
information of the golden codes, and boosted regression trees on a small problem, each straight from its definition and
in double precision. Nothing here is shared with the Rust implementation: matchings are searched exhaustively, neighbours
by sorting all distances, splits by trying every threshold.

    python tools/golden_scores.py        (needs numpy and torch)
"""

import itertools
import json
import math
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parent.parent / "crates/unbraid-metrics/tests/golden"
# The first points of each sample: searching all pairs of 10,000 points takes hours.
TRAIN, TEST = 1500, 700


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -np.sum(shares * np.log(shares))


def histogram_information(z, labels, bins=20):
    binned = np.digitize(z, np.histogram(z, bins)[1][:-1])
    return entropy(binned) + entropy(labels) - entropy(binned * 1000 + labels)


def psi(n):
    """At whole numbers."""
    return -0.57721566490153286 + sum(1 / i for i in range(1, n))


def ross(z, labels, k):
    distances = np.abs(z[:, None] - z[None, :])
    counts = {label: np.sum(labels == label) for label in np.unique(labels)}
    used = np.array([counts[label] > 1 for label in labels])
    total = used.sum()
    terms = []
    for i in np.flatnonzero(used):
        same = np.sort(distances[i, (labels == labels[i]) & (np.arange(len(z)) != i)])
        neighbours = min(k, counts[labels[i]] - 1)
        radius = same[neighbours - 1]
        inside = distances[i] < radius if radius > 0 else distances[i] == 0
        # Without ties, `neighbours` points of the class are inside.
        in_class, in_all = np.sum(inside & (labels == labels[i])), np.sum(inside & used)
        terms.append(psi(int(in_class)) - psi(counts[labels[i]]) - psi(int(in_all)))
    return max(0.0, psi(int(total)) + np.mean(terms))


def kraskov(x, y, k):
    x, y = x / x.std(), y / y.std()
    dx, dy = np.abs(x[:, None] - x[None, :]), np.abs(y[:, None] - y[None, :])
    both = np.maximum(dx, dy)
    np.fill_diagonal(both, np.inf)
    radius = np.sort(both, axis=1)[:, k - 1]
    inside = lambda d: [psi(int(n)) for n in (d < radius[:, None]).sum(axis=1)]
    return max(0.0, psi(len(x)) + psi(k) - np.mean(inside(dx)) - np.mean(inside(dy)))


def best_assignment(gains):
    """Rows of `gains` get different columns, for the largest sum."""
    rows, columns = gains.shape
    return max(itertools.permutations(range(columns), rows), key=lambda p: sum(gains[i, c] for i, c in enumerate(p)))


def ranks(values):
    order = {v: np.flatnonzero(np.sort(values) == v).mean() for v in np.unique(values)}
    return np.array([order[v] for v in values])


def mcc(codes, factors, transform):
    z = np.stack([transform(c) for c in codes.T])
    v = np.stack([transform(f.astype(float)) for f in factors.T])
    gains = np.abs([[np.corrcoef(a, b)[0, 1] for a in z] for b in v])
    return float(np.mean([gains[i, c] for i, c in enumerate(best_assignment(gains))]))


def disentanglement(importance):
    shares = importance + 1e-11
    shares = shares / shares.sum(axis=1, keepdims=True)
    per_unit = 1 + (shares * np.log(shares)).sum(axis=1) / math.log(importance.shape[1])
    return per_unit, float((per_unit * importance.sum(axis=1)).sum() / importance.sum())


def top_k(importance, k):
    per_unit, _ = disentanglement(importance)
    kept = []
    for factor in range(importance.shape[1]):
        own = [u for u in range(len(per_unit)) if importance[u].argmax() == factor]
        kept += sorted(own, key=lambda u: -per_unit[u])[:k]
    return sorted(kept)


def dominance(matrix):
    """Of the rows."""
    least = 1 / matrix.shape[1]
    return float((np.mean(matrix.max(axis=1) / matrix.sum(axis=1)) - least) / (1 - least))


def log_probabilities(x, labels, points):
    """Logistic regression with the penalty |W|^2 / 2 on the summed loss, minimised to the end."""
    import torch  # here, since the other functions need numpy only

    classes, y = np.unique(labels, return_inverse=True)
    x, y, points = torch.tensor(x), torch.tensor(y), torch.tensor(points)
    # Two classes share one score in scikit-learn's definition; the penalty then is on one vector.
    rows = 1 if len(classes) == 2 else len(classes)
    w = torch.zeros(rows, x.shape[1], dtype=torch.double, requires_grad=True)
    b = torch.zeros(rows, dtype=torch.double, requires_grad=True)

    def scores(x):
        s = x @ w.T + b
        return torch.cat([torch.zeros_like(s), s], dim=1) if rows == 1 else s

    optimiser = torch.optim.LBFGS(
        [w, b], max_iter=3000, tolerance_grad=1e-10, tolerance_change=1e-14, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(scores(x), y, reduction="sum") + (w**2).sum() / 2
        loss.backward()
        return loss

    optimiser.step(closure)
    return classes, torch.log_softmax(scores(points), dim=1).detach().numpy()


def infoe(train, v_train, test, v_test):
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    parts = []
    for k in range(v_train.shape[1]):
        classes, logs = log_probabilities((train - mean) / deviation, v_train[:, k], (test - mean) / deviation)
        shares = {c: np.mean(v_train[:, k] == c) for c in classes}
        place = {c: i for i, c in enumerate(classes)}
        surprise = -sum(logs[i, place[c]] for i, c in enumerate(v_test[:, k]))
        prior = -sum(math.log(shares[c]) for c in v_test[:, k])
        parts.append((prior - surprise) / prior)
    return float(np.mean(parts))


def snc(train, v_train, test, v_test, information):
    units = best_assignment(information.T)
    accuracies = []
    for k, unit in enumerate(units):
        classes = np.unique(v_train[:, k])
        count = len(classes)
        edges = np.sort(train[:, unit])[[b * len(train) // count for b in range(1, count)]]
        bins = lambda z: (z[:, None] >= edges[None, :]).sum(axis=1)
        counts = np.array([[np.sum((bins(train[:, unit]) == b) & (v_train[:, k] == c)) for c in classes] for b in range(count)])
        label = classes[list(auction(counts))]
        accuracies.append(float(np.mean(label[bins(test[:, unit])] == v_test[:, k])))
    return accuracies


def auction(counts):
    """A best assignment by Bertsekas' auction, exact for whole numbers with a step below 1/n; unique optimum or not, only
    the sum is unique, so ties are broken towards accuracy by nobody."""
    n = len(counts)
    prices, owner, todo = np.zeros(n), [-1] * n, list(range(n))
    assigned = [-1] * n
    while todo:
        row = todo.pop()
        gains = counts[row] - prices
        best = int(gains.argmax())
        second = np.sort(gains)[-2] if n > 1 else gains[best]
        prices[best] += gains[best] - second + 1 / (n + 1)
        if owner[best] >= 0:
            todo.append(owner[best])
        owner[best], assigned[row] = row, best
    return assigned


def friedman_tree(x, residual, depth):
    """Nested (feature, threshold, left, right) or a number, and the improvement of each feature."""
    n = len(residual)
    improvements = np.zeros(x.shape[1])
    best = None
    if depth > 0 and n > 1 and residual.var() > 1e-16:
        for feature in range(x.shape[1]):
            values = np.unique(x[:, feature])
            for low, high in zip(values, values[1:]):
                left = x[:, feature] <= low
                a, b = left.sum(), n - left.sum()
                gain = a * b / n * (residual[left].mean() - residual[~left].mean()) ** 2
                # Which of two equally good splits is taken is nobody's definition: this problem has none.
                assert best is None or abs(gain - best[0]) > 1e-9 * best[0]
                if best is None or gain > best[0]:
                    best = (gain, feature, (low + high) / 2, left)
    if best is None:
        return residual.mean(), improvements
    gain, feature, threshold, left = best
    improvements[feature] += gain
    l, il = friedman_tree(x[left], residual[left], depth - 1)
    r, ir = friedman_tree(x[~left], residual[~left], depth - 1)
    return (feature, threshold, l, r), improvements + il + ir


def leaf(tree, row):
    while isinstance(tree, tuple):
        tree = tree[2] if row[tree[0]] <= tree[1] else tree[3]
    return tree


def boosted(x, y, points, stages, rate, depth):
    found, predicted = np.full(len(y), y.mean()), np.full(len(points), y.mean())
    importance = np.zeros(x.shape[1])
    for _ in range(stages):
        tree, improvements = friedman_tree(x, y - found, depth)
        importance += improvements
        found += rate * np.array([leaf(tree, row) for row in x])
        predicted += rate * np.array([leaf(tree, row) for row in points])
    return importance / importance.sum(), predicted


def main():
    out = {"train_points": TRAIN, "test_points": TEST}
    for model in ["VAE", "btcvae"]:
        data = np.load(GOLDEN / f"{model}.npz")
        train, test = data["codes_train"][:TRAIN].astype(float), data["codes_test"][:TEST].astype(float)
        v_train, v_test = data["factors_train"][:TRAIN].astype(int), data["factors_test"][:TEST].astype(int)
        units, factors = train.shape[1], v_train.shape[1]
        information = np.array(
            [[histogram_information(train[:, i], v_train[:, k]) for k in range(factors)] for i in range(units)])
        entropies = np.array([entropy(v_train[:, k]) for k in range(factors)])
        importance = information / information.sum(axis=0)
        neighbours = np.array([[ross(train[:, i], v_train[:, k], 10) for k in range(factors)] for i in range(units)])
        nmi = neighbours / entropies
        ranges = train.max(axis=0) - train.min(axis=0)
        pruned = nmi[ranges > ranges.max() / 20]
        gaps = np.sort(neighbours, axis=0)
        out[model] = {
            "mcc_pearson": mcc(train, v_train, lambda x: x),
            "mcc_spearman": mcc(train, v_train, ranks),
            "med": disentanglement(importance)[1],
            "med_top_1": disentanglement(importance[top_k(importance, 1)])[1],
            "med_top_2": disentanglement(importance[top_k(importance, 2)])[1],
            "information_by_neighbours": neighbours.tolist(),
            "mig_by_neighbours": float(np.mean((gaps[-1] - gaps[-2]) / entropies)),
            "infom": dominance(pruned),
            "infoc": dominance(pruned.T),
            "infoe": infoe(train, v_train, test, v_test),
            "snc_per_factor": snc(train, v_train, test, v_test, information),
            # Two units against each other: two continuous variables.
            "kraskov": [[0, 1, kraskov(train[:, 0], train[:, 1], 3)], [2, 7, kraskov(train[:, 2], train[:, 7], 3)]],
        }
        print(model, {key: value for key, value in out[model].items() if isinstance(value, float)})
    random = np.random.default_rng(5)
    x, points = np.round(random.normal(size=(80, 3)), 3), np.round(random.normal(size=(20, 3)), 3)
    y = np.round(np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] + 0.1 * random.normal(size=80), 3)
    importance, predicted = boosted(x, y, points, stages=12, rate=0.1, depth=2)
    out["regression"] = {
        "x": x.tolist(), "y": y.tolist(), "points": points.tolist(), "stages": 12, "learning_rate": 0.1, "max_depth": 2,
        "importances": importance.tolist(), "predicted": predicted.tolist()}
    (GOLDEN / "by_definition.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
