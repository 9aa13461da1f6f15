"""Writes crates/unbraid-metrics/tests/golden/learners.json: NK and the explicitness of DCI-ES on the golden codes, with
scikit-learn's boosted trees and an exhaustive matching in place of ours. scikit-learn breaks ties between equally good
splits at random, so that each number is there for several seeds; their spread is the tolerance of the test.

    python tools/golden_learners.py        (needs numpy and scikit-learn; about five minutes)
"""

import json

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from golden_scores import GOLDEN, best_assignment, histogram_information

TRAIN, TEST = 1500, 700
SEEDS = [0, 1, 2]
DEPTHS = [1, 2, 3, 4, 6, 8, 10, 12]


def accuracy(train, v_train, test, v_test, seed, **parameters):
    model = GradientBoostingClassifier(random_state=seed, **parameters)
    return float(np.mean(model.fit(train, v_train).predict(test) == v_test))


def knocked_out(train, v_train, test, v_test, unit, seed):
    """What 100 stages of depth 3 lose without a unit."""
    whole = accuracy(train, v_train, test, v_test, seed)
    without = accuracy(np.delete(train, unit, axis=1), v_train, np.delete(test, unit, axis=1), v_test, seed)
    return [whole, without]


def explicitness(train, v_train, test, v_test, seed):
    """1 - the area between the falling error and its minimum, in units of the triangle from the error of guessing."""
    errors = [1 - accuracy(train, v_train, test, v_test, seed, n_estimators=10, learning_rate=0.5, max_depth=d)
              for d in DEPTHS]
    values, counts = np.unique(v_train, return_counts=True)
    guess = 1 - np.mean(v_test == values[counts.argmax()])
    errors = np.minimum.accumulate(errors)
    if errors[-1] >= guess:
        return 0.0
    best = int(np.argmin(errors))
    if best == 0:
        return 1.0
    area = np.trapezoid(errors[:best + 1] - errors[-1], DEPTHS[:best + 1])
    return float(1 - area / (0.5 * (DEPTHS[best] - DEPTHS[0]) * (guess - errors[-1])))


def main():
    out = {"train_points": TRAIN, "test_points": TEST}
    for model in ["VAE", "btcvae"]:
        data = np.load(GOLDEN / f"{model}.npz")
        train, test = data["codes_train"][:TRAIN].astype(float), data["codes_test"][:TEST].astype(float)
        v_train, v_test = data["factors_train"][:TRAIN].astype(int), data["factors_test"][:TEST].astype(int)
        units, factors = train.shape[1], v_train.shape[1]
        information = np.array(
            [[histogram_information(train[:, i], v_train[:, k]) for k in range(factors)] for i in range(units)])
        matched = best_assignment(information.T)
        of_seeds = lambda of: [[of(k, seed) for seed in SEEDS] for k in range(factors)]
        out[model] = {
            "nk_units": list(matched),
            "nk_accuracies": of_seeds(lambda k, s: knocked_out(train, v_train[:, k], test, v_test[:, k], matched[k], s)),
            "dci_explicitness": of_seeds(lambda k, s: explicitness(train, v_train[:, k], test, v_test[:, k], s)),
        }
        print(model, out[model])
    (GOLDEN / "learners.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
