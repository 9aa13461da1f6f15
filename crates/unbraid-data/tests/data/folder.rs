//! Folders of images: sizes, sub-folders, attributes, the conventions of 3D Chairs and CelebA, and invalid folders.
//! The images are written by the `image` crate, whose PNG files any reader accepts.

use crate::support::{after_path, chain, damage, factors, image, missing, open_path, open_spec, refusal};
use ::image::{Rgb, RgbImage, Rgba, RgbaImage};
use std::error::Error;
use std::fs;
use std::path::Path;
use unbraid_data::registry::recognise;

const ROW_EXPECTED: &str = "expected a row for every image, or missing = \"skip\" to leave out the others";

fn save(root: &Path, name: &str, width: u32, height: u32, colour: [u8; 3]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    RgbImage::from_pixel(width, height, Rgb(colour)).save(path).unwrap();
}

#[test]
fn sizes_and_sub_folders_mix() {
    let root = tempfile::tempdir().unwrap();
    save(root.path(), "b/wide.png", 90, 30, [255, 0, 51]);
    save(root.path(), "a.png", 10, 200, [0, 102, 0]);
    save(root.path(), "b/c/deep.jpg", 64, 64, [128, 128, 128]);
    save(root.path(), ".hidden/x.png", 5, 5, [0, 0, 0]);
    fs::write(root.path().join("notes.txt"), "no image").unwrap();
    assert_eq!(recognise(root.path()).unwrap().name, "folder");
    let data = open_spec(&format!("folder(path={}, size=16)", root.path().display())).unwrap();
    assert_eq!((data.len(), data.shape().values()), (3, 16 * 16 * 3));
    let names: Vec<_> = (0..3).map(|i| data.image_name(i).unwrap()).collect();
    assert_eq!(names, ["a.png", "b/c/deep.jpg", "b/wide.png"]);
    assert_eq!(image(data.as_ref(), 0)[..3], [0.0, 0.4, 0.0]);
    assert_eq!(image(data.as_ref(), 2)[765..], [1.0, 0.0, 0.2]);
    assert!(data.factors().is_none());
}

/// The centre of a picture with borders of another colour is all that is left.
#[test]
fn the_centre_is_cropped() {
    let root = tempfile::tempdir().unwrap();
    let mut picture = RgbImage::from_pixel(80, 40, Rgb([255, 0, 0]));
    for x in 20..60 {
        for y in 0..40 {
            picture.put_pixel(x, y, Rgb([0, 0, 255]));
        }
    }
    picture.save(root.path().join("a.png")).unwrap();
    let data = open_spec(&format!("folder(path={}, size=40)", root.path().display())).unwrap();
    assert!(image(data.as_ref(), 0).chunks(3).all(|rgb| rgb == [0.0, 0.0, 1.0]));
}

#[test]
fn transparent_pixels_are_white_and_grey_is_luminance() {
    let root = tempfile::tempdir().unwrap();
    RgbaImage::from_pixel(8, 8, Rgba([0, 0, 0, 0])).save(root.path().join("clear.png")).unwrap();
    save(root.path(), "grey.png", 8, 8, [51, 51, 51]);
    let data = open_spec(&format!("folder(path={}, size=8, channels=1)", root.path().display())).unwrap();
    assert_eq!(image(data.as_ref(), 0), [1.0; 64]);
    assert_eq!(image(data.as_ref(), 1), [0.2; 64]);
}

#[test]
fn folders_can_be_classes() {
    let root = tempfile::tempdir().unwrap();
    for (i, name) in ["dog/1.png", "cat/2.png", "dog/3.png"].iter().enumerate() {
        save(root.path(), name, 4, 4, [i as u8; 3]);
    }
    let data = open_spec(&format!("folder(path={}, labels=folders)", root.path().display())).unwrap();
    let factor = &data.factors().unwrap().factors()[0];
    assert_eq!(
        (factor.name.as_str(), &factor.labels[..]),
        ("folder", &["cat".to_owned(), "dog".to_owned()][..])
    );
    let classes: Vec<u32> = (0..3).map(|i| factors(data.as_ref(), i)[0]).collect();
    assert_eq!(classes, [0, 1, 1]);
}

