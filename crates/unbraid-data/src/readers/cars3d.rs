//! Cars3D: rendered cars from 4 elevations and 24 azimuths (Reed et al., 2015).
//!
//! There is one MATLAB file per car, with the array `im` of 128 x 128 x 3 pixels, 24 azimuths and 4 elevations, in a
//! directory or in `nips2015-analogy-data.tar.gz`. The cars are in the order of `list.txt` in the same directory, which
//! lists them without their file extension; without it, they are sorted by file name. Images are shrunk to 64 x 64.

use super::lanczos::Lanczos;
use crate::cache::{self, Keep, Sink};
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::files::open_regular;
use crate::fingerprint::Fingerprint;
use crate::formats::{gzip, mat5};
use crate::memory::Bytes;
use crate::progress::Progress;
use crate::request::Request;
use crate::storage::Pixels;
use crate::stored::StoredImages;
use crate::table::FactorTable;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tar::{Archive, PaxExtensions};

const ELEVATIONS: usize = 4;
const AZIMUTHS: usize = 24;
const VIEWS: usize = ELEVATIONS * AZIMUTHS;
const SIZE_BEFORE: usize = 128;
const SIZE: usize = 64;
/// Where the cars may be below the path; the deepest first, as `data` has the file `shapes48.mat` of another data set.
const PLACES: [&str; 4] = ["nips2015-analogy-data/data/cars", "data/cars", "cars", ""];
const LIST: &str = "list.txt";
/// The published list has 183 lines of 12 characters.
const LONGEST_LIST: u64 = 1 << 20;
/// Longer than any path, and than what archives note beside it.
const LONGEST_NAME: u64 = 1 << 16;

