"""A trained run in use."""

import shutil
import threading
import tomllib

import numpy as np
import pytest

import unbraid
from conftest import SMALL


@pytest.fixture(scope="module")
def images():
    return unbraid.datasets.load(SMALL).images[:20]


def test_a_run_says_what_it_is(trained):
    run = unbraid.Run(trained.path)
    assert (run.step, run.image_shape, run.n_units, run.categorical_units) == (30, (64, 64, 1), 10, [])
    assert run.config == tomllib.loads((trained.path / "config.toml").read_text())
    assert run.config["objective"]["beta"] == 6.0
    assert "beta-tcvae at step 30" in repr(run)


def test_scores_and_history_are_those_of_the_files(trained):
    assert set(trained.scores) == {"mig", "sap"}
    assert trained.scores.details["mutual_information"].shape[0] == 10
    assert set(trained.scores.chance) == {"mig", "sap"}
    history = trained.history
    assert history["step"].tolist() == [10, 20, 30]
    assert {"train/loss", "train/kl", "train/kl_unit/3"} <= set(history)
    assert all(len(column) == 3 for column in history.values())


def test_images_are_encoded_as_by_the_command(trained, images, command, tmp_path):
    mean, log_variance = trained.encode(images)
    assert mean.dtype == np.float32 and mean.shape == log_variance.shape == (20, 10)
    command("encode", trained.path, "--data", SMALL, "-o", tmp_path / "codes.npz", "--quiet")
    codes = np.load(tmp_path / "codes.npz")
    assert any(np.array_equal(codes[name][:20], mean) for name in codes.files)


def test_the_code_of_an_image_depends_on_nothing_else(trained, images):
    mean, _ = trained.encode(images)
    for place in (0, 7):
        alone, _ = trained.encode(images[place])
        assert np.array_equal(alone[0], mean[place])
    grey, _ = trained.encode(images[..., 0])
    assert np.array_equal(grey, mean)
    first, _ = trained.encode(images.transpose(0, 3, 1, 2))
    assert np.array_equal(first, mean)
    as_bytes, _ = trained.encode((images * 255).astype(np.uint8))
    assert as_bytes == pytest.approx(mean, abs=1e-4)


def test_decoding_undoes_nothing_but_shapes(trained, images):
    mean, _ = trained.encode(images)
    decoded = trained.decode(mean)
    assert decoded.shape == (20, 64, 64, 1) and decoded.min() >= 0 and decoded.max() <= 1
    assert np.array_equal(trained.reconstruct(images), decoded)
    assert np.array_equal(trained.latents(images), mean)
    assert np.array_equal(trained.decode(mean[3]), decoded[3:4])
    assert np.array_equal(trained.decode(mean.astype(np.float64)), decoded)


def test_a_traversal_sets_one_unit(trained, images):
    mean, _ = trained.encode(images[0])
    values = [-2.0, 0.5]
    rows = np.repeat(mean, 2, axis=0)
    rows[:, 4] = values
    expected = trained.decode(rows)
    assert np.array_equal(trained.traverse(images[0], unit=4, values=values), expected)
    edited = trained.edit(images[0], {4: 0.5})
    assert np.array_equal(edited, expected[1:])
    assert trained.traverse(unit=0).shape == (11, 64, 64, 1)
    # The ends of the default range are three standard deviations of a standard normal prior.
    ends = np.zeros((2, 10), dtype=np.float32)
    ends[:, 0] = -3, 3
    assert trained.traverse(unit=0, steps=2) == pytest.approx(trained.decode(ends), abs=1e-6)


def test_samples_depend_on_the_seed(trained):
    assert trained.sample(5, seed=1).shape == (5, 64, 64, 1)
    assert np.array_equal(trained.sample(5, seed=1)[:2], trained.sample(2, seed=1))
    assert not np.array_equal(trained.sample(2, seed=1), trained.sample(2, seed=2))


def test_names_of_units_stand_for_their_numbers(tmp_path, images):
    run = unbraid.train(
        SMALL, out=tmp_path / "a", steps=5, set={"model.architecture": {"name": "mlp", "encoder": [4], "decoder": [4]}},
        evaluate=False, report=False, progress=False,
    )
    run.name_units({3: "azimuth"})
    assert run.unit_names == {3: "azimuth"} and unbraid.Run(tmp_path / "a").unit_names == {3: "azimuth"}
    assert np.array_equal(run.traverse(images[0], unit="azimuth"), run.traverse(images[0], unit=3))
    assert np.array_equal(run.edit(images[0], {"azimuth": 1}), run.edit(images[0], {3: 1.0}))