#[test]
fn a_csv_gives_attributes() {
    let root = tempfile::tempdir().unwrap();
    save(root.path(), "x/1.png", 4, 4, [1; 3]);
    save(root.path(), "2.png", 4, 4, [2; 3]);
    let table = root.path().join("labels.csv");
    fs::write(&table, "file,age,mood\n2.png,10,\"glad, very\"\n1.png,9,sad\nother.png,7,sad\n").unwrap();
    let spec = format!("folder(path={}, attributes={})", root.path().display(), table.display());
    let data = open_spec(&spec).unwrap();
    let space = data.factors().unwrap();
    assert_eq!(space.factors()[0].labels, ["9", "10"], "numbers are ordered as numbers");
    assert_eq!(space.factors()[1].labels, ["glad, very", "sad"]);
    assert_eq!((factors(data.as_ref(), 0), factors(data.as_ref(), 1)), (vec![1, 0], vec![0, 1]));
    fs::write(&table, "file,age\n2.png,10\n").unwrap();
    let error = chain(&open_spec(&spec).unwrap_err());
    let image = root.path().join("x/1.png");
    let expected = format!("attributes: found no row for {}, {ROW_EXPECTED}", image.display());
    assert_eq!(after_path(&error, &table), expected);
    fs::write(&table, "file,age\n2.png,10,11\n").unwrap();
    let error = open_spec(&spec).unwrap_err();
    assert!(error.source().is_some(), "the CSV parser says which row");
    let expected = "CSV: found malformed rows, expected rows of equal length";
    assert_eq!(after_path(&error.to_string(), &table), expected);
    fs::write(&table, "file\n2.png\n").unwrap();
    let error = chain(&open_spec(&spec).unwrap_err());
    let expected = "a header with the file name first, then at least one attribute";
    assert_eq!(
        after_path(&error, &table),
        format!("header: found fewer than two columns, expected {expected}")
    );
}

#[test]
fn celeba_finds_its_table() {
    let root = tempfile::tempdir().unwrap();
    save(root.path(), "img/000001.jpg", 8, 10, [9; 3]);
    save(root.path(), "img/000002.jpg", 8, 10, [200; 3]);
    let table = root.path().join("list_attr_celeba.txt");
    fs::write(&table, "2\nBald Smiling \n000001.jpg -1  1\n000002.jpg -1 -1\n").unwrap();
    assert_eq!(recognise(root.path()).unwrap().name, "celeba");
    let data = open_path("celeba", root.path().join("img")).unwrap();
    let names: Vec<_> = data.factors().unwrap().factors().iter().map(|f| (f.name.as_str(), f.size)).collect();
    assert_eq!(names, [("Bald", 1), ("Smiling", 2)]);
    assert_eq!((factors(data.as_ref(), 0), factors(data.as_ref(), 1)), (vec![0, 1], vec![0, 0]));
    let unlisted = root.path().join("img/000002.jpg");
    let unlisted = format!("attributes: found no row for {}, {ROW_EXPECTED}", unlisted.display());
    for (content, expected) in [
        ("2\nBald\n000001.jpg -1\n", "file: found 1 rows, expected 2 rows, as line 1 says"),
        ("1\nBald\n000001.jpg 5\n", "line 3: found `5`, expected 1 or -1"),
        ("1\nBald Smiling\n000001.jpg 1\n", "line 3: found 1 values, expected 2 values"),
        ("x\n", "line 1: found `x`, expected the number of rows (or a file that ends in .csv)"),
        ("1\nBald\n000001.jpg -1\n", &unlisted),
    ] {
        fs::write(&table, content).unwrap();
        let found = refusal("celeba", &root.path().join("img"));
        assert_eq!(found, format!("../list_attr_celeba.txt: {expected}"));
    }
}

