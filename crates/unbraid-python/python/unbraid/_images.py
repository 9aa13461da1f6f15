"""The images of a data set, read when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    from ._native import Dataset


class Images:
    """Looks like an array [images, height, width, channels] of floats from 0 to 1; indexing reads what is indexed."""

    dtype = np.dtype(np.float32)
    ndim = 4

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self.shape: tuple[int, int, int, int] = (len(data), *data.image_shape)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: Any) -> NDArray[np.float32]:
        rest: list[Any] = []
        if isinstance(index, tuple):
            index, *rest = index
        chosen = np.arange(len(self))[index]
        if np.ndim(chosen) > 1:
            raise IndexError(f"index: found {np.ndim(chosen)} axes, expected at most one for the images")
        read = self._data.read(np.atleast_1d(chosen).astype(np.int64))
        images = read if np.ndim(chosen) else read[0]
        if not rest:
            return images
        return images[(slice(None), *rest)] if np.ndim(chosen) else images[tuple(rest)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("copy: found False, expected None or True: the images are not an array in memory")
        return np.asarray(self[:], dtype=dtype)

    def __repr__(self) -> str:
        return f"<images of {self._data.name}: {' x '.join(map(str, self.shape))}>"