def test_names_given_at_once_all_stay(tmp_path):
    """By threads that share a run, and by one that has opened it before."""
    run = unbraid.train(
        SMALL, out=tmp_path / "a", steps=5, set={"model.architecture": {"name": "mlp", "encoder": [4], "decoder": [4]}},
        evaluate=False, report=False, progress=False,
    )
    other = unbraid.Run(tmp_path / "a")
    # Names do not need the weights, which are in memory.
    shutil.rmtree(tmp_path / "a/checkpoints")
    ready = threading.Barrier(run.n_units)

    def name(unit):
        ready.wait()
        (other if unit == 0 else run).name_units({unit: f"name {unit}"})

    threads = [threading.Thread(target=name, args=(unit,)) for unit in range(run.n_units)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.name_units({0: "first"})
    assert run.unit_names == {0: "first", **{unit: f"name {unit}" for unit in range(1, run.n_units)}}
    written = tomllib.loads((tmp_path / "a/units.toml").read_text())
    assert written == {"continuous": {str(unit): name for unit, name in run.unit_names.items()}}
    assert run.step == 5 and run.sample(1).shape == (1, 64, 64, 1)


def test_weights_have_the_names_of_pytorch(trained):
    state = trained.state_dict()
    assert state["encoder.conv1.weight"].shape == (4, 1, 4, 4)
    assert all(array.dtype in (np.float32, np.float64, np.int64) for array in state.values())


def test_several_threads_use_one_run(trained, images):
    expected, _ = trained.encode(images)
    found = [None] * 4

    def work(place):
        for _ in range(5):
            found[place] = trained.encode(images)[0]

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(mean, expected) for mean in found)


def test_categorical_units_have_probabilities(tmp_path, images):
    run = unbraid.train(
        SMALL, out=tmp_path / "a", objective="joint-vae", gamma_continuous=30.0, gamma_categorical=30.0,
        capacity_continuous={"from": 0.0, "to": 5.0, "end": 100}, capacity_categorical=1.0,
        steps=3, evaluate=False, report=False, progress=False,
        set={"model.latents": {"continuous": 2, "categorical": [3]},
             "model.architecture": {"name": "mlp", "encoder": [4], "decoder": [4]}},
    )
    assert run.categorical_units == [3]
    probabilities = run.categories(images)
    assert probabilities.shape == (20, 3) and probabilities.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-5)
    latents = run.latents(images)
    assert latents.shape == (20, 5) and (latents[:, 2:].sum(axis=1) == 1).all()
    assert run.traverse(unit="category.0").shape == (3, 64, 64, 1)
    assert run.edit(images[0], {"category.0": 1, 0: 2.5}).shape == (1, 64, 64, 1)


def test_a_table_is_encoded_and_decoded_in_its_own_units(tmp_path, command):
    generator = np.random.default_rng(0)
    rows = generator.normal([2000.0, -3.0, 0.5], [10.0, 1.0, 0.01], size=(120, 3))
    np.savetxt(tmp_path / "table.csv", rows, delimiter=",", header="year,charge,share", comments="")
    run = unbraid.train(
        tmp_path / "table.csv", out=tmp_path / "a", steps=5, batch_size=8, evaluate=False, report=False, progress=False
    )
    mean, _ = run.encode(rows)
    command("encode", tmp_path / "a", "--data", tmp_path / "table.csv", "-o", tmp_path / "codes.npz", "--quiet")
    codes = np.load(tmp_path / "codes.npz")
    # The file has the same numbers: 18 digits are more than a double has.
    assert any(codes[name].shape == mean.shape and np.array_equal(codes[name], mean) for name in codes.files)
    alone, _ = run.encode(rows[3])
    assert np.array_equal(alone[0], mean[3])
    decoded = run.decode(mean)
    assert decoded.shape == rows.shape and decoded.dtype == np.float64
    # Five steps have learned next to nothing, but not where the columns are.
    assert abs(decoded.mean(axis=0) - rows.mean(axis=0)).max() < 30
    with pytest.raises(ValueError, match=r"images: found shape \[120, 2\], expected \(n, 3\), the columns of the run"):
        run.encode(rows[:, :2])
