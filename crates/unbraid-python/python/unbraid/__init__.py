"""Train, score and look at disentangled representations.

``evaluate`` scores codes from anywhere, ``train`` trains a variational autoencoder, ``Run`` is a trained one,
``import_model`` makes one of published weights, ``study`` is a hyper-parameter sweep. ``unbraid.metrics``,
``unbraid.datasets`` and ``unbraid.sklearn`` have the rest. The command ``unbraid`` comes with the package.
"""

from . import datasets, metrics
from ._native import Run, Study, __version__, evaluate, get_num_threads, import_model, set_num_threads, train
from ._native import Study as study
from ._scores import Scores

__all__ = [
    "Run",
    "Scores",
    "Study",
    "__version__",
    "datasets",
    "evaluate",
    "get_num_threads",
    "import_model",
    "metrics",
    "set_num_threads",
    "study",
    "train",
]
