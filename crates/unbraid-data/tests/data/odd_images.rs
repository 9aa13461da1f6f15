//! Pictures in every form that a folder of photographs may contain, written by Pillow (`make_odd_images.py`).
//! Upright, they are 32 x 16 pixels: red and green above, blue and yellow below.

use crate::support::{after_path, bytes, chain, fixture, open_path, open_spec};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use unbraid_data::progress::Progress;
use unbraid_data::{DataSpec, ImageShape, Picture, Treatment, open_files};

const COLOURS: [[u8; 3]; 4] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]];

/// The colours in the four corners of an image of 16 x 16, the crop of the middle, in which each fills a quarter.
fn corners(pixels: &[u8]) -> [[u8; 3]; 4] {
    [(2, 2), (13, 2), (2, 13), (13, 13)].map(|(x, y)| {
        let at = 3 * (16 * y + x);
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    })
}

#[track_caller]
fn assert_near(found: [[u8; 3]; 4], expected: [[u8; 3]; 4], tolerance: u8, name: &str) {
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!(found.abs_diff(*expected) <= tolerance, "{name}: {found} and {expected}");
    }
}

#[test]
fn every_form_of_a_picture_is_read_upright() {
    let folder = fixture("odd_images");
    let data = open_spec(&format!("folder(path={}, size=16)", folder.display())).unwrap();
    assert_eq!(data.len(), fs::read_dir(&folder).unwrap().count());
    for index in 0..data.len() {
        let name = data.image_name(index).unwrap();
        let found = corners(&bytes(data.as_ref(), index));
        let grey = [0, 51, 102, 255].map(|value| [value; 3]);
        let expected = if name.starts_with("sixteen") { grey } else { COLOURS };
        // Lossy formats are off by a few of 255 levels at the highest quality.
        let lossy = name.ends_with(".jpg") || name.starts_with("lossy");
        assert_near(found, expected, if lossy { 4 } else { 0 }, name);
        // As a single file as well.
        let file = folder.join(name);
        let single = open_files(&[file], ImageShape::new(16, 16, 3), Treatment::default()).unwrap();
        assert_eq!(bytes(single.as_ref(), 0), bytes(data.as_ref(), index), "{name}");
    }
}

/// Earlier versions left such pictures lying on their sides: what they kept in the cache must not come back.
#[test]
fn turned_pictures_have_another_fingerprint_and_others_keep_theirs() {
    let fingerprint = |file: &str| {
        let root = tempfile::tempdir().unwrap();
        fs::copy(fixture("odd_images").join(file), root.path().join("a.jpg")).unwrap();
        open_path("folder", root.path()).unwrap().fingerprint().unwrap()
    };
    // As this crate of version 0.1.0 had it: the SHA-256 of a line with the shape, and one for each file.
    let of_earlier_versions = |file: &str| {
        use sha2::{Digest, Sha256};
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let content = hex(&Sha256::digest(fs::read(fixture("odd_images").join(file)).unwrap()));
        hex(&Sha256::digest(format!("folder 1 64 x 64 x 3\n{content}  a.jpg\n")))
    };
    assert_eq!(fingerprint("exif-1.jpg"), of_earlier_versions("exif-1.jpg"));
    assert_eq!(fingerprint("plain.bmp"), of_earlier_versions("plain.bmp"));
    for orientation in 2..=8 {
        let file = format!("exif-{orientation}.jpg");
        assert_ne!(fingerprint(&file), of_earlier_versions(&file), "{file}");
    }
}

