"""Training on names, loaded data and arrays; progress; Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import unbraid
from conftest import SMALL

#: A network that trains in no time.
TINY = {"model.architecture": {"name": "mlp", "encoder": [8], "decoder": [8]}, "training.log_every": 5}
QUICK = {"steps": 10, "batch_size": 8, "set": TINY, "evaluate": False, "report": False, "progress": False}


def weights(run):
    return run.state_dict()


def assert_same_weights(first, second):
    first, second = weights(first), weights(second)
    assert list(first) == list(second)
    for name, value in first.items():
        assert np.array_equal(value, second[name]), name


def test_a_name_trains_what_the_command_trains(command, tmp_path):
    run = unbraid.train(SMALL, out=tmp_path / "python", objective="beta-vae", beta=2.5, seed=5, **QUICK)
    assert run.config["objective"] == {"name": "beta-vae", "beta": 2.5}
    command(
        "train", SMALL, "--out", tmp_path / "command", "--steps", "10", "--batch-size", "8", "--seed", "5", "--quiet",
        "--no-evaluation", "--no-report", "--set", "objective.name=beta-vae", "--set", "objective.beta=2.5",
        "--set", 'model.architecture={ name = "mlp", encoder = [8], decoder = [8] }', "--set", "training.log_every=5",
    )
    for name in ("config.toml", "checkpoints/last.safetensors"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()


def test_arrays_of_all_layouts_train_the_same(tmp_path):
    data = unbraid.datasets.load("scenes", hues=1, scales=2, shapes=2, orientations=4, size=32)
    images = np.asarray(data.images)
    bytes_ = np.rint(images * 255).astype(np.uint8)
    as_floats = (bytes_ / np.float32(255)).astype(np.float32)
    channels_first = np.ascontiguousarray(bytes_.transpose(0, 3, 1, 2))
    arrays = {
        "bytes": (bytes_, None),
        "floats": (as_floats, None),
        "channels first": (channels_first, None),
        "said": (channels_first, "NCHW"),
        "not contiguous": (np.repeat(bytes_, 2, axis=0)[::2], None),
    }
    runs = {
        name: unbraid.train(array, layout=layout, out=tmp_path / name, **QUICK) for name, (array, layout) in arrays.items()
    }
    for name, run in runs.items():
        assert run.image_shape == (32, 32, 3), name
        assert_same_weights(run, runs["bytes"])


def test_a_loaded_data_set_trains_as_its_name(tmp_path):
    data = unbraid.datasets.load(SMALL)
    loaded = unbraid.train(data, out=tmp_path / "loaded", **QUICK)
    assert_same_weights(loaded, unbraid.train(SMALL, out=tmp_path / "name", **QUICK))


def test_black_and_white_bytes_are_used_as_they_are(tmp_path):
    data = unbraid.datasets.load(SMALL)
    images = np.asarray(data.images)
    zero_one = unbraid.train(np.rint(images).astype(np.uint8), out=tmp_path / "a", **QUICK)
    assert_same_weights(zero_one, unbraid.train(np.rint(images), out=tmp_path / "b", **QUICK))


def test_factors_of_arrays_are_scored(tmp_path):
    data = unbraid.datasets.load(SMALL)
    run = unbraid.train(
        np.asarray(data.images), factors=data.factors, factor_names=data.factor_names, out=tmp_path / "a",
        **{**QUICK, "evaluate": True, "set": {**TINY, "evaluation.metrics": ["mig"]}},
    )
    named = unbraid.train(
        SMALL, out=tmp_path / "b", **{**QUICK, "evaluate": True, "set": {**TINY, "evaluation.metrics": ["mig"]}}
    )
    assert list(run.scores) == ["mig"]
    # The same factors and images, though a preset of another network.
    assert run.scores.details["mutual_information"].shape[1] == named.scores.details["mutual_information"].shape[1]


def test_progress_goes_to_a_function(tmp_path):
    calls = []
    options = {**QUICK, "progress": lambda *call: calls.append(call)}
    unbraid.train(SMALL, out=tmp_path / "a", **options)
    stages = {stage for stage, _, _, _ in calls}
    assert "training" in stages
    stage, done, total, values = [call for call in calls if call[0] == "training"][-1]
    assert (done, total) == (10, 10) and values["loss"] > 0 and values["images_per_second"] > 0


def test_an_exception_of_the_function_stops_training_with_a_checkpoint(tmp_path):
    def stop(stage, done, total, values):
        if stage == "training" and done > 0:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        unbraid.train(SMALL, out=tmp_path / "a", **{**QUICK, "steps": 100_000, "progress": stop})
    assert (tmp_path / "a/checkpoints/last.safetensors").is_file()


def test_ctrl_c_saves_a_checkpoint_from_which_training_resumes(tmp_path):
    begun, pressed = threading.Event(), threading.Event()

    def press():
        begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
        pressed.set()

    threading.Thread(target=press, daemon=True).start()
    options = {**QUICK, "steps": 400, "set": {**TINY, "training.checkpoint_every": 100_000}}

    def progress(stage, done, total, values):
        # Before the first step: all 400 may take less time than passes between two calls.
        if stage == "training" and not begun.is_set():
            begun.set()
            pressed.wait(60)
            # Training waits for this function; meanwhile the signal is noticed.
            time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        unbraid.train(SMALL, out=tmp_path / "a", **{**options, "progress": progress})
    assert 0 < unbraid.Run(tmp_path / "a").step < 400
    resumed = unbraid.train(out=tmp_path / "a", resume=True, evaluate=False, report=False, progress=False)
    assert resumed.step == 400
    assert_same_weights(resumed, unbraid.train(SMALL, out=tmp_path / "b", **options))


def test_training_from_an_array_takes_no_second_copy(tmp_path):
    """In a process of its own, whose peak is then that of training alone: 245 MB of images."""
    script = """
        import sys
        import numpy as np
        import unbraid

        def peak():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024

        images = np.full((20_000, 64, 64, 3), 7, dtype=np.uint8)
        images[:, ::3] = 200
        before = peak()
        tiny = {"model.architecture": {"name": "mlp", "encoder": [4], "decoder": [4]}}
        unbraid.train(images, out=sys.argv[1], steps=3, batch_size=4, set=tiny, evaluate=False, report=False, progress=False)
        print(before, peak())
    """
    if not os.path.exists("/proc/self/status"):
        pytest.skip("this system does not tell the peak of a process")
    script = textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a")], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before > 230
    assert after - before < 120


def test_a_fork_computes_as_its_parent(tmp_path, points):
    """Threads do not survive a fork."""
    expected = dict(unbraid.evaluate(*points, metrics=["mig"]))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        scores = unbraid.evaluate(*points, metrics=["mig"])
        os.write(writing, repr(scores["mig"]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert float(pipe.read()) == expected["mig"]
    assert os.waitpid(child, 0)[1] == 0
