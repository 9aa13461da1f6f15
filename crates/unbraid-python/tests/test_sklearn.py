"""The estimator of scikit-learn."""

import pickle

import numpy as np
import pytest

import unbraid
from conftest import SMALL

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from unbraid.sklearn import VAE

QUICK = {"steps": 4, "batch_size": 8, "n_units": 3}
TINY = {"model.architecture": {"name": "mlp", "encoder": [8], "decoder": [8]}}


@pytest.fixture(scope="module")
def images():
    return np.asarray(unbraid.datasets.load(SMALL).images)


@pytest.fixture(scope="module")
def fitted(images):
    return VAE(settings=TINY, **QUICK).fit(images)


def test_images_become_units_and_back(fitted, images):
    units = fitted.transform(images[:5])
    assert units.shape == (5, 3) and np.array_equal(units, fitted.run_.encode(images[:5])[0])
    decoded = fitted.inverse_transform(units)
    assert decoded.shape == (5, 64, 64, 1)
    assert fitted.get_feature_names_out().tolist() == ["vae0", "vae1", "vae2"]


def test_rows_of_pixels_are_the_same_images(fitted, images):
    rows = images.reshape(len(images), -1)
    of_rows = VAE(settings=TINY, image_shape=(64, 64, 1), **QUICK).fit(rows)
    assert np.array_equal(of_rows.transform(rows[:5]), fitted.transform(images[:5]))
    assert of_rows.inverse_transform(np.zeros((2, 3))).shape == (2, 64 * 64)


def test_rows_of_numbers_come_back_in_their_range():
    generator = np.random.default_rng(0)
    rows = generator.normal(5.0, 3.0, size=(200, 4))
    vae = VAE(objective="vae", beta=None, steps=600, n_units=4, random_state=1).fit(rows)
    decoded = vae.inverse_transform(vae.transform(rows))
    assert decoded.shape == rows.shape
    # Better than the mean of each column, whose squared error is the variance.
    assert ((decoded - rows) ** 2).mean() < rows.var(axis=0).mean()


def test_parameters_can_be_read_set_and_cloned(fitted):
    assert clone(fitted).get_params() == fitted.get_params()
    assert VAE().set_params(beta=7.0).get_params()["beta"] == 7.0


def test_a_pickle_carries_the_weights(fitted, images):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(images[:5]), fitted.transform(images[:5]))


def test_it_is_a_part_of_a_pipeline(images):
    pipeline = make_pipeline(VAE(settings=TINY, **QUICK), PCA(2))
    assert pipeline.fit_transform(images).shape == (192, 2)


@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn_pass():
    vae = VAE(objective="vae", beta=None, n_units=2, steps=2, batch_size=4, settings=TINY)
    results = check_estimator(vae, on_fail=None, on_skip=None)
    # Some checks run several times. The list of exceptions is that of docs/python.md.
    assert {result["check_name"] for result in results if result["status"] != "passed"} <= {"check_array_api_input"}, results
    assert len(results) > 40
