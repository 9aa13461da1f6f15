"""Numbers that no machine can hold are refused: nothing panics, and the process goes on."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import unbraid

HUGE = 2**62


def calls(run, data, points):
    codes, factors = points
    return {
        "samples of a run": lambda: run.sample(HUGE),
        "steps of a traversal": lambda: run.traverse(unit=0, steps=HUGE),
        "samples of a data set": lambda: data.sample(HUGE),
        "pairs of a data set": lambda: data.pairs(HUGE, 0),
        "points of a sampler": lambda: unbraid.evaluate(sampler=lambda f: f * 1.0, factor_sizes=[2, 3], samples=HUGE),
        "points of a score": lambda: unbraid.metrics.beta_vae_score(codes, factors, train_points=HUGE),
        "pairs of a point": lambda: unbraid.metrics.factor_vae_score(codes, factors, batch_size=HUGE),
        "units": lambda: unbraid.train(data, n_units=HUGE, progress=False),
        "a batch": lambda: unbraid.train(data, batch_size=HUGE, progress=False),
        "threads": lambda: unbraid.set_num_threads(HUGE),
        "a seed of 65 bits": lambda: run.sample(1, seed=2**64),
        "fewer than no images": lambda: run.sample(-1),
        "fewer than no units": lambda: unbraid.train(data, n_units=-1, progress=False),
        "fewer than no values": lambda: unbraid.evaluate(sampler=lambda f: f, factor_sizes=[2, -3]),
        "half an image": lambda: run.sample(1.5),
        "half a seed": lambda: unbraid.evaluate(codes, factors, seed=0.5),
        "steps as words": lambda: unbraid.train(data, steps="many", progress=False),
    }


NAMES = list(calls(None, None, (None, None)))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_cannot_be_are_refused(name, trained, points, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = unbraid.datasets.load("shapes", scales=1, orientations=1, positions=4)
    with pytest.raises((ValueError, TypeError), match="found .*, expected "):
        calls(trained, data, points)[name]()


def test_nothing_is_a_batch_of_its_own(trained):
    assert trained.sample(0).shape == (0, 64, 64, 1)
    assert trained.decode(np.zeros((0, 10))).shape == (0, 64, 64, 1)
    assert unbraid.datasets.load("shapes", positions=4).sample(0)[0].shape == (0, 64, 64, 1)


def test_many_images_are_decoded_as_few(trained):
    """In parts, with the same result."""
    many = 256 * unbraid.get_num_threads() + 10
    images = trained.sample(many, seed=4)
    latents = np.concatenate([trained.latents(images[:5]), trained.latents(images[-5:])])
    rows = np.tile(latents, (many // 10, 1))
    decoded = trained.decode(rows)
    assert np.array_equal(decoded[:10], trained.decode(latents))
    assert np.array_equal(decoded[-10:], trained.decode(latents))


def test_a_forked_process_encodes(trained):
    """Threads do not survive a fork: whatever the parent has used, the child must start its own."""
    script = f"""
        import os
        import numpy as np
        import unbraid
        run = unbraid.Run({str(trained.path)!r})
        # Enough to be looked at by several threads.
        images = np.ones((100, 64, 64, 1), dtype=np.uint8)
        expected, _ = run.encode(images)
        child = os.fork()
        if child == 0:
            mean, _ = run.encode(images)
            os._exit(0 if np.array_equal(mean, expected) else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], check=True, timeout=120)
