"""Compares exported ONNX files, run by onnxruntime, with the command itself, for every architecture.

    python tools/check_onnx.py target/debug/unbraid

Trains each network for three steps on random images, so that running statistics and learned parameters differ from
their initial values, and prints the largest difference of each output. Fails if one is 1e-4 or more.

Needs: pip install onnxruntime numpy
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

GREY, COLOUR = (64, 64, 1), (32, 32, 3)
JOINT = (
    'objective={ name = "joint-vae", gamma_continuous = 1, capacity_continuous = 5, gamma_categorical = 1, '
    "capacity_categorical = 1 }"
)
MLP = 'model.architecture={ name = "mlp", encoder = [7, 5], decoder = [6], decoder_activation = "tanh" }'
CASES = {
    "conv": (GREY, ["model.architecture=conv"]),
    "dlib": (GREY, ["model.architecture=dlib"]),
    "burgess 64": (GREY, ["model.architecture=burgess"]),
    "burgess 32": (COLOUR, ["model.architecture=burgess"]),
    "mathieu": (GREY, ["model.architecture=mathieu"]),
    "dcgan": (GREY, ["model.architecture=dcgan"]),
    "linear": (COLOUR, ["model.architecture=linear", 'model.likelihood={ name = "gaussian", output = "linear" }']),
    "mlp": (COLOUR, [MLP]),
    "dupont-64": (
        GREY,
        ["model.architecture=dupont-64", JOINT, "model.latents={ continuous = 2, categorical = [3, 4] }"],
    ),
    "dupont-32": (
        COLOUR,
        ["model.architecture=dupont-32", JOINT, "model.latents={ continuous = 0, categorical = [5] }"],
    ),
    "full covariance": (GREY, ["model.posterior=full-covariance", "objective=vae"]),
    "decoded scale": (
        COLOUR,
        ["model.architecture=dupont-32", 'model.likelihood={ name = "gaussian", scale = "decoded" }'],
    ),
    "learned prior": (
        GREY,
        ['model.prior={ name = "anisotropic", variances = [1.0, 0.5, 0.25], learned = true }', "objective=vae"],
    ),
}


def check(program, directory, name, shape, settings):
    """The largest difference of each output of a case."""

    def unbraid(*arguments):
        done = subprocess.run([program, *map(str, arguments)], cwd=directory, capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr}"

    images = np.random.default_rng(1).random((16, *shape), dtype=np.float32)
    np.savez(directory / "images.npz", images=images)
    common = ["model.latents={ continuous = 3 }", "objective=vae"]
    assignments = [part for setting in common + settings for part in ("--set", setting)]
    unbraid("train", "images.npz", "--out", "run", "--steps", 3, "--batch-size", 8, "--no-evaluation", "--no-report",
            "--quiet", *assignments)
    unbraid("encode", "run", "-o", "codes.npz", "--quiet")
    unbraid("decode", "run", "codes.npz", "-o", "decoded.npz", "--quiet")
    unbraid("export", "run", "--format", "onnx", "-o", "model", "--quiet")

    encoder = onnxruntime.InferenceSession(directory / "model/encoder.onnx")
    found = dict(zip([output.name for output in encoder.get_outputs()],
                     encoder.run(None, {"images": images.transpose(0, 3, 1, 2).copy()})))
    codes = np.load(directory / "codes.npz")
    expected = {key: codes[key] for key in codes if key.startswith("probabilities_")}
    if codes["codes"].shape[1]:
        expected |= {"mean": codes["codes"], "log_variance": codes["log_variance"]}
    assert set(found) == set(expected), f"{name}: {set(found)}"
    differences = {key: float(np.abs(found[key] - expected[key]).max()) for key in expected}

    latents = [codes["codes"]]
    for unit in range(len(expected) - 2 * ("mean" in expected)):
        classes = expected[f"probabilities_{unit}"].shape[1]
        latents.append(np.eye(classes, dtype=np.float32)[codes["categories"][:, unit]])
    decoder = onnxruntime.InferenceSession(directory / "model/decoder.onnx")
    (pictures,) = decoder.run(None, {"latents": np.concatenate(latents, axis=1).astype(np.float32)})
    decoded = np.load(directory / "decoded.npz")
    decoded = decoded[decoded.files[0]].reshape(16, *shape)
    differences["images"] = float(np.abs(pictures.transpose(0, 2, 3, 1) - decoded).max())
    metadata = encoder.get_modelmeta().custom_metadata_map
    assert json.loads(metadata["unbraid.image_shape"]) == [shape[2], shape[0], shape[1]]
    return differences


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    worst = 0.0
    for name, (shape, settings) in CASES.items():
        with tempfile.TemporaryDirectory() as directory:
            differences = check(program, pathlib.Path(directory), name, shape, settings)
        worst = max(worst, *differences.values())
        print(f"{name:16}", "  ".join(f"{key} {value:.1e}" for key, value in differences.items()))
    print(f"largest difference {worst:.1e}, onnxruntime {onnxruntime.__version__}")
    assert worst < 1e-4


if __name__ == "__main__":
    main()
