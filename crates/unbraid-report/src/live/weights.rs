//! Weights as bytes that a page can carry.

use super::layers::PlainNetwork;
use half::f16;

/// How a weight is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// IEEE 754 binary16, with 11 significant bits.
    Half,
    /// A whole number from -127 to 127 times a scale for each output.
    Byte,
}

/// Networks whose weights take more than this in half precision are written as bytes.
const MOST_HALF_BYTES: usize = 2 << 20;

impl Precision {
    /// That of a network with this many weights and biases.
    pub(super) fn of(parameters: usize) -> Self {
        if 2 * parameters <= MOST_HALF_BYTES { Self::Half } else { Self::Byte }
    }

    /// Its word in the page.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Half => "f16",
            Self::Byte => "int8",
        }
    }

    /// For people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Half => "16-bit floats",
            Self::Byte => "8-bit integers",
        }
    }
}

/// How many bytes [`bytes`] gives.
pub(super) fn length(network: &PlainNetwork, precision: Precision) -> usize {
    let of_rows = |rows: &[Vec<f32>]| {
        let weights = rows.iter().map(Vec::len).sum::<usize>();
        match precision {
            Precision::Half => 2 * weights,
            Precision::Byte => 4 * rows.len() + weights,
        }
    };
    network.layers().map(|layer| 4 * layer.bias.len() + of_rows(&layer.rows)).sum()
}

/// For each layer, its biases in single precision; then, of bytes, the scale of each output; then for each
/// output its weights. Little-endian throughout.
pub(super) fn bytes(network: &PlainNetwork, precision: Precision) -> Vec<u8> {
    let mut bytes = Vec::new();
    for layer in network.layers() {
        bytes.extend(layer.bias.iter().flat_map(|value| value.to_le_bytes()));
        match precision {
            Precision::Half => {
                // No trained weight comes near the limits; should one pass them, it stays finite.
                let half = |value: &f32| f16::from_f32(value.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()));
                bytes.extend(layer.rows.iter().flatten().flat_map(|value| half(value).to_le_bytes()));
            }
            Precision::Byte => {
                let scales: Vec<f32> = layer.rows.iter().map(|row| scale(row)).collect();
                bytes.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
                for (row, scale) in layer.rows.iter().zip(scales) {
                    bytes.extend(row.iter().flat_map(|value| ((value / scale).round() as i8).to_le_bytes()));
                }
            }
        }
    }
    bytes
}

/// The scale with which the largest weight of a row becomes 127; any for a row of zeros.
fn scale(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    if largest > 0.0 { largest / 127.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_weight_of_a_row_is_127() {
        assert_eq!(scale(&[0.5, -2.54, 1.0]), 2.54 / 127.0);
        assert_eq!((-2.54_f32 / scale(&[0.5, -2.54, 1.0])).round() as i8, -127);
        assert_eq!(scale(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn large_networks_are_written_as_bytes() {
        assert_eq!(Precision::of(1 << 20), Precision::Half);
        assert_eq!(Precision::of((1 << 20) + 1), Precision::Byte);
    }
}
