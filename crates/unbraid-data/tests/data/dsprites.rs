//! dSprites: the real files, the built-in renderer compared with them, and damaged files.

use crate::shared_data::shared;
use crate::support::{
    Array, damage, factors, image, missing, open_path, open_spec, refusal, test_name, write_npz,
};
use std::fs;
use unbraid_data::formats::npz::Npz;
use unbraid_data::memory;
use unbraid_data::random::Stream;

/// The number of images of one shape that were compared, how many are identical, and the largest number of pixels off.
#[derive(Clone, Copy, Debug, Default)]
struct Agreement {
    compared: usize,
    exact: usize,
    most_pixels_off: usize,
}

/// All 64,834 genuine images: the 20,000 of the subset and the 46,080 of the reduced grid, which share 1,246.
#[test]
fn rendered_shapes_agree_with_genuine_images() {
    let files = ["data/dsprites/dsprites_subset.npz", "data/dsprites/dsprites_downsampled.npz"];
    let Some(files) = shared(test_name!(), files) else { return };
    let rendered = open_spec("shapes").unwrap();
    let mut seen = std::collections::HashSet::new();
    let mut agreements = [Agreement::default(); 3];
    for file in files {
        let genuine = open_path("dsprites", &file).unwrap();
        let originals =
            Npz::open(&file).unwrap().array("original_dataset_indices").unwrap().integers().unwrap();
        for (index, &original) in originals.iter().enumerate() {
            if !seen.insert(original) {
                continue;
            }
            let original = usize::try_from(original).unwrap();
            let off = image(rendered.as_ref(), original)
                .iter()
                .zip(image(genuine.as_ref(), index))
                .filter(|(rendered, genuine)| **rendered != *genuine)
                .count();
            let agreement = &mut agreements[factors(rendered.as_ref(), original)[0] as usize];
            agreement.compared += 1;
            agreement.exact += usize::from(off == 0);
            agreement.most_pixels_off = agreement.most_pixels_off.max(off);
        }
    }
    assert_eq!(seen.len(), 64_834);
    for (shape, (agreement, least)) in
        ["square", "ellipse", "heart"].iter().zip(agreements.iter().zip([0.999, 0.95, 0.95]))
    {
        let share = agreement.exact as f64 / agreement.compared as f64;
        println!("{shape}: {:.4} exact of {}", share, agreement.compared);
        assert!(share >= least, "{shape}: {agreement:?}");
        assert!(agreement.most_pixels_off <= 2, "{shape}: {agreement:?}");
    }
}

/// Order and classes, compared with those in the complete file.
#[test]
fn shapes_have_the_order_of_the_original_file() {
    let Some([file]) = shared(test_name!(), ["data/dsprites/dsprites_reconstructed.npz"]) else { return };
    let classes = Npz::open(&file).unwrap().array("latents_classes").unwrap().integers().unwrap();
    let shapes = open_spec("shapes").unwrap();
    assert_eq!(shapes.len(), classes.len() / 6);
    for (index, row) in classes.chunks(6).enumerate() {
        let expected: Vec<u32> = row[1..].iter().map(|&class| class as u32).collect();
        assert_eq!(factors(shapes.as_ref(), index), expected, "image {index}");
        assert_eq!(shapes.index_of(&expected), Some(index));
    }
}

#[test]
fn the_complete_file_is_packed() {
    let Some([file]) = shared(test_name!(), ["data/dsprites/dsprites_reconstructed.npz"]) else { return };
    let data = open_path("dsprites", &file).unwrap();
    assert_eq!((data.len(), data.is_full_grid()), (737_280, true));
    // 4096 pixels of one bit each, and nothing for the factors of a full grid.
    assert_eq!(data.memory(), 737_280 * 512);
    let white: f32 = image(data.as_ref(), 700_000).iter().sum();
    assert!(white > 50.0 && white < 700.0, "{white} white pixels");
}

/// The 5-column file is the full grid of every 4th angle and every 2nd position; `shapes` reduces in the same way.
#[test]
fn reduced_grids_agree_in_order() {
    let Some([file]) = shared(test_name!(), ["data/dsprites/dsprites_downsampled.npz"]) else { return };
    let genuine = open_path("dsprites", &file).unwrap();
    let rendered = open_spec("shapes(orientations=10, positions=16)").unwrap();
    assert_eq!(rendered.len(), 46_080);
    assert!(genuine.is_full_grid() && rendered.is_full_grid());
    let mut off = 0;
    for index in (0..46_080).step_by(97) {
        assert_eq!(factors(genuine.as_ref(), index), factors(rendered.as_ref(), index));
        let pairs = image(genuine.as_ref(), index).into_iter().zip(image(rendered.as_ref(), index));
        off = off.max(pairs.filter(|(left, right)| left != right).count());
    }
    assert!(off <= 2, "{off} pixels off");
}

/// A subset is not a full grid, but keeps its rows.
#[test]
fn a_subset_is_not_a_grid() {
    let Some([file]) = shared(test_name!(), ["data/dsprites/dsprites_subset.npz"]) else { return };
    let data = open_path("dsprites", &file).unwrap();
    assert!(!data.is_full_grid());
    assert_eq!(data.factors().unwrap().grid_len(), Some(737_280));
    assert_eq!(factors(data.as_ref(), 2), [0, 0, 0, 4, 5]);
}

#[test]
fn a_factor_with_one_value_is_dropped() {
    let data = open_spec("shapes(orientations=1, scales=2, positions=4)").unwrap();
    let names: Vec<&str> =
        data.factors().unwrap().factors().iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["shape", "scale", "x", "y"]);
    assert_eq!(data.len(), 3 * 2 * 4 * 4);
}