/// Remembers what is worth knowing.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _items: u64) {}
    fn finish(&self) {}
    fn note(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

/// What opening a folder with these options notes, without the path.
fn notes(root: &Path, options: &[(&str, &str)]) -> Vec<String> {
    let mut spec = DataSpec::named("folder").with_path(root).with("size", 16);
    for (option, value) in options {
        spec = spec.with(option, value);
    }
    let notes = Notes::default();
    unbraid_data::open(&spec, &notes).unwrap();
    let notes = notes.0.into_inner().unwrap();
    notes.iter().map(|note| after_path(note, root)).collect()
}

fn copy(name: &str, to: &Path) {
    fs::copy(fixture("odd_images").join(name), to).unwrap();
}

/// A file that was cut anywhere is an error or skipped and counted; no decoder may make up the rest of the picture.
#[test]
fn no_truncated_file_becomes_half_a_picture() {
    let folder = fixture("odd_images");
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let whole = fs::read(&path).unwrap();
        let root = tempfile::tempdir().unwrap();
        let cut = root.path().join(path.file_name().unwrap());
        for quarter in 1..4 {
            fs::write(&cut, &whole[..whole.len() * quarter / 4]).unwrap();
            // An animation may break off after the picture that is used.
            match open_files(std::slice::from_ref(&cut), ImageShape::new(16, 16, 3), Treatment::default()) {
                Ok(data) if path.file_stem().unwrap() == "animated" => {
                    assert_near(corners(&bytes(data.as_ref(), 0)), COLOURS, 0, "animated");
                }
                Ok(_) => panic!("{} is read from {quarter} quarters of its bytes", path.display()),
                Err(_) => {}
            }
        }
    }
    let root = tempfile::tempdir().unwrap();
    for number in 0..5 {
        let whole = fs::read(folder.join("exif-1.jpg")).unwrap();
        fs::write(root.path().join(format!("{number}.jpg")), &whole[..whole.len() - 9]).unwrap();
    }
    let error = chain(&open_path("folder", root.path()).unwrap_err());
    let found = after_path(&error, root.path());
    assert_eq!(
        found[1..],
        *".jpg: image: found a truncated JPEG, expected a PNG, JPEG, WebP, BMP, TIFF or GIF, or skip_broken = true \
          to leave out such files"
    );
    copy("exif-1.jpg", &root.path().join("9.jpg"));
    assert_eq!(
        notes(root.path(), &[("skip_broken", "true")]),
        ["skipped 5 broken images: 0.jpg, 1.jpg, 2.jpg and 2 more"]
    );
}

/// The marker at the end is there, but not all of the data before it.
#[test]
fn no_jpeg_that_is_damaged_in_the_middle_becomes_half_a_picture() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jpg");
    for entry in fs::read_dir(fixture("whole_jpegs")).unwrap() {
        let source = entry.unwrap().path();
        let whole = fs::read(&source).unwrap();
        fs::write(&path, &whole).unwrap();
        let shape = Picture::read(&path).unwrap().shape();
        assert_eq!((shape.height, shape.width), (72, 120), "{}", source.display());
        let end = whole.len() - 2;
        assert_eq!(whole[end..], [0xFF, 0xD9]);
        for eighth in 3..8 {
            let start = end * eighth / 8;
            let rest = start + 100;
            // The rest is missing, or a marker comes too early, that of the end or one that does not belong there.
            let missing = [&whole[..start], &whole[end..]].concat();
            let early = [&whole[..start], &[0xFF, 0xD9], &whole[rest..]].concat();
            let foreign = [&whole[..start], &[0xFF, 0xC8], &whole[rest..]].concat();
            for (kind, damaged) in [("missing", missing), ("early", early), ("foreign", foreign)] {
                fs::write(&path, damaged).unwrap();
                assert!(Picture::read(&path).is_err(), "{}: {kind} from byte {start}", source.display());
            }
        }
    }
    let whole = fs::read(fixture("whole_jpegs/plain.jpg")).unwrap();
    fs::write(&path, [&whole[..whole.len() / 2], &[0xFF, 0xD9]].concat()).unwrap();
    let message = chain(&open_path("folder", directory.path()).unwrap_err());
    assert!(
        message.ends_with(
            "image: found a JPEG with damaged data, expected a PNG, JPEG, WebP, BMP, TIFF or GIF, or skip_broken = true to leave \
             out such files"
        ),
        "{message}"
    );
}

