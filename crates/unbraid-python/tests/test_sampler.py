"""Interventional scores from a function of factor vectors."""

import numpy as np
import pytest

import unbraid

SIZES = [3, 4, 5]


def test_codes_that_are_factors_have_perfect_scores():
    def sampler(factors):
        assert factors.dtype == np.int64 and factors.shape[1] == 3 and (factors < SIZES).all()
        return factors / np.array(SIZES)

    scores = unbraid.evaluate(
        sampler=sampler, factor_sizes=SIZES, samples=200, metrics=["factor_vae_score", "mig"], chance=False,
        options={"factor_vae_score": {"train_points": 200, "test_points": 100}},
    )
    # With a factor fixed, its unit has no variance at all: every vote is right.
    assert scores["factor_vae_score"] == 1.0
    assert scores["mig"] > 0.9


def test_noise_is_at_chance():
    generator = np.random.default_rng(0)
    scores = unbraid.metrics.factor_vae_score(
        sampler=lambda factors: generator.normal(size=(len(factors), 3)), factor_sizes=SIZES,
        train_points=300, test_points=300, samples=100,
    )
    # One of three factors is guessed; three standard deviations of 300 guesses are 0.08, and votes overfit a little.
    assert scores["factor_vae_score"] < 1 / 3 + 0.15


def test_the_same_seed_draws_the_same_points():
    def scores(seed):
        return dict(unbraid.metrics.beta_vae_score(
            sampler=lambda factors: factors @ np.ones((3, 2)), factor_sizes=SIZES, seed=seed,
            train_points=100, test_points=50, samples=100,
        ))

    assert scores(1) == scores(1)


def test_an_exception_of_the_function_is_raised():
    def sampler(factors):
        raise LookupError("the model is gone")

    with pytest.raises(LookupError, match="the model is gone"):
        unbraid.evaluate(sampler=sampler, factor_sizes=SIZES)


def test_a_result_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"result of sampler: found shape \(999, 2\), expected \(1000, 2\)"):
        unbraid.evaluate(sampler=lambda factors: np.zeros((len(factors) - 1, 2)), factor_sizes=SIZES)
