"""A study of two runs."""

import numpy as np

import unbraid
from conftest import SMALL

STUDY = f"""
base = "shapes/beta-vae"
seeds = 1

[set]
data = "{SMALL}"
"training.steps" = 5
"training.batch_size" = 8
"model.architecture" = {{ name = "mlp", encoder = [4], decoder = [4] }}
"evaluation.metrics" = ["mig"]

[grid]
"objective.beta" = [1, 4]
"""


def test_a_study_runs_and_becomes_a_table(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study/study.toml").write_text(STUDY)
    study = unbraid.study(tmp_path / "study/study.toml")
    calls = []
    table = study.run(jobs=2, progress=lambda *call: calls.append(call)).table()
    assert len(study) == 2 and all(len(column) == 2 for column in table.values())
    assert table["objective.beta"] == [1, 4] and table["seed"] == [0, 0]
    assert set(table["state"]) == {"done"}
    assert np.isfinite(table["mig"]).all() and np.isfinite(table["train/loss"]).all()
    assert all(stage == "runs" for stage, _, _, _ in calls)
    # Nothing is left to do.
    assert study.run(jobs=1, progress=False).table()["hash"] == table["hash"]
