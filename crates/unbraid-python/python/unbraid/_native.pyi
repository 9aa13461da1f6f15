from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ._images import Images
from ._scores import Scores

__version__: str

_Progress: TypeAlias = bool | Callable[[str, int, int, dict[str, float]], object]
_Layout: TypeAlias = Literal["NHWC", "NCHW", "NHW", "HWC", "CHW", "HW"]
_Floats: TypeAlias = NDArray[np.float32]
# Images, or rows of a table in double precision.
_Decoded: TypeAlias = NDArray[np.float32 | np.float64]
_Factors: TypeAlias = NDArray[np.int64]
_Sampled: TypeAlias = tuple[_Floats, _Factors]

@final
class Run:
    def __new__(cls, path: str | PathLike[str], *, step: int | None = None, device: str = "cpu") -> Run: ...
    @property
    def path(self) -> Path: ...
    @property
    def step(self) -> int: ...
    @property
    def image_shape(self) -> tuple[int, int, int]: ...
    @property
    def n_units(self) -> int: ...
    @property
    def categorical_units(self) -> list[int]: ...
    @property
    def unit_names(self) -> dict[int | str, str]: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def scores(self) -> Scores | None: ...
    @property
    def history(self) -> dict[str, NDArray[np.float64]]: ...
    def encode(self, images: NDArray[Any], *, layout: _Layout | None = None) -> tuple[_Floats, _Floats]: ...
    def categories(self, images: NDArray[Any], *, layout: _Layout | None = None) -> _Floats: ...
    def latents(self, images: NDArray[Any], *, layout: _Layout | None = None) -> _Floats: ...
    def decode(self, latents: NDArray[Any]) -> _Decoded: ...
    def reconstruct(self, images: NDArray[Any], *, layout: _Layout | None = None) -> _Decoded: ...
    def traverse(
        self,
        image: NDArray[Any] | None = None,
        *,
        unit: int | str,
        values: Sequence[float] | None = None,
        range: tuple[float, float] | None = None,
        steps: int = 11,
        layout: _Layout | None = None,
    ) -> _Decoded: ...
    def sample(self, n: int, *, seed: int = 0) -> _Decoded: ...
    def edit(
        self, images: NDArray[Any], units: Mapping[int | str, float], *, layout: _Layout | None = None
    ) -> _Decoded: ...
    def name_units(self, names: Mapping[int | str, str]) -> None: ...
    def state_dict(self) -> dict[str, NDArray[Any]]: ...
    def export(
        self,
        format: Literal["onnx", "safetensors", "hub"],
        path: str | PathLike[str],
        *,
        licence: str | None = None,
        overwrite: bool = False,
    ) -> list[Path]: ...
    def _page(self) -> str | None: ...
    def _repr_html_(self) -> str: ...

@final
class Dataset:
    def __len__(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def image_shape(self) -> tuple[int, int, int]: ...
    @property
    def factor_names(self) -> list[str]: ...
    @property
    def factor_sizes(self) -> list[int]: ...
    @property
    def factor_kinds(self) -> list[str]: ...
    @property
    def factors(self) -> _Factors: ...
    @property
    def images(self) -> Images: ...
    def read(self, indices: NDArray[np.integer[Any]]) -> _Floats: ...
    def sample(self, n: int, *, fixed: int | str | None = None, seed: int = 0) -> _Sampled: ...
    def pairs(self, n: int, factor: int | str, *, seed: int = 0) -> tuple[_Sampled, _Sampled]: ...
    def index_of(self, factors: NDArray[Any]) -> _Factors: ...

@final
class Study:
    def __new__(cls, path: str | PathLike[str]) -> Study: ...
    def __len__(self) -> int: ...
    @property
    def path(self) -> Path: ...
    def run(
        self, *, jobs: int | None = None, retry_failed: bool = False, progress: _Progress | None = None
    ) -> Study: ...
    def table(self) -> dict[str, Any]: ...

def evaluate(
    codes: NDArray[Any] | None = None,
    factors: NDArray[Any] | None = None,
    *,
    codes_test: NDArray[Any] | None = None,
    factors_test: NDArray[Any] | None = None,
    log_variance: NDArray[Any] | None = None,
    clusters: NDArray[Any] | None = None,
    clusters_test: NDArray[Any] | None = None,
    factor_names: Sequence[str] | None = None,
    factor_kinds: Sequence[str] | None = None,
    sampler: Callable[[_Factors], NDArray[Any]] | None = None,
    factor_sizes: Sequence[int] | None = None,
    samples: int = 10_000,
    metrics: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    chance: bool = True,
    bootstrap: int = 0,
) -> Scores: ...
def train(
    data: str | PathLike[str] | Dataset | NDArray[Any] | None = None,
    *,
    factors: NDArray[Any] | None = None,
    factor_names: Sequence[str] | None = None,
    factor_kinds: Sequence[str] | None = None,
    layout: _Layout | None = None,
    out: str | PathLike[str] | None = None,
    objective: str | None = None,
    n_units: int | None = None,
    steps: int | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    seed: int | None = None,
    preset: str | None = None,
    config: str | PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    evaluate: bool = True,
    report: bool = True,
    device: str = "cpu",
    progress: _Progress | None = None,
    **options: Any,
) -> Run: ...
def import_model(
    path: str | PathLike[str],
    *,
    out: str | PathLike[str],
    data: str | PathLike[str] | Dataset | None = None,
    mapping: str | PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Run: ...
def load(
    name: str | None = None,
    *,
    path: str | PathLike[str] | None = None,
    progress: _Progress | None = None,
    **options: bool | float | str | Mapping[str, Any],
) -> Dataset: ...
def list_datasets() -> list[dict[str, Any]]: ...
def describe_metrics() -> list[dict[str, Any]]: ...
def set_num_threads(threads: int) -> None: ...
def get_num_threads() -> int: ...
def main(arguments: Sequence[str], program: str | None) -> int: ...