#[test]
fn files_that_are_no_images_are_counted_and_named() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("b")).unwrap();
    for name in ["IMG_1.HEIC", "b/film.mov", "b/notes.txt", "c.xmp"] {
        fs::write(root.path().join(name), "something else").unwrap();
    }
    let expected = "a PNG, JPEG, WebP, BMP, TIFF or GIF in it or its sub-folders";
    let error = chain(&open_path("folder", root.path()).unwrap_err());
    assert_eq!(
        after_path(&error, root.path()),
        format!(
            "folder: found no images but 4 other files: IMG_1.HEIC, b/film.mov, b/notes.txt and 1 more, expected {expected}"
        )
    );
    copy("plain.bmp", &root.path().join("写真 Größe ñ.bmp"));
    copy("plain.webp", &root.path().join("b/Ω.WebP"));
    assert_eq!(
        notes(root.path(), &[]),
        ["skipped 4 files that are no images: IMG_1.HEIC, b/film.mov, b/notes.txt and 1 more"]
    );
    let data = open_path("folder", root.path()).unwrap();
    let names: Vec<_> = (0..data.len()).map(|index| data.image_name(index).unwrap()).collect();
    assert_eq!(names, ["b/Ω.WebP", "写真 Größe ñ.bmp"]);
}

#[test]
fn an_empty_cell_is_missing_and_folders_go_with_attributes() {
    let root = tempfile::tempdir().unwrap();
    for name in ["cat/1.bmp", "dog/2.bmp", "dog/3.bmp", "dog/4.bmp"] {
        fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
        copy("plain.bmp", &root.path().join(name));
    }
    let table = root.path().join("table.csv");
    fs::write(&table, "file,mood,age\n1.bmp,glad,3\n2.bmp, ,4\n4.bmp,sad,4\n").unwrap();
    let spec = || DataSpec::named("folder").with_path(root.path()).with("attributes", table.display());
    let refused = |spec: &DataSpec| after_path(&chain(&crate::support::open(spec).unwrap_err()), &table);
    let image = |name: &str| root.path().join(name).display().to_string();
    let skip = "for every image, or missing = \"skip\" to leave out the others";
    assert_eq!(
        refused(&spec()),
        format!(
            "attributes: found an empty cell of `mood` for {}, expected a value {skip}",
            image("dog/2.bmp")
        )
    );
    fs::write(&table, "file,mood,age\n1.bmp,glad,3\n2.bmp,sad,4\n4.bmp,sad,4\n").unwrap();
    assert_eq!(
        refused(&spec()),
        format!("attributes: found no row for {}, expected a row {skip}", image("dog/3.bmp"))
    );
    fs::write(&table, "file,mood,age\n1.bmp,glad,3\n2.bmp, ,4\n4.bmp,sad,4\n").unwrap();
    let attributes = table.display().to_string();
    assert_eq!(
        notes(root.path(), &[("attributes", &attributes), ("missing", "skip")]),
        ["skipped 2 images without attributes: dog/2.bmp, dog/3.bmp"]
    );
    let data = crate::support::open(&spec().with("missing", "skip").with("labels", "folders")).unwrap();
    let labels: Vec<_> = data
        .factors()
        .unwrap()
        .factors()
        .iter()
        .map(|factor| (factor.name.as_str(), factor.labels.join(" ")))
        .collect();
    assert_eq!(
        labels,
        [("folder", "cat dog".to_owned()), ("mood", "glad sad".to_owned()), ("age", "3 4".to_owned())]
    );
    assert_eq!(crate::support::factors(data.as_ref(), 1), [1, 1, 1]);
    fs::write(&table, "file,folder\n1.bmp,a\n").unwrap();
    let error = chain(&crate::support::open(&spec().with("labels", "folders")).unwrap_err());
    assert_eq!(
        error,
        "option `labels` of data set `folder`: found folders, and an attribute of the name `folder`, expected only one \
         of them"
    );
    fs::write(&table, "file,mood\n9.bmp,a\n").unwrap();
    assert_eq!(
        refused(&spec().with("missing", "skip")),
        format!(
            "attributes: found no row without empty cells for any image of {}, expected one for some of them",
            root.path().display()
        )
    );
}