#[test]
fn batches_are_the_same_on_any_number_of_threads() {
    for spec in ["shapes", "shapes(variant=noisy)"] {
        let data = open_spec(spec).unwrap();
        let indices: Vec<usize> = (0..100).map(|i| i * 7001 % data.len()).collect();
        let position = Stream::new(5, "noise").at(3);
        let mut expected = vec![0.0; 100 * data.shape().values()];
        data.write_batch(&indices, position, &mut expected).unwrap();
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut found = vec![0.0; expected.len()];
            pool.install(|| data.write_batch_parallel(&indices, position, &mut found)).unwrap();
            assert!(found == expected, "{spec} on {threads} threads");
        }
    }
}

/// Two images of a heart, as arrays that a test can damage.
fn small_file() -> Vec<Array> {
    let classes = [0, 2, 0, 0, 0, 0, 0, 2, 5, 39, 31, 31];
    vec![
        Array::bytes("imgs", &[2, 64, 64], vec![1; 2 * 4096]),
        Array::integers("latents_classes", &[2, 6], &classes),
    ]
}

fn refused_when(damage_arrays: impl FnOnce(&mut Vec<Array>)) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.npz");
    let mut arrays = small_file();
    damage_arrays(&mut arrays);
    write_npz(&path, &arrays);
    refusal("dsprites", &path)
}

#[test]
fn the_small_file_itself_is_fine() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("good.npz");
    write_npz(&path, &small_file());
    assert_eq!(factors(open_path("dsprites", &path).unwrap().as_ref(), 1), [2, 5, 39, 31, 31]);
}

#[test]
fn a_missing_array_is_named_beside_those_found() {
    let error = refused_when(|arrays| drop(arrays.remove(0)));
    assert_eq!(error, "archive: found only latents_classes, expected an array `imgs`");
}

#[test]
fn wrong_types_are_named() {
    let error = refused_when(|arrays| arrays[0] = Array::floats("imgs", &[2, 64, 64], &[0.0; 8192]));
    assert_eq!(error, "array `imgs`: found float64, expected uint8");
    let error = refused_when(|arrays| arrays[1] = Array::floats("latents_classes", &[2, 6], &[0.5; 12]));
    assert_eq!(error, "array `latents_classes`: found 0.5, expected whole numbers that fit 64 bits");
}

#[test]
fn wrong_shapes_are_named() {
    let error = refused_when(|arrays| arrays[0] = Array::bytes("imgs", &[8192], vec![0; 8192]));
    assert_eq!(error, "array `imgs`: found shape [8192], expected 3 axes");
    let error = refused_when(|arrays| arrays[0] = Array::bytes("imgs", &[2, 32, 32], vec![0; 2048]));
    assert_eq!(error, "array `imgs`: found shape [2, 32, 32], expected shape [2, 64, 64]");
    let error = refused_when(|arrays| arrays[1] = Array::integers("latents_classes", &[2, 4], &[0; 8]));
    let expected = "one row per image, with 6 columns, or 5 without colour";
    assert_eq!(error, format!("array `latents_classes`: found shape [2, 4], expected {expected}"));
}

#[test]
fn counts_that_disagree_are_named() {
    let error = refused_when(|arrays| arrays[0] = Array::bytes("imgs", &[3, 64, 64], vec![0; 3 * 4096]));
    assert_eq!(error, "array `imgs`: found 3 images, expected 2, one per row of `latents_classes`");
}

#[test]
fn classes_outside_the_grid_are_named() {
    let row = |orientation| [0, 2, 0, orientation, 0, 0, 0, 0, 0, 0, 0, 0];
    for class in [40, -1] {
        let rows = row(class);
        let error = refused_when(|arrays| arrays[1] = Array::integers("latents_classes", &[2, 6], &rows));
        let found = format!("orientation {class} for image 0");
        assert_eq!(error, format!("array `latents_classes`: found {found}, expected a class from 0 to 39"));
    }
}

#[test]
fn grey_pixels_are_refused() {
    let error = refused_when(|arrays| arrays[0].data[5000] = 7);
    assert_eq!(error, "array `imgs`: found a pixel of value 7, expected pixels of value 0 or 1");
}

#[test]
fn an_array_shorter_than_its_header_says_is_refused() {
    let error = refused_when(|arrays| arrays[0].data.truncate(5000));
    assert_eq!(error, "array `imgs`: found an early end before byte 8192, expected 8192 bytes");
    let huge = refused_when(|arrays| {
        arrays[0].shape = vec![1 << 40, 64, 64];
        arrays[1].shape = vec![1 << 40, 6];
    });
    // 2^40 rows of 6 integers of 8 bytes; the limit is a share of the machine's memory.
    let limit = memory::Bytes(memory::limit());
    assert_eq!(
        huge,
        format!("array `latents_classes`: found 49152.0 GiB in memory, expected at most {limit}")
    );
}

#[test]
fn damaged_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.npz");
    let no_archive = "file: found damaged or unknown data, expected a whole .npz (zip) archive";
    assert_eq!(refusal("dsprites", &path), missing());
    fs::write(&path, "").unwrap();
    assert_eq!(refusal("dsprites", &path), "file: found 0 bytes, expected data");
    fs::write(&path, "this is no archive, but it is long enough to look at".repeat(20)).unwrap();
    assert_eq!(damage("dsprites", &path), no_archive);
    write_npz(&path, &small_file());
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(damage("dsprites", &path), no_archive);
    assert_eq!(refusal("dsprites", directory.path()), "path: found a directory, expected a file");
}

/// A damaged byte anywhere gives data or an error, never a panic.
#[test]
fn a_flipped_byte_never_panics() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.npz");
    write_npz(&path, &small_file());
    let whole = fs::read(&path).unwrap();
    for position in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let _ = open_path("dsprites", &path);
    }
}