/// Whether a directory holds MATLAB files of level 5, or an archive has the published name.
pub(crate) fn recognise(path: &Path) -> bool {
    if path.is_dir() {
        return Cars::in_directory(path).is_ok_and(|cars| {
            let mut start = [0; 128];
            let first = cars.file(&cars.names[0]);
            open_regular(&first).and_then(|mut file| file.read_exact(&mut start)).is_ok()
                && mat5::is_header(&start)
        });
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_file() && name.starts_with("nips2015-analogy-data") && name.contains(".t")
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    Ok(Box::new(read(request.path()?, request.progress)?))
}

/// Reads the cars in a directory or an archive.
///
/// # Errors
/// If there are no cars, or one is missing, damaged or of another shape.
pub(crate) fn read(path: &Path, progress: &dyn Progress) -> Result<StoredImages> {
    let metadata = fs::metadata(path).map_err(DataError::io(path, "open"))?;
    let cars = if metadata.is_dir() { Cars::in_directory(path)? } else { Cars::in_archive(path)? };
    let hash = Fingerprint::Files(cars.files()).compute()?;
    let key = Fingerprint::Recipe(format!("cars3d 1 {hash}")).compute()?;
    let shape = ImageShape::new(SIZE, SIZE, 3);
    let len = VIEWS * cars.names.len();
    let images = cache::load_or_decode(&key, shape.values(), len, Keep::All, progress, |sink| {
        decode(&cars, progress, sink)
    })?;
    let factors = FactorTable::grid(FactorSpace::new(vec![
        Factor::new("elevation", ELEVATIONS),
        Factor::new("azimuth", AZIMUTHS).of_kind(FactorKind::Angle),
        Factor::labelled("object", cars.names),
    ]));
    Ok(StoredImages::new("cars3d", shape, Pixels::Bytes(images), Some(factors), Fingerprint::Known(hash)))
}

/// The files of all cars, in order.
struct Cars {
    /// The directory, or the archive itself.
    place: PathBuf,
    archived: bool,
    /// Without file extension.
    names: Vec<String>,
}

impl Cars {
    fn in_directory(path: &Path) -> Result<Self> {
        for place in PLACES.map(|place| path.join(place)) {
            let Ok(entries) = fs::read_dir(&place) else { continue };
            let mut found = BTreeSet::new();
            for entry in entries {
                let entry = entry.map_err(DataError::io(&place, "list"))?;
                found.extend(car_name(Path::new(&entry.file_name())));
            }
            if found.is_empty() {
                continue;
            }
            let list = place.join(LIST);
            let list = match list.is_file() {
                true => Some(read_list(&list, &mut gzip::open(&list)?)?),
                false => None,
            };
            let names = ordered(&place, found, list)?;
            return Ok(Self { place, archived: false, names });
        }
        let expected = "car files (.mat) in it, in cars/ or in data/cars/";
        Err(DataError::content(path, "directory", "no .mat file", expected))
    }

    fn in_archive(path: &Path) -> Result<Self> {
        let (mut found, mut list) = (BTreeSet::new(), None);
        each_entry(path, |entry, reader| {
            found.extend(archived_car(entry));
            if entry.ends_with(Path::new("cars").join(LIST)) {
                list = Some(read_list(path, reader)?);
            }
            Ok(())
        })?;
        if found.is_empty() {
            return Err(DataError::content(path, "archive", "no cars/*.mat", "one .mat file per car"));
        }
        let names = ordered(path, found, list)?;
        Ok(Self { place: path.to_owned(), archived: true, names })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.join(format!("{name}.mat"))
    }

    /// All files that the content of the data set depends on.
    fn files(&self) -> Vec<PathBuf> {
        if self.archived {
            return vec![self.place.clone()];
        }
        self.names.iter().map(|name| self.file(name)).collect()
    }

    /// Calls `take` for every car with its index, its path for messages, and the bytes of its file, in the
    /// order in which they are stored.
    fn each(&self, mut take: impl FnMut(usize, &Path, &mut dyn Read) -> Result<()>) -> Result<()> {
        if !self.archived {
            for (object, name) in self.names.iter().enumerate() {
                let path = self.file(name);
                take(object, &path, &mut gzip::open(&path)?)?;
            }
            return Ok(());
        }
        let objects: HashMap<&str, usize> =
            self.names.iter().enumerate().map(|(object, name)| (name.as_str(), object)).collect();
        each_entry(&self.place, |entry, reader| {
            match archived_car(entry).and_then(|name| objects.get(name.as_str()).copied()) {
                Some(object) => take(object, &self.place.join(entry), reader),
                None => Ok(()),
            }
        })
    }
}

/// Calls `take` for every file of a tar archive, compressed or not.
fn each_entry(path: &Path, mut take: impl FnMut(&Path, &mut dyn Read) -> Result<()>) -> Result<()> {
    let damaged = |error: io::Error| {
        gzip::unreadable(error, "", |found| {
            DataError::content(path, "archive", found, "a whole tar archive, gzip-compressed or not")
        })
    };
    let mut archive = Archive::new(gzip::open(path)?);
    // A name that does not fit the header of its entry is an entry of its own before it, of any length.
    let mut long_name = None;
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            let length = entry.size();
            if length > LONGEST_NAME {
                let found = format!("a name of {}", Bytes(length));
                let expected = format!("names of at most {}", Bytes(LONGEST_NAME));
                return Err(DataError::content(path, "archive", found, expected));
            }
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(damaged)?;
            if kind.is_gnu_longname() {
                long_name = Some(bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_owned());
            } else {
                let extensions = PaxExtensions::new(&bytes).filter_map(Result::ok);
                let path = extensions.filter(|extension| extension.key_bytes() == b"path").last();
                long_name = path.map(|path| path.value_bytes().to_owned()).or(long_name);
            }
            continue;
        }
        let name = match long_name.take() {
            Some(name) => PathBuf::from(String::from_utf8_lossy(&name).into_owned()),
            None => entry.path().map_err(damaged)?.into_owned(),
        };
        if kind.is_file() {
            take(&name, &mut entry)?;
        }
    }
    Ok(())
}