#[test]
fn chairs_are_split_by_model() {
    let root = tempfile::tempdir().unwrap();
    for model in 0..5 {
        for (elevation, azimuth) in [("020", "011"), ("030", "349")] {
            let name = format!("chair{model}/renders/image_001_p{elevation}_t{azimuth}_r096.png");
            save(root.path(), &name, 30, 30, [model * 20; 3]);
        }
    }
    let path = root.path().display();
    assert_eq!(recognise(root.path()).unwrap().name, "chairs");
    let all = open_path("chairs", root.path()).unwrap();
    let sizes: Vec<_> = all.factors().unwrap().factors().iter().map(|f| (f.name.as_str(), f.size)).collect();
    assert_eq!(sizes, [("model", 5), ("elevation", 2), ("azimuth", 2)]);
    assert_eq!(all.shape().channels, 1);
    let train = open_spec(&format!("chairs(path={path}, split=train)")).unwrap();
    let test = open_spec(&format!("chairs(path={path}, split=test)")).unwrap();
    assert_eq!((train.len(), test.len()), (8, 2), "the first 80 % of 5 models");
    assert!((0..8).all(|i| factors(train.as_ref(), i)[0] < 4));
    assert!((0..2).all(|i| factors(test.as_ref(), i)[0] == 4));
    save(root.path(), "stray.png", 3, 3, [0; 3]);
    let expected = "model/renders/image_NNN_pEEE_tAAA_rRRR.png, as 3D Chairs names its images";
    let error = refusal("chairs", root.path());
    assert_eq!(error, format!("folder: found an image stray.png, expected {expected}"));
}

/// A picture of 90 x 70 pixels: red, with a centred square of 30 pixels in blue. A crop of 30 is the blue
/// square; one of 60 has blue in the middle quarter only.
#[test]
fn a_crop_comes_before_resizing() {
    let root = tempfile::tempdir().unwrap();
    let inside = |x: u32, y: u32| (30..60).contains(&x) && (20..50).contains(&y);
    let picture = RgbImage::from_fn(90, 70, |x, y| Rgb(if inside(x, y) { [0, 0, 255] } else { [255, 0, 0] }));
    picture.save(root.path().join("a.png")).unwrap();
    let open = |options: &str| open_spec(&format!("folder(path={}{options})", root.path().display()));
    let blue = open(", size=10, crop=30").unwrap();
    assert!(image(blue.as_ref(), 0).chunks(3).all(|rgb| rgb == [0.0, 0.0, 1.0]));
    // 60 to 6 pixels with a blue square from 15 to 45: the triangle filter of a pixel reaches 10 to either side of its
    // centre, from the corner's 5 to 15, and from 25 to the range from 15 to 35.
    let mixed = image(open(", size=6, crop=60").unwrap().as_ref(), 0);
    assert_eq!(mixed[..3], [1.0, 0.0, 0.0]);
    assert_eq!(mixed[(2 * 6 + 2) * 3..][..3], [0.0, 0.0, 1.0]);
    let largest = open(", size=10").unwrap();
    let hashes =
        [&blue, &largest, &open(", size=10, crop=31").unwrap()].map(|data| data.fingerprint().unwrap());
    assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2], "the crop is part of the identity");
    let expected = "image: found 90 x 70 pixels, expected at least 71 x 71 pixels, since `crop` is 71";
    let error = chain(&open(", crop=71").unwrap_err());
    assert_eq!(after_path(&error, &root.path().join("a.png")), expected);
    let error = chain(&open(", crop=wide").unwrap_err());
    assert_eq!(
        error,
        "option `crop` of data set `folder`: found \"wide\", expected a whole number from 1 to 65536"
    );
}

