//! Single elements of NumPy's arrays: integers and floats of every width and byte order, and text.

use crate::formats::npy::ElementType;

/// Copies an element into a fixed array with its least significant byte first.
fn little_endian<const N: usize>(value: &[u8], element: ElementType) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..value.len()].copy_from_slice(value);
    if element.big_endian {
        bytes[..value.len()].reverse();
    }
    bytes
}

pub(super) fn integer(value: &[u8], element: ElementType) -> Option<i64> {
    let raw = u64::from_le_bytes(little_endian(value, element));
    if element.kind == 'i' {
        let unused = 64 - 8 * value.len() as u32;
        Some((raw << unused) as i64 >> unused)
    } else {
        i64::try_from(raw).ok()
    }
}

pub(super) fn float(value: &[u8], element: ElementType) -> f64 {
    match value.len() {
        2 => half(u16::from_le_bytes(little_endian(value, element))),
        4 => f64::from(f32::from_le_bytes(little_endian(value, element))),
        _ => f64::from_le_bytes(little_endian(value, element)),
    }
}

/// IEEE 754 half precision: 1 sign bit, 5 exponent bits with bias 15, 10 fraction bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    match i32::from(bits >> 10 & 0x1f) {
        0 => sign * fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1.0 + fraction) * 2_f64.powi(exponent - 15),
    }
}

pub(super) fn text(value: &[u8], element: ElementType) -> String {
    let text: String = if element.kind == 'U' {
        value
            .chunks_exact(4)
            .map(|c| char::from_u32(u32::from_le_bytes(little_endian(c, element))).unwrap_or('\u{fffd}'))
            .collect()
    } else {
        String::from_utf8_lossy(value).into_owned()
    };
    text.trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the IEEE 754 tables.
    #[test]
    fn half_precision() {
        let cases =
            [(0x0000, 0.0), (0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x3555, 0.333_251_953_125)];
        for (bits, value) in cases {
            assert_eq!(half(bits), value);
        }
        assert_eq!(half(0x0001), 2_f64.powi(-24));
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }

    #[test]
    fn integers_of_every_width_and_order() {
        let big = |kind, bytes| ElementType { kind, bytes, big_endian: true };
        assert_eq!(integer(&[0xff], ElementType::little('i', 1)), Some(-1));
        assert_eq!(integer(&[0xff], ElementType::little('u', 1)), Some(255));
        assert_eq!(integer(&[0xfe, 0xff], ElementType::little('i', 2)), Some(-2));
        assert_eq!(integer(&[0x01, 0x02], big('i', 2)), Some(258));
        assert_eq!(integer(&[0xff; 8], ElementType::little('i', 8)), Some(-1));
        assert_eq!(integer(&[0xff; 8], ElementType::little('u', 8)), None);
    }
}
