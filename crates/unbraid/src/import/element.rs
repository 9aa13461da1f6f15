//! The number types of tensors in files from elsewhere.

use crate::model::Values;

/// A number type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    Bool,
}

impl Element {
    /// By the name of PyTorch's storage class, without `Storage`.
    pub(super) fn of_torch(name: &str) -> Option<Self> {
        Some(match name {
            "Half" => Self::F16,
            "BFloat16" => Self::Bf16,
            "Float" => Self::F32,
            "Double" => Self::F64,
            "Char" => Self::I8,
            "Short" => Self::I16,
            "Int" => Self::I32,
            "Long" => Self::I64,
            "Byte" => Self::U8,
            "Bool" => Self::Bool,
            _ => return None,
        })
    }

    /// By its name in a safetensors file.
    pub(super) fn of_safetensors(dtype: safetensors::Dtype) -> Option<Self> {
        use safetensors::Dtype;
        Some(match dtype {
            Dtype::F16 => Self::F16,
            Dtype::BF16 => Self::Bf16,
            Dtype::F32 => Self::F32,
            Dtype::F64 => Self::F64,
            Dtype::I8 => Self::I8,
            Dtype::I16 => Self::I16,
            Dtype::I32 => Self::I32,
            Dtype::I64 => Self::I64,
            Dtype::U8 => Self::U8,
            Dtype::BOOL => Self::Bool,
            // Of a list that the other crate may extend.
            _ => return None,
        })
    }

    /// Bytes of one number.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// Whether it is a floating-point type, which weights have. The others are counters.
    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// Little-endian numbers as weights in single precision, or as counters. What follows the last whole
    /// number is ignored.
    pub(super) fn values(self, bytes: &[u8]) -> Values {
        fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
            bytes.as_chunks::<N>().0.iter().copied()
        }
        let half = |word| half::f16::from_bits(u16::from_le_bytes(word)).to_f32();
        let brain = |word| half::bf16::from_bits(u16::from_le_bytes(word)).to_f32();
        match self {
            Self::F16 => Values::Floats(words(bytes).map(half).collect()),
            Self::Bf16 => Values::Floats(words(bytes).map(brain).collect()),
            Self::F32 => Values::Floats(words(bytes).map(f32::from_le_bytes).collect()),
            Self::F64 => Values::Floats(words(bytes).map(|word| f64::from_le_bytes(word) as f32).collect()),
            Self::I8 => Values::Integers(words(bytes).map(|word| i8::from_le_bytes(word).into()).collect()),
            Self::I16 => Values::Integers(words(bytes).map(|word| i16::from_le_bytes(word).into()).collect()),
            Self::I32 => Values::Integers(words(bytes).map(|word| i32::from_le_bytes(word).into()).collect()),
            Self::I64 => Values::Integers(words(bytes).map(i64::from_le_bytes).collect()),
            Self::U8 | Self::Bool => Values::Integers(bytes.iter().map(|&byte| byte.into()).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One and a half in each format, by hand: sign, exponent with its bias, and the first bit of the fraction.
    #[test]
    fn numbers_are_read_in_every_format() {
        for (element, bytes) in [
            (Element::F16, 0x3e00_u16.to_le_bytes().to_vec()),
            (Element::Bf16, 0x3fc0_u16.to_le_bytes().to_vec()),
            (Element::F32, 0x3fc0_0000_u32.to_le_bytes().to_vec()),
            (Element::F64, 0x3ff8_0000_0000_0000_u64.to_le_bytes().to_vec()),
        ] {
            assert_eq!(element.values(&bytes), Values::Floats(vec![1.5]));
            assert!(element.is_float() && element.size() == bytes.len());
        }
        for (element, bytes) in [
            (Element::I8, vec![0xfe]),
            (Element::I16, vec![0xfe, 0xff]),
            (Element::I32, vec![0xfe, 0xff, 0xff, 0xff]),
            (Element::I64, vec![0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ] {
            assert_eq!(element.values(&bytes), Values::Integers(vec![-2]));
            assert!(!element.is_float() && element.size() == bytes.len());
        }
        assert_eq!(Element::U8.values(&[254]), Values::Integers(vec![254]));
    }
}
