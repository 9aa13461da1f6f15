"""Ctrl-C: it raises `KeyboardInterrupt` within a second, wherever it comes. `pytest -s` shows after how many seconds."""

import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import unbraid
from conftest import SMALL

#: In seconds. One is what is promised where a core is free. Here other tests may keep every core busy, and the work then gets
#: a share of one: a step of training, the writing of its checkpoint and the start of a process each wait for their turn.
SOON = 4


def report(what, seconds):
    print(f"\n{what}: ended {seconds:.2f} s after Ctrl-C", flush=True)
    return seconds


def seconds_to_stop(what, work, after=0.5, once=lambda: True):
    """Presses Ctrl-C some time after the work has begun, and `once` something is true; gives the seconds until it ended with
    `KeyboardInterrupt`."""
    pressed = []

    def press():
        time.sleep(after)
        while not once():
            time.sleep(0.01)
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        return report(what, time.monotonic() - pressed[0])
    finally:
        thread.join()


def test_training_stops_and_is_saved(tmp_path):
    def work():
        unbraid.train(SMALL, out=tmp_path / "a", steps=1_000_000, evaluate=False, report=False, progress=False)

    assert seconds_to_stop("training", work, after=2) < SOON
    # Written at the end, not every so many steps.
    assert (tmp_path / "a/checkpoints/last.safetensors").is_file()
    assert unbraid.Run(tmp_path / "a").step > 0


def test_hashing_an_array_stops(tmp_path):
    """It comes before training and takes seconds. The system need not have the memory: nothing is written to the zeros."""
    images = np.zeros((400_000, 64, 64, 3), dtype=np.uint8)
    out = tmp_path / "a"

    def work():
        unbraid.train(images, out=out, steps=5, evaluate=False, report=False, progress=False)

    # The directory is made before the hash is computed.
    assert seconds_to_stop("hashing", work, after=0, once=out.exists) < SOON
    assert not (out / "checkpoints/last.safetensors").exists()


def test_scoring_after_training_stops(tmp_path):
    """The weights are saved by then, and the learner, which would take an hour, ends. The run can be resumed at once."""
    stages = []
    tiny = {"model.architecture": {"name": "mlp", "encoder": [8], "decoder": [8]}}

    def press(stage, done, total, values):
        stages.append(stage)
        if stage == "scoring" and stages.count("scoring") == 1:
            timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            press.time = time.monotonic() + 1

    def work(out, data, **options):
        slow = {"evaluation.metrics": ["dci"], "evaluation.dci.stages": 100_000}
        unbraid.train(data, out=out, steps=5, batch_size=8, set={**tiny, **slow}, report=False, progress=press, **options)

    data = unbraid.datasets.load(SMALL)
    for data, factors in [(SMALL, {}), (np.asarray(data.images), {"factors": np.asarray(data.factors)})]:
        stages.clear()
        out = tmp_path / type(data).__name__
        with pytest.raises(KeyboardInterrupt):
            work(out, data, **factors)
        assert report("scoring after training", time.monotonic() - press.time) < SOON
        assert "training" in stages
        run = unbraid.Run(out)
        assert run.step == 5
        assert run.scores is None
        # Nothing holds the directory any more, and only the scores are missing.
        quick = {**tiny, "evaluation.metrics": ["mig"]}
        events = []
        run = unbraid.train(
            data, out=out, steps=5, batch_size=8, set=quick, report=False, resume=True,
            progress=lambda stage, *_: events.append(stage), **factors,
        )
        assert "training" not in events
        assert 0 <= run.scores["mig"] <= 1


def test_scores_stop(points):
    codes, factors = (np.tile(array, (20, 1)) for array in points)
    assert seconds_to_stop("scores", lambda: unbraid.evaluate(codes, factors, metrics=["sap"], bootstrap=1_000)) < SOON
    # The next call does not wait for what was left behind.
    start = time.monotonic()
    unbraid.evaluate(*points, metrics=["mig"], chance=False)
    assert time.monotonic() - start < 60


def test_a_sampler_stops():
    calls = []

    def sampler(factors):
        calls.append(len(factors))
        time.sleep(0.05)
        return factors.astype(float)

    def work():
        unbraid.evaluate(sampler=sampler, factor_sizes=[3, 4], metrics=["factor_vae_score"])

    assert seconds_to_stop("a sampler", work) < SOON
    seen = len(calls)
    time.sleep(0.5)
    # It is not called any more.
    assert len(calls) <= seen + 1


def test_encoding_and_decoding_stop(trained):
    # Many times what is encoded before Ctrl-C. Zeros that are only read take no memory.
    images = np.zeros((400_000, 64, 64, 1), dtype=np.uint8)
    assert seconds_to_stop("encoding", lambda: trained.encode(images), after=0.3) < SOON
    assert seconds_to_stop("decoding", lambda: trained.sample(60_000), after=0.3) < SOON


def test_a_study_stops(tmp_path):
    """Its processes save what they have, and it can be continued."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text(f"""
        base = "shapes/beta-vae"
        seeds = 2
        [set]
        data = "{SMALL}"
        "training.steps" = 1_000_000
        "training.log_every" = 1
        "training.batch_size" = 8
        "model.architecture" = {{ name = "mlp", encoder = [4], decoder = [4] }}
    """)
    study = unbraid.study(folder)

    def trains():
        return any(file.stat().st_size > 0 for file in folder.glob("**/metrics.jsonl"))

    assert seconds_to_stop("a study", lambda: study.run(jobs=1, progress=False), once=trains) < SOON
    # In the table, a run that can be continued counts as running.
    assert sorted(study.table()["state"]) == ["queued", "running"]
    [status] = folder.glob("**/status.json")
    assert json.loads(status.read_text())["state"] == "interrupted"
    assert unbraid.Run(status.parent).step > 0


def test_a_notebook_is_interrupted(tmp_path):
    """By its kernel, as the stop button does; progress shows below the cell."""
    jupyter_client = pytest.importorskip("jupyter_client")
    pytest.importorskip("ipykernel")
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        code = f"import unbraid\nunbraid.train({SMALL!r}, out='a', steps=1_000_000, evaluate=False, report=False)"
        request = client.execute(code)
        shown, pressed, deadline = "", None, time.monotonic() + 120
        while True:
            message = client.get_iopub_msg(timeout=max(deadline - time.monotonic(), 0.1))
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                assert content["name"] == "stdout"
                shown += content["text"]
                if pressed is None and "loss" in shown:
                    pressed = time.monotonic()
                    manager.interrupt_kernel()
            if kind == "error":
                assert content["ename"] == "KeyboardInterrupt", content
                assert report("a cell of a notebook", time.monotonic() - pressed) < SOON
                break
            assert kind != "execute_result", "it was not interrupted"
        assert "training" in shown and "/1000000" in shown
        assert (tmp_path / "a/checkpoints/last.safetensors").is_file()
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
