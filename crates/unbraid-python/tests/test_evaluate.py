"""Scores of arrays, which are those of the command to the bit."""

import inspect
import json
import math

import numpy as np
import pytest

import unbraid


def of_command(command, tmp_path, *arguments, **arrays):
    np.savez(tmp_path / "codes.npz", **arrays)
    return json.loads(command("evaluate", "--codes", tmp_path / "codes.npz", "--format", "json", "--quiet", *arguments))


def assert_same(scores, printed):
    """Every number, chance level and matrix."""
    parts = {"details", "chance", "notes", "undefined", "majority", "interval"}
    numbers = {key: math.nan if value is None else value for key, value in printed.items() if key not in parts}
    assert list(scores) == list(numbers)
    for key, value in numbers.items():
        assert scores[key] == value or (math.isnan(value) and math.isnan(scores[key])), key
    assert scores.chance == printed.get("chance", {})
    assert scores.interval == {key: tuple(pair) for key, pair in printed.get("interval", {}).items()}
    assert set(scores.details) == set(printed["details"])
    for key, value in printed["details"].items():
        expected = np.array(value, dtype=float)
        assert np.array_equal(scores.details[key], expected, equal_nan=True), key


#: Those that take a second together.
QUICK = ["beta_vae_score", "mig", "modularity", "sap_continuous", "irs", "hoyer", "gaussian_total_correlation"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_command_gives_the_same_to_the_bit(command, tmp_path, points, dtype):
    codes, factors = points[0].astype(dtype), points[1]
    printed = of_command(command, tmp_path, "--metrics", ",".join(QUICK), codes=codes, factors=factors)
    assert_same(unbraid.evaluate(codes, factors, metrics=QUICK), printed)


def test_all_default_scores_are_those_of_the_command(command, tmp_path, points):
    codes, factors = points[0][:150], points[1][:150]
    printed = of_command(command, tmp_path, "--no-chance", codes=codes, factors=factors)
    assert_same(unbraid.evaluate(codes, factors, chance=False), printed)


def test_test_points_seeds_and_intervals_are_those_of_the_command(command, tmp_path, points):
    codes, factors = points
    arrays = {
        "codes_train": codes[:300],
        "factors_train": factors[:300],
        "codes_test": codes[300:],
        "factors_test": factors[300:],
        "log_variance_train": np.full((300, 4), -2.0),
        "factor_names": np.array(["a", "b", "c"]),
        "factor_kinds": np.array(["categorical", "ordered", "angle"]),
    }
    metrics = ["mig", "rmig", "kl", "sap_kumar", "mcc"]
    names = ",".join(metrics)
    printed = of_command(command, tmp_path, "--metrics", names, "--seed", "7", "--bootstrap", "20", **arrays)
    scores = unbraid.evaluate(
        codes[:300],
        factors[:300],
        codes_test=codes[300:],
        factors_test=factors[300:],
        log_variance=np.full((300, 4), -2.0),
        factor_names=["a", "b", "c"],
        factor_kinds=["categorical", "ordered", "angle"],
        metrics=metrics,
        seed=7,
        bootstrap=20,
    )
    assert_same(scores, printed)
    assert scores.factor_names == ["a", "b", "c"]


def test_real_factors_are_those_of_the_command(command, tmp_path, points):
    codes, factors = points[0], points[1] + 0.25
    printed = of_command(command, tmp_path, "--metrics", "mig,sap_continuous", codes=codes, factors=factors)
    assert_same(unbraid.evaluate(codes, factors, metrics=["mig", "sap_continuous"]), printed)


def test_options_of_a_metric_are_keyword_arguments(command, tmp_path, points):
    codes, factors = points
    printed = of_command(
        command, tmp_path, "--metrics", "sap", "--set", "sap.predictor=threshold", "--no-chance", codes=codes, factors=factors
    )
    assert_same(unbraid.metrics.sap(codes, factors, predictor="threshold"), printed)
    coarse = unbraid.metrics.mig(codes, factors, bins=2)
    assert float(coarse) == unbraid.evaluate(codes, factors, metrics=["mig"], options={"mig": {"bins": 2}})["mig"]
    assert coarse.parameters["mig"]["bins"] == 2


def test_codes_that_are_factors_have_a_mutual_information_of_their_entropy():
    factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 6)
    scores = unbraid.metrics.mig(factors.astype(float), factors)
    assert float(scores) == pytest.approx(1.0, abs=1e-12)
    # One bit, in nats, for each factor and its own unit.
    expected = np.log(2) * np.eye(2)
    assert scores.details["mutual_information"] == pytest.approx(expected, abs=1e-12)


def test_every_metric_has_a_function_with_its_options():
    for description in unbraid._native.describe_metrics():
        name = description["name"]
        if "reconstructions" in description["needs"]:
            assert not hasattr(unbraid.metrics, name)
            continue
        function = getattr(unbraid.metrics, name)
        parameters = inspect.signature(function).parameters
        options = {option["name"]: option for option in description["options"]}
        assert set(parameters) - {"codes", "factors", "points"} == set(options), name
        for key, option in options.items():
            if option["only_with"] is None:
                default = parameters[key].default
                assert (list(default) if isinstance(default, tuple) else default) == option["default"], (name, key)
        assert "Range:" in function.__doc__ and "```" not in function.__doc__, name
        # The divergence of two Gaussians is in every textbook.
        assert "Reference:" in function.__doc__ or name == "kl", name


def test_scores_show_themselves(points):
    scores = unbraid.evaluate(*points, metrics=["mig", "hoyer"])
    assert dict(scores) == {"mig": scores["mig"], "hoyer": scores["hoyer"]}
    assert "mig" in repr(scores) and "higher is better" in repr(scores)
    html = scores._repr_html_()
    assert html.startswith("<table>") and f"{scores['mig']:.4f}" in html and f"{scores.chance['mig']:.4f}" in html
    with pytest.raises(KeyError, match="there are mig, hoyer"):
        scores["sap"]


def test_a_score_that_is_undefined_is_not_a_number(points):
    scores = unbraid.evaluate(points[0], points[1][:, :1], metrics=["modularity"])
    assert math.isnan(scores["modularity"])
    assert scores.undefined == {"modularity": "compares factors, and only one varies"}


def test_the_number_of_threads_changes_nothing(points):
    before = unbraid.get_num_threads()
    try:
        scores = []
        for threads in (1, 3):
            unbraid.set_num_threads(threads)
            assert unbraid.get_num_threads() == threads
            scores.append(dict(unbraid.evaluate(*points, metrics=["dci", "beta_vae_score"], chance=False)))
        assert scores[0] == scores[1]
    finally:
        unbraid.set_num_threads(before)
