//! The table of built-in data sets, and opening them by name or path.

use crate::attributes_option::AttributesOption;
use crate::data_option::{BOOLEAN, DataOption};
use crate::dataset::DataSet;
use crate::error::{DataError, Result};
use crate::files::open_regular;
use crate::kinds::{ANGLES, CATEGORICAL, ORDERED};
use crate::progress::Progress;
use crate::readers;
use crate::readers::arrays::LAYOUT;
use crate::readers::decorated::{PICTURE, VARIANT};
use crate::readers::folder::{
    ATTRIBUTES, CHANNELS, CROP, LABELS, MASK, MISSING, MODELS, PARTITION, SIZE, SKIP_BROKEN,
};
use crate::readers::mnist::FIT;
use crate::readers::table::{self, ARRAY, COLUMNS, FACTORS, HEADER};
use crate::request::Request;
use crate::spec::DataSpec;
use crate::split;
pub use crate::split::{SPLIT_OPTIONS, SplitBy};
use std::path::Path;

/// The description of a built-in data set.
#[derive(Debug)]
pub struct Entry {
    /// The name in a [`DataSpec`].
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// What its path refers to, or `None` if it needs no files.
    pub path: Option<&'static str>,
    /// Its options.
    pub options: &'static [DataOption],
    /// How it is split into train and test.
    pub split: SplitBy,
    /// Whether a path holds this data set, judged by file names and headers.
    pub(crate) recognise: fn(&Path) -> bool,
    /// Opens it.
    pub(crate) open: fn(&Request<'_>) -> Result<Box<dyn DataSet>>,
}

/// The options that are paths, where they are text or a table with a `path`. Whoever stores a [`DataSpec`] has to keep
/// them findable, like its path.
pub const PATH_OPTIONS: [&str; 4] = ["picture", "attributes", "partition", "models"];

impl Entry {
    /// Whether this is a folder of pictures of any size, which are resized as the options say.
    pub fn is_folder_of_pictures(&self) -> bool {
        self.has_option("size") && self.has_option("channels")
    }

    /// Whether it has an option of this name, besides those for splitting.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }

    /// Whether this is a table of vectors, whose columns the options choose.
    pub fn is_table(&self) -> bool {
        self.options.contains(&COLUMNS)
    }

    /// The options of [`SPLIT_OPTIONS`] that the data set takes.
    pub fn split_options(&self) -> &'static [DataOption] {
        match self.split {
            SplitBy::Image | SplitBy::Factor(_) => SPLIT_OPTIONS,
            SplitBy::Files => &SPLIT_OPTIONS[..1],
        }
    }
}

