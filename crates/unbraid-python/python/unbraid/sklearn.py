"""A variational autoencoder as an estimator of scikit-learn, which must be installed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import Run, train

#: The files of a run that a pickled estimator carries.
_FILES = ("config.toml", "meta.json", "status.json", "metrics.jsonl", "checkpoints/last.safetensors")


class VAE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learns latent units from images, or from rows of numbers.

    ``fit`` takes images [n, height, width, channels] (uint8, or float32 from 0 to 1), or rows [n, features], each feature
    of which is scaled to its range in the training data. ``transform`` gives the means of the posteriors [n, n_units],
    ``inverse_transform`` decodes them to what ``fit`` took.

    Parameters
    ----------
    objective : str
        A method of ``unbraid objectives``.
    beta : float or None
        The weight ``beta`` of methods that have one; None leaves it out.
    n_units : int
        The number of latent units.
    image_shape : tuple or None
        Height, width and channels of the images that are the rows of X, if they are.
    steps, batch_size : int
        The length of training, and the images of a step (at most as many as there are).
    settings : dict or None
        Further keys of the configuration: ``{"model.architecture": "conv"}``.
    random_state : int, RandomState or None
        The seed.
    out : path or None
        The run directory; by default a temporary one. A run that is there is overwritten.
    progress : bool or callable
        As for ``unbraid.train``.

    Attributes
    ----------
    run_ : Run
        The trained model.
    """

    def __init__(
        self,
        objective: str = "beta-vae",
        *,
        beta: float | None = 4.0,
        n_units: int = 10,
        image_shape: tuple[int, int, int] | None = None,
        steps: int = 2000,
        batch_size: int = 64,
        settings: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = 0,
        out: str | PathLike[str] | None = None,
        progress: bool | Callable[[str, int, int, dict[str, float]], object] = False,
    ) -> None:
        self.objective = objective
        self.beta = beta
        self.n_units = n_units
        self.image_shape = image_shape
        self.steps = steps
        self.batch_size = batch_size
        self.settings = settings
        self.random_state = random_state
        self.out = out
        self.progress = progress

    def fit(self, X: ArrayLike, y: Any = None) -> VAE:
        """Trains on X; y is ignored."""
        X = self._checked(X, is_fit=True)
        images = self._images(X)
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31)
        settings: dict[str, Any] = {}
        if self._is_rows:
            settings["model.architecture"] = {"name": "mlp", "encoder": [256, 256], "decoder": [256, 256]}
            settings["model.likelihood"] = {"name": "gaussian", "scale": 0.1}
        options: dict[str, Any] = {} if self.beta is None else {"beta": float(self.beta)}
        directory = self.out
        if directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="unbraid-", ignore_cleanup_errors=True)
            directory = Path(self._directory.name) / "run"
        self.run_ = train(
            images,
            layout="NHWC",
            out=directory,
            objective=self.objective,
            n_units=self.n_units,
            steps=self.steps,
            batch_size=min(self.batch_size, len(images)),
            seed=int(seed),
            set={**settings, **(self.settings or {})},
            overwrite=True,
            evaluate=False,
            report=False,
            progress=self.progress,
            **options,
        )
        self._n_features_out = self.n_units
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """The means of the posteriors, [n, n_units]."""
        check_is_fitted(self, "run_")
        mean, _ = self.run_.encode(self._images(self._checked(X, is_fit=False)), layout="NHWC")
        return mean

    def inverse_transform(self, Z: ArrayLike) -> NDArray[Any]:
        """Images or rows decoded from latent values [n, n_units]."""
        check_is_fitted(self, "run_")
        images = self.run_.decode(check_array(Z, dtype=np.float32))
        if self._ndim == 4:
            return images
        rows = images.reshape(len(images), -1)
        return rows * self._range + self._low if self._is_rows else rows

    def _checked(self, X, *, is_fit):
        """X as an array, with scikit-learn's checks and messages."""
        ndim = getattr(X, "ndim", 2) if is_fit else self._ndim
        if ndim == 4:
            X = check_array(X, dtype=None, allow_nd=True, ensure_2d=False)
            if is_fit:
                self.n_features_in_ = int(np.prod(X.shape[1:]))
        else:
            dtype = None if self.image_shape is not None else np.float64
            X = validate_data(self, X, reset=is_fit, dtype=dtype, ensure_min_samples=2 if is_fit else 1)
        if is_fit:
            self._ndim = ndim
            self._is_rows = ndim != 4 and self.image_shape is None
            if self._is_rows:
                self._low = X.min(axis=0)
                spread = X.max(axis=0) - self._low
                self._range = np.where(spread > 0, spread, 1.0)
        return X

    def _images(self, X):
        if self._ndim == 4:
            return X
        if self._is_rows:
            scaled = np.clip((X - self._low) / self._range, 0.0, 1.0)
            return np.ascontiguousarray(scaled, dtype=np.float32).reshape(len(X), 1, X.shape[1], 1)
        if X.dtype == np.float64:
            X = X.astype(np.float32)
        return np.ascontiguousarray(X).reshape(len(X), *self.image_shape)

    def __getstate__(self):
        state = super().__getstate__().copy()
        state.pop("_directory", None)
        run = state.pop("run_", None)
        if run is not None:
            files = ((name, Path(run.path) / name) for name in _FILES)
            state["_files"] = {name: file.read_bytes() for name, file in files if file.is_file()}
        return state

    def __setstate__(self, state):
        files = state.pop("_files", None)
        super().__setstate__(state)
        if files is not None:
            self._directory = tempfile.TemporaryDirectory(prefix="unbraid-", ignore_cleanup_errors=True)
            root = Path(self._directory.name) / "run"
            for name, content in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(content)
            self.run_ = Run(root)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.three_d_array = False
        return tags
