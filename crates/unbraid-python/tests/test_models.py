"""Models of other programs as runs, and runs for other programs."""

import json
import shutil

import numpy as np
import pytest

import unbraid
from conftest import ROOT, SMALL

FIXTURES = ROOT / "crates/unbraid/tests/fixtures"

#: A mapping for torch_mlp.pt, with the names that the Rust tests have.
MAPPING = """
root = "model_states.net"
[images]
height = 4
width = 6
channels = 1
[data]
name = "npz"
""" + (FIXTURES / "torch_mlp.toml").read_text()


@pytest.fixture
def mapping(tmp_path):
    path = tmp_path / "mapping.toml"
    path.write_text(MAPPING)
    return path


def test_imported_weights_compute_what_pytorch_computed(mapping, tmp_path):
    run = unbraid.import_model(FIXTURES / "torch_mlp.pt", mapping=mapping, out=tmp_path / "run", set={"seed": 7})
    assert (run.image_shape, run.n_units, run.config["seed"]) == ((4, 6, 1), 3, 7)
    expected = json.loads((FIXTURES / "torch_mlp.json").read_text())
    images = np.array(expected["images"], dtype=np.float32).reshape(3, 4, 6, 1)
    mean, log_variance = run.encode(images)
    assert mean == pytest.approx(np.array(expected["mean"]), abs=1e-5)
    assert log_variance == pytest.approx(np.array(expected["log_variance"]), abs=1e-5)
    decoded = run.decode(mean).reshape(3, 24)
    assert decoded == pytest.approx(np.array(expected["reconstruction"]), abs=1e-5)


def test_a_run_is_replaced_only_when_asked(mapping, tmp_path):
    arguments = {"mapping": mapping, "out": tmp_path / "run"}
    unbraid.import_model(FIXTURES / "torch_mlp.pt", **arguments)
    with pytest.raises(FileExistsError, match="there is a run here already"):
        unbraid.import_model(FIXTURES / "torch_mlp.pt", **arguments)
    assert unbraid.import_model(str(FIXTURES / "torch_mlp.pt"), overwrite=True, **arguments).n_units == 3


def test_what_cannot_be_imported_says_why(mapping, tmp_path):
    with pytest.raises(ValueError, match="no specs.json beside it, expected that of disentangling-vae or joint-vae, or a mapping"):
        unbraid.import_model(FIXTURES / "torch_mlp.pt", out=tmp_path / "run")
    with pytest.raises(ValueError, match="torch_module.pt: found a pickle that asks for"):
        unbraid.import_model(FIXTURES / "torch_module.pt", mapping=mapping, out=tmp_path / "run")
    with pytest.raises(TypeError, match=r"set: found the key 3, expected keys of the configuration"):
        unbraid.import_model(FIXTURES / "torch_mlp.pt", mapping=mapping, out=tmp_path / "run", set={3: 4})
    assert not (tmp_path / "run").exists()


def test_a_run_is_exported_in_every_format(trained, tmp_path):
    def names(files):
        assert all(file.is_file() and file.is_relative_to(tmp_path) for file in files)
        return [file.name for file in files]

    assert names(trained.export("onnx", tmp_path / "a")) == ["encoder.onnx", "decoder.onnx"]
    assert names(trained.export("safetensors", str(tmp_path / "a"))) == ["model.safetensors", "config.json"]
    assert "README.md" in names(trained.export("hub", tmp_path / "hub", licence="mit"))
    assert 'license: "mit"' in (tmp_path / "hub/README.md").read_text()
    with pytest.raises(FileExistsError, match="encoder.onnx: the file exists"):
        trained.export("onnx", tmp_path / "a")
    trained.export("onnx", tmp_path / "a", overwrite=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file: cannot create the directory"):
        trained.export("onnx", tmp_path / "file")


def test_an_exported_encoder_is_scored_by_the_command(trained, command, tmp_path):
    encoder, _ = trained.export("onnx", tmp_path)
    arguments = ["--metrics", "kl", "--no-chance", "--format", "json", "--quiet"]
    scores = json.loads(command("evaluate", "--encoder", encoder, "--data", SMALL, *arguments))
    # A copy: scores are written into the run, which other tests share.
    run = shutil.copytree(trained.path, tmp_path / "run")
    own = json.loads(command("evaluate", run, *arguments))
    # Codes differ in the seventh digit, and the divergence has a slope of a few units.
    assert scores["kl"] == pytest.approx(own["kl"], abs=1e-4)