/// All data sets, in the order in which they are tried on a path.
pub static ENTRIES: &[Entry] = &[
    Entry {
        name: "shapes",
        summary: "built in: dSprites rendered on demand, no file needed",
        path: None,
        options: &[
            DataOption::new("scales", "a divisor of 6", "6", "number of scales"),
            DataOption::new("orientations", "a divisor of 40", "40", "number of orientations"),
            DataOption::new("positions", "a divisor of 32", "32", "number of positions along each axis"),
            DataOption::new("triangle", BOOLEAN, "false", "whether triangles follow the hearts"),
            VARIANT,
            PICTURE,
        ],
        split: SplitBy::Image,
        recognise: |_| false,
        open: readers::shapes::open,
    },
    Entry {
        name: "scenes",
        summary: "built in: a room with one object, no file needed",
        path: None,
        options: &[
            DataOption::new("hues", "1 to 10", "10", "number of hues of floor, walls and object"),
            DataOption::new("scales", "1 to 8", "8", "number of scales of the object"),
            DataOption::new(
                "shapes",
                "1 to 4",
                "4",
                "the first so many of cube, cylinder, sphere and capsule",
            ),
            DataOption::new("shape", "cube, cylinder, sphere or capsule", "all", "only one of the shapes"),
            DataOption::new("orientations", "1 to 15", "15", "number of orientations of the camera"),
            DataOption::new("circular", BOOLEAN, "false", "whether hues go all around the circle"),
            DataOption::new("size", "32, 64 or 128", "64", "height and width of the images"),
        ],
        split: SplitBy::Image,
        recognise: |_| false,
        open: readers::scenes::open,
    },
    Entry {
        name: "dsprites",
        summary: "dSprites (Matthey et al., 2017), or a subset of it",
        path: Some("the .npz file"),
        options: &[VARIANT, PICTURE],
        split: SplitBy::Image,
        recognise: readers::dsprites::recognise,
        open: readers::dsprites::open,
    },
    Entry {
        name: "colour-dsprites",
        summary: "dSprites with a random colour per image",
        path: Some("the dSprites .npz file"),
        options: &[],
        split: SplitBy::Image,
        recognise: |_| false,
        open: readers::dsprites::open,
    },
    Entry {
        name: "noisy-dsprites",
        summary: "dSprites on a background of random noise",
        path: Some("the dSprites .npz file"),
        options: &[],
        split: SplitBy::Image,
        recognise: |_| false,
        open: readers::dsprites::open,
    },
    Entry {
        name: "scream-dsprites",
        summary: "dSprites on random patches of a painting",
        path: Some("the dSprites .npz file"),
        options: &[PICTURE],
        split: SplitBy::Image,
        recognise: |_| false,
        open: readers::dsprites::open,
    },
    Entry {
        name: "smallnorb",
        summary: "smallNORB: toys by pose and lighting (LeCun et al., 2004)",
        path: Some("the directory of the six .mat or .mat.gz files"),
        options: &[],
        split: SplitBy::Image,
        recognise: readers::smallnorb::recognise,
        open: readers::smallnorb::open,
    },
    Entry {
        name: "cars3d",
        summary: "Cars3D: rendered cars from all sides (Reed et al., 2015)",
        path: Some("the directory of .mat files, or nips2015-analogy-data.tar.gz"),
        options: &[],
        split: SplitBy::Image,
        recognise: readers::cars3d::recognise,
        open: readers::cars3d::open,
    },
    Entry {
        name: "shapes3d",
        summary: "Shapes3D: an object in a room (Burgess and Kim, 2018)",
        path: Some("the file 3dshapes.h5"),
        options: &[],
        split: SplitBy::Image,
        recognise: readers::shapes3d::recognise,
        open: readers::shapes3d::open,
    },
    Entry {
        name: "mpi3d",
        summary: "MPI3D: an object on a robot arm (Gondal et al., 2019)",
        path: Some("the .npz file"),
        options: &[readers::mpi3d::SIZES],
        split: SplitBy::Image,
        recognise: readers::mpi3d::recognise,
        open: readers::mpi3d::open,
    },
    Entry {
        name: "mnist",
        summary: "MNIST: handwritten digits (LeCun et al., 1998)",
        path: Some("the directory of its four idx files, gzip-compressed or not"),
        options: &[FIT],
        split: SplitBy::Files,
        recognise: readers::mnist::recognise,
        open: readers::mnist::open,
    },
    Entry {
        name: "fashion-mnist",
        summary: "FashionMNIST: garments (Xiao et al., 2017)",
        path: Some("the directory of its four idx files, gzip-compressed or not"),
        options: &[FIT],
        split: SplitBy::Files,
        recognise: readers::mnist::recognise_fashion,
        open: readers::mnist::open,
    },
    Entry {
        name: "pinwheel",
        summary: "2-D points on curved arms, generated",
        path: None,
        options: readers::pinwheel::OPTIONS,
        split: SplitBy::Files,
        recognise: |_| false,
        open: readers::pinwheel::open,
    },
    Entry {
        name: "npz",
        summary: "your own: `images`, `factors`, `factor_names`, `factor_kinds`",
        path: Some("the .npz file"),
        options: &[LAYOUT, CATEGORICAL, ORDERED, ANGLES],
        split: SplitBy::Image,
        recognise: readers::arrays::recognise,
        open: readers::arrays::open,
    },
    Entry {
        name: "table",
        summary: "your own vectors: a CSV, Parquet, .npy or .npz of numbers",
        path: Some("the .csv, .tsv, .parquet, .npy or .npz file"),
        options: &[COLUMNS, FACTORS, table::MISSING, ARRAY, HEADER, CATEGORICAL, ORDERED, ANGLES],
        split: SplitBy::Image,
        recognise: table::recognise,
        open: table::open,
    },
    Entry {
        name: "celeba",
        summary: "CelebA: faces with 40 attributes (Liu et al., 2015)",
        path: Some("the folder of images"),
        options: &[SIZE, CROP, CHANNELS, SKIP_BROKEN, ATTRIBUTES, MISSING, PARTITION],
        split: SplitBy::Image,
        recognise: readers::folder::recognise_celeba,
        open: readers::folder::open_celeba,
    },
    Entry {
        name: "chairs",
        summary: "3D Chairs: model, elevation, azimuth (Aubry et al., 2014)",
        path: Some("the folder `rendered_chairs`"),
        options: &[SIZE, CROP, CHANNELS, MASK, MODELS, SKIP_BROKEN],
        split: SplitBy::Factor("model"),
        recognise: readers::folder::recognise_chairs,
        open: readers::folder::open_chairs,
    },
    Entry {
        name: "folder",
        summary: "any folder of images, sub-folders included",
        path: Some("the folder"),
        options: &[
            SIZE,
            CROP,
            CHANNELS,
            SKIP_BROKEN,
            ATTRIBUTES,
            MISSING,
            LABELS,
            CATEGORICAL,
            ORDERED,
            ANGLES,
        ],
        split: SplitBy::Image,
        recognise: readers::folder::recognise,
        open: readers::folder::open,
    },
];

