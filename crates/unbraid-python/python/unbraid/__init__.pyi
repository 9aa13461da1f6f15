from . import datasets as datasets
from . import metrics as metrics
from ._native import Run as Run
from ._native import Study as Study
from ._native import __version__ as __version__
from ._native import evaluate as evaluate
from ._native import get_num_threads as get_num_threads
from ._native import import_model as import_model
from ._native import set_num_threads as set_num_threads
from ._native import train as train
from ._native import Study as study
from ._scores import Scores as Scores

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
