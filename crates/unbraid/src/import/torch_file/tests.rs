use super::*;
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn refusal(bytes: Vec<u8>) -> String {
    let Refusal { found, expected } = TorchFile::read(bytes, None).unwrap_err();
    format!("found {found}, expected {expected}")
}

/// The numbers of make_torch_files.py: half of 0 to 5 in two rows of three.
#[test]
fn tensors_of_both_formats_are_those_that_were_saved() {
    let floats = |values: &[f32]| Values::Floats(values.to_vec());
    let matrix = floats(&[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    for name in ["torch_zip.pt", "torch_old.pt", "torch_checkpoint.pt"] {
        let file = TorchFile::read(fixture(name), None).unwrap();
        assert_eq!(file.tensors().count(), 10);
        for (name, shape, values) in [
            ("matrix", vec![2, 3], matrix.clone()),
            ("transposed", vec![3, 2], floats(&[0.0, 1.5, 0.5, 2.0, 1.0, 2.5])),
            ("column", vec![2], floats(&[0.5, 2.0])),
            ("parameter", vec![2, 3], matrix.clone()),
            ("half", vec![2, 3], matrix.clone()),
            ("brain", vec![2, 3], matrix.clone()),
            ("double", vec![2, 3], matrix.clone()),
            ("counter", vec![], Values::Integers(vec![12_345_678_901])),
            ("flags", vec![2], Values::Integers(vec![1, 0])),
            ("nothing", vec![0, 4], floats(&[])),
        ] {
            let tensor = file.tensor(name).unwrap();
            assert_eq!((tensor.shape, tensor.values), (shape, values), "{name}");
        }
    }
    let nested = fixture("torch_checkpoint.pt");
    assert_eq!(TorchFile::read(nested.clone(), Some("state_dict")).unwrap().tensors().count(), 10);
    let Refusal { found, expected } = TorchFile::read(nested, Some("optimizer.state")).unwrap_err();
    assert_eq!(
        (found.as_str(), expected.as_str()),
        (
            "a dictionary of `epoch`, `optimizer`, `state_dict`, without tensors under `optimizer.state`",
            "the name of a dictionary of tensors as `root`"
        )
    );
}

#[test]
fn what_is_no_state_dict_is_refused_by_name() {
    assert_eq!(
        refusal(fixture("torch_module.pt")),
        "found a pickle that asks for `__main__.Net`, expected a state dict of tensors: \
         torch.save(model.state_dict(), ...)"
    );
    assert_eq!(
        refusal(fixture("torch_list.pt")),
        "found a list, expected a dictionary of tensors: torch.save(model.state_dict(), ...)"
    );
    assert_eq!(
        refusal(fixture("torch_mlp.pt")),
        "found a dictionary of `model_states`, `iter`, expected a dictionary of tensors: \
         torch.save(model.state_dict(), ...)"
    );
}

/// A file that is cut anywhere is refused, never read in part: a zip archive has its list of entries at the
/// end, and an old file its storages.
#[test]
fn a_file_that_is_cut_is_refused() {
    for name in ["torch_zip.pt", "torch_old.pt"] {
        let whole = fixture(name);
        for length in OLD_MAGIC.len()..whole.len() {
            assert!(TorchFile::read(whole[..length].to_vec(), None).is_err(), "{name} {length}");
        }
    }
    let old = fixture("torch_old.pt");
    assert_eq!(
        refusal(old[..old.len() - 1].to_vec()),
        "found a file that ends within its storages, expected a whole file"
    );
    assert_eq!(
        refusal(old[..40].to_vec()),
        "found a file that ends within its pickle, expected a whole file"
    );
}

/// Bytes that are changed one at a time give a refusal or tensors that can be read, and no panic. Those that
/// would be too large to read are left to the caller, who asks for their size first.
#[test]
fn damaged_bytes_do_no_harm() {
    for name in ["torch_zip.pt", "torch_old.pt", "torch_checkpoint.pt"] {
        let whole = fixture(name);
        for place in 0..whole.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] ^= change;
                let Ok(file) = TorchFile::read(bytes, None) else { continue };
                let small = |shape: &[usize]| {
                    shape
                        .iter()
                        .try_fold(1_usize, |count, size| count.checked_mul(*size))
                        .is_some_and(|count| count < 1000)
                };
                let names: Vec<String> = file
                    .tensors()
                    .filter(|(_, shape, _)| small(shape))
                    .map(|(name, ..)| name.to_owned())
                    .collect();
                for name in names {
                    file.tensor(&name).unwrap();
                }
            }
        }
    }
}
