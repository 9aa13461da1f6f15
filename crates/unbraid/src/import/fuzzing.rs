//! The readers of models from elsewhere on bytes, for the targets in `fuzz/`, which must not panic, hang, or
//! take more memory than [`unbraid_data::memory::limit`]; compiled for them and for a test of their seeds.

use super::mapping_file::MappingFile;
use super::pickle::Pickle;
use super::specs::Specs;
use super::state_file::StateFile;
use super::{Import, published};
use crate::error::Result;
use crate::model::{StateTensor, write_state};
use std::path::Path;
use unbraid_data::DataSpec;
use unbraid_data::progress::Silent;

/// The dictionary of tensors within [`MAPPED`].
const ROOT: &str = "model_states.net";
/// The weights of the seeds that are mappings.
const MAPPED: &[u8] = include_bytes!("../../tests/fixtures/torch_mlp.pt");

/// More numbers are not made: a file may let one stand for as many as fit into memory, which takes seconds.
const MOST_NUMBERS: usize = 1 << 16;

/// A file of weights: both formats of `torch.save`, safetensors, or the pickle of the first alone. Gives the number of
/// tensors that were read.
///
/// # Errors
/// If it is none of them.
pub fn weights(bytes: &[u8]) -> Result<usize> {
    let path = Path::new("fuzz");
    drop(Pickle::read(bytes));
    let file = StateFile::of_bytes(path, bytes.to_vec(), None)
        .or_else(|_| StateFile::of_bytes(path, bytes.to_vec(), Some(ROOT)))?;
    let is_small = |name: &&str| {
        let shape = file.get(name).map_or(&[][..], |tensor| tensor.shape.as_slice());
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        count.is_some_and(|count| count <= MOST_NUMBERS)
    };
    let mut read = 0;
    for name in file.names().filter(is_small) {
        read += usize::from(file.tensor(name)?.is_some());
    }
    Ok(read)
}

/// The settings of a model: a mapping file, or a `specs.json`, by its first character. Gives the number of
/// tensors of the run that would be written.
///
/// # Errors
/// If the settings are wrong, or are those of other weights than there are here.
pub fn settings(text: &str) -> Result<usize> {
    let path = Path::new("fuzz");
    // Data that are elsewhere, so that no text chooses files to open.
    let import = Import::new(path).data(DataSpec::named("npz"));
    let (file, recipe) = if text.starts_with('{') {
        // All that joint-vae is recognised by; models of disentangling-vae are known by their settings.
        let first = StateTensor::floats("img_to_features.0.weight", vec![32, 1, 4, 4], vec![0.0; 512]);
        let file = StateFile::of_bytes(path, write_state(&[first], "")?, None)?;
        let recipe = published(&Specs::of_text(path, text)?, &file)?;
        (file, recipe)
    } else {
        let MappingFile { root, recipe } = MappingFile::of_text(path, text)?;
        (StateFile::of_bytes(path, MAPPED.to_vec(), root.as_deref())?, recipe)
    };
    Ok(import.read(&file, &recipe, &Silent)?.state.len())
}

/// An encoder as an ONNX file, on the images of a small data set. Gives the number of units.
///
/// # Errors
/// If the file is no encoder of such images.
#[cfg(feature = "onnx")]
pub fn encoder(bytes: &[u8]) -> Result<usize> {
    use super::onnx::{EncoderOptions, OnnxEncoder};
    use std::sync::LazyLock;
    use unbraid_data::DataSet;
    use unbraid_data::random::Stream;

    static DATA: LazyLock<Box<dyn DataSet>> = LazyLock::new(|| {
        let spec = "shapes(scales=2, orientations=2, positions=2)".parse().expect("it is written here");
        unbraid_data::open(&spec, &Silent).expect("it needs no file")
    });
    let data = DATA.as_ref();
    let encoder = OnnxEncoder::of_bytes(bytes, Path::new("fuzz"), data, &EncoderOptions::default())?;
    let codes = encoder.encode_data(data, &[0, 5, 7], Stream::new(0, "fuzzing"), &Silent)?;
    assert_eq!(codes.mean.dim(), (3, encoder.units()));
    Ok(encoder.units())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::error_chain;
    use std::fs;
    use std::path::PathBuf;

    fn repository(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
    }

    fn seed(path: &str) -> Vec<u8> {
        fs::read(repository(path)).unwrap()
    }

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        error_chain(&result.unwrap_err())
    }

    /// So that mutations of the seeds reach what comes after the first check. The numbers of tensors are those of
    /// `make_torch_files.py`.
    #[test]
    fn seeds_are_read_to_their_end() {
        for (path, tensors) in [
            ("crates/unbraid/tests/fixtures/torch_zip.pt", 10),
            ("crates/unbraid/tests/fixtures/torch_old.pt", 10),
            ("crates/unbraid/tests/fixtures/torch_checkpoint.pt", 10),
            ("crates/unbraid/tests/fixtures/torch_mlp.pt", 8),
        ] {
            assert_eq!(weights(&seed(path)).unwrap(), tensors, "{path}");
        }
        assert!(Pickle::read(&seed("fuzz/seeds/import/torch_zip.pkl")).is_ok());
        let text = |name: &str| String::from_utf8(seed(&format!("fuzz/seeds/import/{name}"))).unwrap();
        assert_eq!(settings(&text("torch_mlp.toml")).unwrap(), 10);
        #[cfg(feature = "onnx")]
        for name in ["encoder_with_categories", "encoder_full_covariance", "encoder_of_others"] {
            assert_eq!(encoder(&seed(&format!("fuzz/seeds/onnx/{name}.onnx"))).unwrap(), 2, "{name}");
        }
        assert_eq!(
            message(settings(&text("disentangling_vae.json"))),
            "fuzz: weights of another model: encoder.conv1.weight: found nothing, expected floats [32, 1, 4, 4]"
        );
        assert_eq!(
            message(settings(&text("joint_vae.json"))),
            "fuzz: weights of another model: img_to_features.2.weight (here encoder.conv2.weight): found nothing, expected \
             floats [64, 32, 4, 4]"
        );
    }

    /// What a fuzzer tries first: another byte, and an end, at places all over the file.
    #[test]
    fn damaged_seeds_do_not_panic() {
        for path in [
            "crates/unbraid/tests/fixtures/torch_zip.pt",
            "crates/unbraid/tests/fixtures/torch_old.pt",
            "fuzz/seeds/import/torch_zip.pkl",
            "fuzz/seeds/checkpoint/last.safetensors",
        ] {
            let bytes = seed(path);
            for place in (0..bytes.len()).step_by(7) {
                drop(weights(&bytes[..place]));
                for bits in [0x01, 0x80, 0xff] {
                    let mut changed = bytes.clone();
                    changed[place] ^= bits;
                    drop(weights(&changed));
                }
            }
        }
    }

    #[test]
    #[cfg(feature = "onnx")]
    fn damaged_encoders_do_not_panic() {
        let bytes = seed("fuzz/seeds/onnx/encoder_of_others.onnx");
        for place in (0..bytes.len()).step_by(11) {
            drop(encoder(&bytes[..place]));
            let mut changed = bytes.clone();
            changed[place] ^= 0xff;
            drop(encoder(&changed));
        }
    }
}