/// Six chairs of which the folder's order is that of their names; each is a grey block on white, a different width.
fn chairs(root: &Path) {
    for (model, width) in ["a", "b", "c", "d", "e", "f"].into_iter().zip([4_u32, 8, 12, 16, 20, 24]) {
        let inside = move |x: u32, y: u32| x < width && (8..24).contains(&y);
        let picture =
            RgbImage::from_fn(32, 32, |x, y| if inside(x, y) { Rgb([200, 40, 90]) } else { Rgb([255; 3]) });
        let path = root.join(format!("{model}/renders/image_001_p020_t011_r096.png"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        picture.save(path).unwrap();
    }
}

#[test]
fn masks_are_silhouettes_of_ones_and_zeros() {
    let root = tempfile::tempdir().unwrap();
    chairs(root.path());
    let path = root.path().display();
    let masks = open_spec(&format!("chairs(path={path}, size=32, mask=true)")).unwrap();
    for (index, width) in [4_usize, 8, 12, 16, 20, 24].into_iter().enumerate() {
        let expected: Vec<f32> =
            (0..1024).map(|i| f32::from(u8::from(i % 32 < width && (8..24).contains(&(i / 32))))).collect();
        assert_eq!(image(masks.as_ref(), index), expected, "chair {index}");
    }
    // Half the size: still nothing but ones and zeros.
    let small = open_spec(&format!("chairs(path={path}, size=16, mask=true)")).unwrap();
    let white = |index: usize| {
        let pixels = image(small.as_ref(), index);
        assert!(pixels.iter().all(|pixel| [0.0, 1.0].contains(pixel)));
        pixels.iter().sum::<f32>()
    };
    assert_eq!([white(0), white(3)], [2.0 * 8.0, 8.0 * 8.0], "a quarter of the pixels");
    let plain = open_spec(&format!("chairs(path={path}, size=16)")).unwrap();
    assert_ne!(plain.fingerprint().unwrap(), small.fingerprint().unwrap());
    let error = chain(&open_spec(&format!("chairs(path={path}, mask=true, channels=3)")).unwrap_err());
    assert_eq!(error, "option `channels` of data set `chairs`: found 3, expected 1, since `mask` is true");
}

#[test]
fn some_chairs_can_be_kept() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("rendered_chairs");
    chairs(&folder);
    let list = root.path().join("list.txt");
    let open = |options: &str| open_spec(&format!("chairs(path={}, size=8, {options})", folder.display()));
    let models = |options: &str| open(options).unwrap().factors().unwrap().factors()[0].labels.clone();
    assert_eq!(models("models=4"), ["a", "b", "c", "d"]);
    assert_eq!(models("models=5, split=test"), ["a", "b", "c", "d", "e"], "of which the last is for tests");
    assert_eq!(open("models=5, split=test").unwrap().len(), 1);
    fs::write(&list, "f\n\nb \n").unwrap();
    assert_eq!(models(&format!("models={}", list.display())), ["b", "f"]);
    let refused = |options: &str, path: &Path| after_path(&chain(&open(options).unwrap_err()), path);
    let expected = "folder: found 6 models, expected at least 809, since `models` is 809";
    assert_eq!(refused("models=809", &folder), expected);
    fs::write(&list, "b\nz\n").unwrap();
    let expected = format!("list of models: found `z`, expected only models of {}", folder.display());
    assert_eq!(refused(&format!("models={}", list.display()), &list), expected);
    fs::write(&list, "\n").unwrap();
    let expected = "list of models: found no lines, expected a name in each line";
    assert_eq!(refused(&format!("models={}", list.display()), &list), expected);
    let error = chain(&open("models=0").unwrap_err());
    assert_eq!(
        error,
        "option `models` of data set `chairs`: found 0, expected a whole number from 1 to 1000000"
    );
}

/// Ten faces, of which the published kind of list says which are for training (0), validation (1) and test (2).
#[test]
fn celeba_is_split_as_its_authors_did() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("img_align_celeba");
    let mut table = "10\nBald\n".to_owned();
    let mut list = String::new();
    for (i, part) in [0, 2, 0, 1, 0, 0, 2, 0, 1, 0].into_iter().enumerate() {
        save(&folder, &format!("{:06}.jpg", i + 1), 8, 10, [20 * i as u8; 3]);
        table.push_str(&format!("{:06}.jpg -1\n", i + 1));
        list.push_str(&format!("{:06}.jpg {part}\n", i + 1));
    }
    fs::write(root.path().join("list_attr_celeba.txt"), table).unwrap();
    let open = |options: &str| open_spec(&format!("celeba(path={}, size=8, {options})", folder.display()));
    let error = chain(&open("split=train, split_by=official").unwrap_err());
    assert_eq!(
        after_path(&error, &folder),
        "folder: found no list_eval_partition.txt, expected it in the folder, in its parent, or given as `partition`, since \
         `split_by` is official"
    );
    fs::create_dir(root.path().join("Eval")).unwrap();
    let file = root.path().join("Eval/list_eval_partition.txt");
    fs::write(&file, &list).unwrap();
    let names = |options: &str| -> Vec<String> {
        let data = open(options).unwrap();
        (0..data.len()).map(|i| data.image_name(i).unwrap()[4..6].to_owned()).collect()
    };
    assert_eq!(names("split=train, split_by=official"), ["01", "03", "05", "06", "08", "10"]);
    assert_eq!(names("split=validation, split_by=official"), ["04", "09"]);
    assert_eq!(names("split=test, split_by=official"), ["02", "07"]);
    assert_eq!(open("split_by=official").unwrap().len(), 10);
    assert_eq!(open("split=train").unwrap().len(), 8, "80 % at random by default");
    let elsewhere = root.path().join("other.txt");
    fs::write(&elsewhere, list.replace(" 2", " 0").replace("000001.jpg 0", "000001.jpg 2")).unwrap();
    assert_eq!(names(&format!("split=test, split_by=official, partition={}", elsewhere.display())), ["01"]);

    let refused = |content: &str| {
        fs::write(&file, content).unwrap();
        after_path(
            &chain(&open("split=test, split_by=official").unwrap_err()),
            &folder.join("../Eval/list_eval_partition.txt"),
        )
    };
    let expected = "found `000001.jpg 3`, expected a file name and 0 (train), 1 (validation) or 2 (test)";
    assert_eq!(refused("000001.jpg 3\n"), format!("line 1: {expected}"));
    assert_eq!(
        refused("000001.jpg 0\n"),
        "partition: found no line for 000002.jpg, expected a line for every image"
    );
    assert_eq!(
        chain(&open("split=validation").unwrap_err()),
        "option `split` of data set `celeba`: found \"validation\", expected one of all, train, test"
    );
}

