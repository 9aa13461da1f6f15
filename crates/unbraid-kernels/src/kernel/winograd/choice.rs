//! Which layers are computed by Winograd's algorithm.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::environment::EnvironmentError;
use crate::geometry::Layer;
use crate::kernel::winograd::grid::{Grid, PHASES};
use crate::kernel::winograd::points::POSITIONS;

/// How convolutions with kernels of 4 x 4 and stride 2 are computed.
///
/// ```
/// use unbraid_kernels::ConvolutionAlgorithm;
///
/// assert_eq!(ConvolutionAlgorithm::current(), ConvolutionAlgorithm::Winograd);
/// ConvolutionAlgorithm::force(Some(ConvolutionAlgorithm::Direct));
/// assert_eq!(ConvolutionAlgorithm::current(), ConvolutionAlgorithm::Direct);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvolutionAlgorithm {
    /// By Winograd's algorithm where it is faster, which needs up to 2.56 times fewer multiplications. Its rounding error
    /// is up to ten times that of the definition, about `1e-6` of the result.
    Winograd,
    /// By the definition, always.
    Direct,
}

/// The environment variable that names the default.
const VARIABLE: &str = "UNBRAID_CONV";

/// What [`ConvolutionAlgorithm::force`] chose.
static FORCED: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const WINOGRAD: u8 = 1;
const DIRECT: u8 = 2;

impl ConvolutionAlgorithm {
    /// The algorithm that layers use: the one that [`ConvolutionAlgorithm::force`] chose, otherwise the one that the
    /// environment variable `UNBRAID_CONV` names (`winograd` or `direct`), otherwise Winograd's.
    ///
    /// # Panics
    /// If `UNBRAID_CONV` has another value.
    pub fn current() -> Self {
        static DEFAULT: OnceLock<ConvolutionAlgorithm> = OnceLock::new();
        match FORCED.load(Ordering::Relaxed) {
            WINOGRAD => Self::Winograd,
            DIRECT => Self::Direct,
            _ => *DEFAULT.get_or_init(|| Self::from_environment().unwrap_or_else(|error| panic!("{error}"))),
        }
    }

    /// The default: what the environment variable names, or Winograd's.
    pub(crate) fn from_environment() -> Result<Self, EnvironmentError> {
        match std::env::var(VARIABLE).as_deref() {
            Ok("direct") => Ok(Self::Direct),
            Ok("" | "winograd") | Err(_) => Ok(Self::Winograd),
            Ok(other) => {
                let reason = format!("found \"{other}\", expected `winograd` or `direct`");
                Err(EnvironmentError { variable: VARIABLE, reason })
            }
        }
    }

    /// Makes every layer of this process use `choice` from now on; `None` returns to the default.
    pub fn force(choice: Option<Self>) {
        let number = match choice {
            None => NOTHING,
            Some(Self::Winograd) => WINOGRAD,
            Some(Self::Direct) => DIRECT,
        };
        FORCED.store(number, Ordering::Relaxed);
    }
}

/// Time of a transformed float, in multiply-adds of a product: a fit to measurements, see docs/performance.md.
const TRANSFORM: f64 = 8.0;

/// Whether a layer is computed by Winograd's algorithm.
///
/// It depends on the shapes of one image only, so that the result for an image does not depend on its batch.
pub(crate) fn pays(layer: &Layer, lanes: usize) -> bool {
    ConvolutionAlgorithm::current() == ConvolutionAlgorithm::Winograd
        && ConvolutionCost::of(layer, lanes).is_some_and(|cost| cost.saving() > 1.0)
}

/// What a pass of a layer over one image takes, by either algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvolutionCost {
    /// Multiply-adds by the definition.
    pub direct_products: f64,
    /// Multiply-adds of Winograd's algorithm.
    pub winograd_products: f64,
    /// Floats that its transforms write or read.
    pub transformed_floats: f64,
}

impl ConvolutionCost {
    /// Of a layer, unless Winograd's algorithm cannot compute it with vectors of `lanes` floats.
    pub(crate) fn of(layer: &Layer, lanes: usize) -> Option<Self> {
        let Layer { fine, coarse, filter, .. } = *layer;
        let possible = filter.size == [4, 4]
            && filter.stride == [2, 2]
            && filter.padding.iter().all(|padding| *padding <= 2)
            && fine.channels.is_multiple_of(lanes)
            && coarse.channels.is_multiple_of(lanes);
        possible.then(|| {
            let tiles = (POSITIONS * Grid::new(layer).tiles_per_image()) as f64;
            let (fine_width, coarse_width) = ((PHASES * fine.channels) as f64, coarse.channels as f64);
            Self {
                direct_products: (layer.weights() * coarse.height * coarse.width) as f64,
                winograd_products: tiles * fine_width * coarse_width,
                transformed_floats: tiles * (fine_width + coarse_width),
            }
        })
    }

    /// The time by the definition divided by that of Winograd's algorithm, according to the model that chooses.
    pub fn saving(&self) -> f64 {
        self.saving_with(TRANSFORM)
    }

    /// The same if a transformed float takes as long as `transform` multiply-adds.
    pub fn saving_with(&self, transform: f64) -> f64 {
        self.direct_products / (self.winograd_products + transform * self.transformed_floats)
    }
}