/// The name of the car if an entry of the archive is one.
fn archived_car(entry: &Path) -> Option<String> {
    let place = entry.parent()?.file_name()?;
    car_name(entry).filter(|_| place == "cars")
}

/// A file name without `.mat`; `None` for other files, and for hidden ones, which some systems add to archives.
fn car_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".mat")?;
    (!name.is_empty() && !name.starts_with('.')).then(|| name.to_owned())
}

fn read_list(path: &Path, reader: &mut dyn Read) -> Result<Vec<String>> {
    let mut text = String::new();
    reader
        .take(LONGEST_LIST)
        .read_to_string(&mut text)
        .map_err(DataError::io(path, "read the list of cars"))?;
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(|name| name.strip_suffix(".mat").unwrap_or(name).to_owned()).collect())
}

/// The cars of the list, each of which must exist and be listed once; without a list, the cars found, sorted.
fn ordered(path: &Path, mut found: BTreeSet<String>, list: Option<Vec<String>>) -> Result<Vec<String>> {
    let Some(list) = list else { return Ok(found.into_iter().collect()) };
    for name in &list {
        if !found.remove(name) {
            let found = format!("{name}.mat missing or listed twice");
            return Err(DataError::content(path, "cars", found, format!("one file for each line of {LIST}")));
        }
    }
    if list.is_empty() {
        return Err(DataError::content(path, LIST, "no names", "one line per car"));
    }
    Ok(list)
}

/// Shrinks the images of all cars and passes them on in the order of elevation, azimuth, car.
fn decode(cars: &Cars, progress: &dyn Progress, sink: &mut Sink<'_>) -> Result<()> {
    let filter = Lanczos::new(SIZE_BEFORE, SIZE, 3);
    let values = filter.values_after();
    // By car, and then once more in the order of images.
    let needed = 2_u64.saturating_mul((VIEWS * values) as u64).saturating_mul(cars.names.len() as u64);
    DataError::check_memory(&cars.place, format!("{} cars", cars.names.len()), needed)?;
    let mut shrunk: Vec<Vec<u8>> = vec![Vec::new(); cars.names.len()];
    progress.start("Decoding Cars3D", cars.names.len() as u64);
    cars.each(|object, path, reader| {
        let array = mat5::Array::find(path, Box::new(reader), "im")?;
        array.expect_shape(&[SIZE_BEFORE, SIZE_BEFORE, 3, AZIMUTHS, ELEVATIONS])?;
        let views = array.bytes()?;
        let mut images = vec![0; VIEWS * values];
        images
            .par_chunks_exact_mut(values)
            .zip(views.par_chunks_exact(filter.values_before()))
            .for_each_init(<(Vec<u8>, Vec<u8>)>::default, |(rows, between), (image, view)| {
                rows_first(view, rows);
                filter.shrink(rows, between, image);
            });
        shrunk[object] = images;
        progress.advance(1);
        Ok(())
    })?;
    progress.finish();
    // In `im` the elevation varies slowest, then the azimuth.
    for view in 0..VIEWS {
        for (images, name) in shrunk.iter().zip(&cars.names) {
            let image = images.get(view * values..(view + 1) * values).ok_or_else(|| {
                let found = format!("{name}.mat removed while reading");
                DataError::content(&cars.place, "cars", found, "all files to stay in place")
            })?;
            sink(image)?;
        }
    }
    Ok(())
}

/// From MATLAB's order (rows fastest, then columns, then channels) to channels fastest, then columns, then rows.
fn rows_first(view: &[u8], rows: &mut Vec<u8>) {
    let pixels = SIZE_BEFORE * SIZE_BEFORE;
    rows.resize(3 * pixels, 0);
    for (pixel, channels) in rows.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let at = pixel % SIZE_BEFORE * SIZE_BEFORE + pixel / SIZE_BEFORE;
        *channels = [view[at], view[pixels + at], view[2 * pixels + at]];
    }
}
