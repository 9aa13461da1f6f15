"""Data sets, and samples of them under interventions."""

import struct

import numpy as np
import pytest

import unbraid
from conftest import SMALL


@pytest.fixture(scope="module")
def data():
    return unbraid.datasets.load(SMALL)


def test_a_data_set_says_what_it_has(data):
    assert len(data) == 192 and data.image_shape == (64, 64, 1)
    assert len(data.factor_names) == 3 and data.factor_kinds == ["categorical", "ordered", "ordered"]
    assert data.factor_sizes == [3, 8, 8]
    assert data.factors.shape == (192, 3) and data.factors.max(axis=0).tolist() == [2, 7, 7]
    assert "192 images" in repr(data)


def test_images_are_read_when_they_are_indexed(data, command, tmp_path):
    assert data.images.shape == (192, 64, 64, 1) and len(data.images) == 192
    every = np.asarray(data.images)
    assert every.dtype == np.float32
    assert np.array_equal(data.images[5], every[5])
    assert np.array_equal(data.images[-3:], every[-3:])
    assert np.array_equal(data.images[[7, 2]], every[[7, 2]])
    assert np.array_equal(data.images[:3, 10:20], every[:3, 10:20])
    assert np.array_equal(data.read(np.array([7, 2], dtype=np.int32)), every[[7, 2]])
    command("data", "convert", SMALL, "-o", tmp_path / "small.npz")
    written = np.load(tmp_path / "small.npz")
    assert (every == written["images"] / np.float32(255)).all()


def test_a_factor_that_is_fixed_has_one_value(data):
    images, factors = data.sample(40, fixed=1, seed=2)
    assert images.shape == (40, 64, 64, 1) and factors.shape == (40, 3)
    assert len(np.unique(factors[:, 1])) == 1 and len(np.unique(factors[:, 2])) > 1
    assert np.array_equal(images, data.images[data.index_of(factors)])
    again, _ = data.sample(40, fixed=data.factor_names[1], seed=2)
    assert np.array_equal(images, again)
    free = data.sample(40, seed=2)[1]
    assert len(np.unique(free[:, 1])) > 1


def test_pairs_share_one_factor(data):
    (_, first), (_, second) = data.pairs(50, 2)
    assert np.array_equal(first[:, 2], second[:, 2]) and not np.array_equal(first[:, 1], second[:, 1])


def test_a_sampler_of_a_data_set_scores_a_run(data, trained):
    scores = unbraid.metrics.factor_vae_score(
        sampler=lambda factors: trained.encode(data.images[data.index_of(factors)])[0], factor_sizes=data.factor_sizes,
        train_points=20, test_points=20, batch_size=8, samples=50,
    )
    assert 0 <= scores["factor_vae_score"] <= 1


def test_every_data_set_is_listed():
    listed = {entry["name"]: entry for entry in unbraid.datasets.names()}
    assert {"shapes", "scenes", "dsprites", "folder"} <= set(listed)
    assert listed["scenes"]["path"] is None and "hues" in listed["scenes"]["options"]


def test_kinds_of_attributes_are_a_dictionary(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    pixels = bytes(8 * 24)  # 8 x 8 pixels of 24 bits
    header = b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54)
    header += struct.pack("<IiiHHIIiiII", 40, 8, 8, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    for number in range(3):
        (folder / f"{number}.bmp").write_bytes(header + pixels)
    table = tmp_path / "table.csv"
    table.write_text("file,weight,stars\n0.bmp,1.5,1\n1.bmp,0.5,2\n2.bmp,2.5,3\n")
    attributes = {"path": str(table), "kinds": {"weight": "number", "stars": "categorical"}}
    data = unbraid.datasets.load("folder", path=folder, size=8, attributes=attributes)
    assert data.factor_kinds == ["ordered", "categorical"]
    with pytest.raises(ValueError, match="attributes.kinds.weight"):
        unbraid.datasets.load("folder", path=folder, attributes={"path": str(table), "kinds": {"weight": "real"}})