#[test]
fn a_row_of_attributes_belongs_to_one_image() {
    let root = tempfile::tempdir().unwrap();
    for name in ["1.bmp", "cat/1.bmp", "cat/2.bmp", "dog/2.bmp"] {
        fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
        copy("plain.bmp", &root.path().join(name));
    }
    let table = root.path().join("table.csv");
    let open = |rows: &str, missing: &str| {
        fs::write(&table, format!("file,age\n{rows}")).unwrap();
        let spec = DataSpec::named("folder").with_path(root.path()).with("attributes", table.display());
        crate::support::open(&spec.with("size", 16).with("missing", missing))
    };
    for missing in ["error", "skip"] {
        let refused = |rows: &str| after_path(&chain(&open(rows, missing).unwrap_err()), &table);
        assert_eq!(
            refused("1.bmp,3\ncat/1.bmp,3\n2.bmp,4\n"),
            "row `2.bmp`: found the images cat/2.bmp and dog/2.bmp, which would share it, expected their paths in the first \
             column, such as `dog/2.bmp`"
        );
        assert_eq!(
            refused("1.bmp,3\ncat/2.bmp,4\ndog/2.bmp,5\n"),
            "row `1.bmp`: found the images 1.bmp and cat/1.bmp, which would share it, expected their paths in the first \
             column, such as `cat/1.bmp`"
        );
        assert_eq!(
            refused("1.bmp,3\ncat/1.bmp,3\n1.bmp,4\n"),
            "line 4: found a second row of `1.bmp`, expected one row for each file"
        );
    }
    let data = open("1.bmp,6\ncat/1.bmp,7\ncat/2.bmp,8\n2.bmp,9\n", "error").unwrap();
    let ages: Vec<_> = (0..4).map(|index| crate::support::factors(data.as_ref(), index)[0]).collect();
    assert_eq!(ages, [0, 1, 2, 3], "by the whole path, or else by a file name that only one image has left");
    // What programs write for a value that they do not have is no value.
    let error = chain(&open("1.bmp,6\ncat/1.bmp,7\ncat/2.bmp,NA\ndog/2.bmp,9\n", "error").unwrap_err());
    assert!(error.contains("found an empty cell of `age` for "), "{error}");
    let table = root.path().join("list_attr_celeba.txt");
    fs::write(&table, "3\nSmiling\n1.bmp 1\n2.bmp -1\n1.bmp -1\n").unwrap();
    assert_eq!(
        after_path(&chain(&open_path("celeba", root.path()).unwrap_err()), &table),
        "line 5: found a second row of `1.bmp`, expected one row for each file"
    );
}

/// A GIF whose screen has no rows, though its frame has some; found by fuzzing.
#[test]
fn a_gif_without_rows_is_refused() {
    let mut gif = b"GIF89a\x20\x00\x00\x00\x81\x00\x00".to_vec();
    gif.extend([0; 12]);
    gif.extend(b",\x00\x00\x00\x00\x20\x00\x10\x00\x00\x02\x02\x44\x01\x00;");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.gif");
    fs::write(&path, gif).unwrap();
    for error in [open_path("folder", directory.path()).unwrap_err(), Picture::read(&path).unwrap_err()] {
        assert!(error.to_string().contains("found a picture of 32 x 0 pixels, expected "), "{error}");
    }
}

/// 41 bytes: a screen of 32 x 16 pixels with four colours, and a frame of 9000 x 9000 whose data ends at once.
#[test]
fn a_small_gif_with_a_large_frame_is_refused() {
    let mut gif = b"GIF89a\x20\x00\x10\x00\x81\x00\x00".to_vec();
    gif.extend([0; 12]);
    gif.extend(b",\x00\x00\x00\x00");
    gif.extend([9000_u16; 2].iter().flat_map(|side| side.to_le_bytes()));
    gif.extend(b"\x00\x02\x02\x44\x01\x00;");
    assert_eq!(gif.len(), 41);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.gif"), gif).unwrap();
    // 9000 * 9000 * 4 bytes are 309 MiB.
    let error = open_path("folder", directory.path()).unwrap_err();
    assert!(chain(&error).ends_with("Memory limit exceeded"), "{}", chain(&error));
}