#[test]
fn bad_folders_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let expected = "a PNG, JPEG, WebP, BMP, TIFF or GIF in it or its sub-folders";
    assert_eq!(refusal("folder", root.path()), format!("folder: found no files, expected {expected}"));
    assert_eq!(refusal("folder", Path::new("no/such/folder")), missing());
    let file = root.path().join("a.png");
    save(root.path(), "a.png", 9, 9, [3; 3]);
    assert_eq!(refusal("folder", &file), "path: found a file, expected a folder of images");
    fs::write(root.path().join("broken.png"), &fs::read(&file).unwrap()[..40]).unwrap();
    let expected = "broken.png: image: found damaged or unknown data, expected a PNG, JPEG, WebP, BMP, TIFF or \
                    GIF, or skip_broken = true to leave out such files";
    assert_eq!(damage("folder", root.path()), expected);
    let data = open_spec(&format!("folder(path={}, skip_broken=true)", root.path().display())).unwrap();
    assert_eq!(data.len(), 1);
    fs::remove_file(&file).unwrap();
    let spec = format!("folder(path={}, skip_broken=true)", root.path().display());
    let error = chain(&open_spec(&spec).unwrap_err());
    let expected = "folder: found only broken images: broken.png, expected at least one that can be decoded";
    assert_eq!(after_path(&error, root.path()), expected);
}

/// The same content gives the same fingerprint wherever it lies; another size or byte gives another.
#[test]
fn the_fingerprint_follows_the_content() {
    let (left, right) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for root in [left.path(), right.path()] {
        save(root, "a.png", 9, 9, [3, 4, 5]);
    }
    let fingerprint = |root: &Path, size: u32| {
        open_spec(&format!("folder(path={}, size={size})", root.display())).unwrap().fingerprint().unwrap()
    };
    assert_eq!(fingerprint(left.path(), 8), fingerprint(right.path(), 8));
    assert_ne!(fingerprint(left.path(), 8), fingerprint(left.path(), 9));
    save(left.path(), "a.png", 9, 9, [3, 4, 6]);
    assert_ne!(fingerprint(left.path(), 8), fingerprint(right.path(), 8));
}