/// Names of columns as the option `columns` of a table takes them, whatever letters they contain.
///
/// ```
/// use unbraid_data::registry::literal_columns;
///
/// assert_eq!(literal_columns(["age", "a+b", "x*"]), r"age+a\+b+x\*");
/// ```
pub fn literal_columns<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    table::literal_columns(names)
}

/// The entry with this name.
///
/// # Errors
/// If there is none; the error suggests the most similar name.
pub fn entry(name: &str) -> Result<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        DataError::UnknownName { name: name.to_owned(), suggestion: nearest(name, &known), known }
    })
}

/// Opens a data set.
///
/// ```
/// use unbraid_data::progress::Silent;
/// use unbraid_data::{DataSpec, open};
///
/// let data = open(&DataSpec::named("shapes").with("positions", 16), &Silent)?;
/// assert_eq!(data.len(), 3 * 6 * 40 * 16 * 16);
/// # Ok::<(), unbraid_data::DataError>(())
/// ```
///
/// # Errors
/// If the name or an option is unknown, or if files are missing or damaged.
pub fn open(spec: &DataSpec, progress: &dyn Progress) -> Result<Box<dyn DataSet>> {
    let entry = match (&spec.name, &spec.path) {
        (Some(name), _) => entry(name)?,
        (None, Some(path)) => recognise(path)?,
        (None, None) => return Err(DataError::value("data set", "neither name nor path", "one of them")),
    };
    check_against(entry, spec)?;
    let request = Request::new(entry, spec, progress);
    let plan = split::Plan::from_request(&request, entry.split)?;
    let data = (entry.open)(&request)?;
    plan.apply(data)
}

/// Checks a specification without reading any file: that the name is known and the data set has these options.
///
/// # Errors
/// If the name or an option is unknown, or a path is given for a generated data set.
pub fn check(spec: &DataSpec) -> Result<()> {
    spec.name.as_ref().map_or(Ok(()), |name| check_against(entry(name)?, spec))
}

fn check_against(entry: &Entry, spec: &DataSpec) -> Result<()> {
    for (option, value) in &spec.options {
        check_option(entry, option)?;
        if option == ATTRIBUTES.name {
            AttributesOption::read(entry.name, Some(value))?;
        }
    }
    if let (None, Some(path)) = (entry.path, &spec.path) {
        let subject = format!("path of data set `{}`", entry.name);
        return Err(DataError::value(subject, path.display(), "no path: the data set is generated"));
    }
    Ok(())
}

/// Infers the type of the data set at a path.
///
/// # Errors
/// If the path does not exist, or its type cannot be inferred.
pub fn recognise(path: &Path) -> Result<&'static Entry> {
    let is_directory = std::fs::metadata(path).map_err(DataError::io(path, "open"))?.is_dir();
    if !is_directory {
        open_regular(path).map_err(DataError::io(path, "open"))?;
    }
    if let Some(entry) = ENTRIES.iter().find(|entry| (entry.recognise)(path)) {
        return Ok(entry);
    }
    let (found, expected) = if is_directory {
        let contents = readers::folder::contents(path)?;
        (format!("a directory with {contents}"), "images, or the files of a known data set")
    } else if readers::folder::is_image_file(path) {
        return Err(DataError::content(path, "path", "an image", "a folder of images, or another data set"));
    } else {
        ("a file of unknown type".to_owned(), "a known data set")
    };
    let expected = format!("{expected}; give its name to open it regardless");
    Err(DataError::content(path, "path", found, expected))
}

fn check_option(entry: &Entry, option: &str) -> Result<()> {
    let known: Vec<&str> =
        entry.options.iter().chain(entry.split_options()).map(|known| known.name).collect();
    if known.contains(&option) {
        return Ok(());
    }
    Err(DataError::UnknownOption {
        data_set: entry.name.to_owned(),
        option: option.to_owned(),
        suggestion: nearest(option, &known),
        known,
    })
}

/// Longer than any name of ours; nobody misspells a text.
const LONGEST_WORD: usize = 200;

/// The candidate most similar to `word`, if any is similar at all.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        // The comparison makes a table of both lengths, and a word may come from a file, in which it has
        // millions of letters.
        .filter(|_| word.len() <= LONGEST_WORD)
        .map(|&candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.5)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}
