//! Images for a run: its own data, another data set, a folder, or single files.

use crate::error::{Error, Result};
use crate::run::Run;
use ndarray::Array4;
use std::path::{Path, PathBuf};
use unbraid_data::open_files;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;
use unbraid_data::registry;
use unbraid_data::{DataSet, DataSpec, ImageShape};

const ENDINGS: [&str; 3] = ["png", "jpg", "jpeg"];

/// Opens the data that `spec` names for a run. The path of a PNG or JPEG file is that one image; a folder of images is
/// read in the size and the channels of the run, unless `spec` says otherwise.
///
/// # Errors
/// If there is no such data, it is damaged, or its images are of another size than those of the run.
pub fn open(run: &Run, spec: &DataSpec, progress: &dyn Progress) -> Result<Box<dyn DataSet>> {
    if let (None, Some(path)) = (&spec.name, &spec.path)
        && is_image_file(path)
    {
        return open_images(run, std::slice::from_ref(path));
    }
    let mut spec = spec.clone();
    let entry = match (&spec.name, &spec.path) {
        (Some(name), _) => registry::entry(name)?,
        (None, Some(path)) => registry::recognise(path)?,
        (None, None) => {
            return Err(Error::argument("data", "neither name nor path", "one of them"));
        }
    };
    let shape = run.image_shape();
    let takes = |option: &str| entry.options.iter().any(|(name, _)| *name == option);
    // A folder has no size of its own.
    if takes("size") && takes("channels") && shape.height == shape.width {
        for (option, value) in [("size", shape.height), ("channels", shape.channels)] {
            if !spec.options.contains_key(option) {
                spec = spec.with(option, value);
            }
        }
    }
    let data = unbraid_data::open(&spec, progress)?;
    run.check_image_shape(data.name(), data.shape())?;
    Ok(data)
}

/// Opens the data that a run was trained on.
///
/// # Errors
/// If it is not where it was, or has changed its size.
pub fn open_own(run: &Run, progress: &dyn Progress) -> Result<Box<dyn DataSet>> {
    let data = unbraid_data::open(&run.config().data, progress)?;
    run.check_image_shape(data.name(), data.shape())?;
    Ok(data)
}

/// Opens single image files in the size of a run.
///
/// # Errors
/// If one cannot be read or is no image, or the run is about something else than images.
pub fn open_images(run: &Run, paths: &[PathBuf]) -> Result<Box<dyn DataSet>> {
    let shape = run.image_shape();
    if !matches!(shape.channels, 1 | 3) || shape.height * shape.width == 1 {
        return Err(Error::NotImages { run: run.path().to_owned(), shape });
    }
    Ok(open_files(paths, shape)?)
}

fn is_image_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) && !path.is_dir()
}

/// Some images of a data set, `[images, height, width, channels]`. Where images are made with noise, each has always the
/// same.
///
/// # Errors
/// If one cannot be read.
pub fn read(data: &dyn DataSet, indices: &[usize]) -> Result<Array4<f32>> {
    let ImageShape { height, width, channels } = data.shape();
    let mut pixels = vec![0.0; indices.len() * data.shape().values()];
    for (&index, image) in indices.iter().zip(pixels.chunks_exact_mut(data.shape().values().max(1))) {
        data.write_image(index, noise().at(0).lane(index as u64), image)?;
    }
    Ok(Array4::from_shape_vec((indices.len(), height, width, channels), pixels)
        .expect("as many values as images and pixels"))
}

/// The noise of stochastic data sets, by image.
pub fn noise() -> Stream {
    Stream::new(0, "input images")
}
