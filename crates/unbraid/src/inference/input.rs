//! Images for a run: its own data, another data set, a folder, or single files.

use crate::error::{Error, Result};
use crate::run::Run;
use ndarray::Array4;
use std::path::PathBuf;
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;
use unbraid_data::registry;
use unbraid_data::{DataSet, DataSpec, ImageShape, OptionValue, Treatment, is_image_file, open_files};

/// Opens the data set `spec` for a run. The path of an image file is a data set of one image; a folder of images
/// is read with the size, channels, crop and mask of the run, unless `spec` says otherwise.
///
/// # Errors
/// If the data does not exist, is damaged, or has images of another size than the run's.
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
    let takes = |option: &str| entry.has_option(option);
    // A folder has no inherent image size.
    if takes("size") && takes("channels") && shape.height == shape.width {
        for (option, value) in [("size", shape.height), ("channels", shape.channels)] {
            if !spec.options.contains_key(option) {
                spec = spec.with(option, value);
            }
        }
    }
    // Pictures are seen as those that the run was trained on.
    for option in ["crop", "mask"].into_iter().filter(|option| takes(option)) {
        if let Some(value) = run.config().data.options.get(option) {
            spec.options.entry(option.to_owned()).or_insert_with(|| value.clone());
        }
    }
    // A table may have more columns than the run was trained on, in another order.
    if let Some(features) = run.features().filter(|_| entry.is_table()) {
        let columns = || OptionValue::Text(registry::literal_columns(features.names()));
        spec.options.entry("columns".to_owned()).or_insert_with(columns);
        if let Some(missing) = run.config().data.options.get("missing") {
            spec.options.entry("missing".to_owned()).or_insert_with(|| missing.clone());
        }
    }
    let data = unbraid_data::open(&spec, progress)?;
    run.check_data(data.as_ref())?;
    Ok(data)
}

/// Opens the data that a run was trained on.
///
/// # Errors
/// If it has moved or its image size has changed.
pub fn open_own(run: &Run, progress: &dyn Progress) -> Result<Box<dyn DataSet>> {
    let data = unbraid_data::open(&run.find_data(progress), progress)?;
    run.check_data(data.as_ref())?;
    Ok(data)
}

/// Opens single image files, cropped and resized as those that a run was trained on.
///
/// # Errors
/// If one cannot be read, is not an image or is too small, or the run was not trained on images.
pub fn open_images(run: &Run, paths: &[PathBuf]) -> Result<Box<dyn DataSet>> {
    run.check_pictures("--data TABLE takes rows of a table")?;
    let shape = run.image_shape();
    if !matches!(shape.channels, 1 | 3) || shape.height * shape.width == 1 {
        return Err(Error::NotImages { run: run.path().to_owned(), shape });
    }
    Ok(open_files(paths, shape, Treatment::of(&run.config().data)?)?)
}

/// Some images of a data set, `[images, height, width, channels]`. If the data set adds noise, the noise of an image is
/// always the same.
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
