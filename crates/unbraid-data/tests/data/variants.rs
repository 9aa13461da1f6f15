//! Coloured, noisy and scream variants: what each does to black and to white.

use crate::shared_data::shared;
use crate::support::{after_path, chain, fixture, image, open_spec, test_name};
use std::error::Error;
use unbraid_data::DataSet;
use unbraid_data::random::Stream;

const INDEX: usize = 400_000;

/// The plain image, and the pixels of a variant as RGB.
fn with_plain(variant: &dyn DataSet) -> Vec<(f32, [f32; 3])> {
    let plain = image(open_spec("shapes").unwrap().as_ref(), INDEX);
    let rgb = image(variant, INDEX);
    plain.into_iter().zip(rgb.chunks(3).map(|rgb| [rgb[0], rgb[1], rgb[2]])).collect()
}

#[test]
fn colour_is_one_bright_colour_on_black() {
    let data = open_spec("shapes(variant=colour)").unwrap();
    assert_eq!((data.name(), data.shape().channels), ("colour-shapes", 3));
    let pixels = with_plain(data.as_ref());
    let colour = pixels.iter().find(|(white, _)| *white == 1.0).unwrap().1;
    assert!(colour.iter().all(|channel| (0.5..=1.0).contains(channel)));
    for (white, rgb) in pixels {
        assert_eq!(rgb, colour.map(|channel| channel * white));
    }
}

#[test]
fn noise_fills_the_background_only() {
    let pixels = with_plain(open_spec("shapes(variant=noisy)").unwrap().as_ref());
    let background: Vec<f32> =
        pixels.iter().filter(|(white, _)| *white == 0.0).flat_map(|(_, rgb)| *rgb).collect();
    assert!(pixels.iter().filter(|(white, _)| *white == 1.0).all(|(_, rgb)| *rgb == [1.0; 3]));
    let mean = background.iter().sum::<f32>() / background.len() as f32;
    // Uniform noise: mean 1/2, standard error 0.29 / sqrt(11,000).
    assert!((mean - 0.5).abs() < 0.015, "{mean}");
    assert!(background.iter().all(|value| (0.0..=1.0).contains(value)));
}

/// A single-coloured picture makes the background exactly (picture + shift) / 2, and the shape its inverse.
#[test]
fn scream_inverts_the_background_inside_the_shape() {
    let directory = tempfile::tempdir().unwrap();
    let picture = directory.path().join("plain.png");
    ::image::RgbImage::from_pixel(700, 400, ::image::Rgb([51, 102, 255])).save(&picture).unwrap();
    let spec = format!("shapes(variant=scream, picture={})", picture.display());
    let pixels = with_plain(open_spec(&spec).unwrap().as_ref());
    let background = pixels.iter().find(|(white, _)| *white == 0.0).unwrap().1;
    for (channel, value) in [0.2, 0.4, 1.0].into_iter().enumerate() {
        assert!((0.5 * value..=0.5 * value + 0.5).contains(&background[channel]));
    }
    for (white, rgb) in pixels {
        for channel in 0..3 {
            let expected = if white == 1.0 { 1.0 - background[channel] } else { background[channel] };
            assert!((rgb[channel] - expected).abs() < 1e-6);
        }
    }
}

#[test]
fn scream_cuts_patches_of_the_painting() {
    let Some([painting]) = shared(test_name!(), ["data/scream/the_scream.jpg"]) else { return };
    let spec = format!("shapes(variant=scream, picture={})", painting.display());
    let data = open_spec(&spec).unwrap();
    // 512 x 652 fits 350 x 274 as 215 x 274.
    assert_eq!(data.memory(), 215 * 274 * 3);
    let pixels = image(data.as_ref(), INDEX);
    assert!(pixels.iter().all(|value| (0.0..=1.0).contains(value)));
}

#[test]
fn noise_comes_from_the_callers_stream() {
    let data = open_spec("shapes(variant=noisy)").unwrap();
    let draw = |position: u64, lane: u64| {
        let mut pixels = vec![0.0; data.shape().values()];
        data.write_image(INDEX, Stream::new(1, "noise").at(position).lane(lane), &mut pixels).unwrap();
        pixels
    };
    assert!(draw(0, 0) == draw(0, 0));
    assert!(draw(0, 0) != draw(0, 1) && draw(0, 0) != draw(1, 0));
}

#[test]
fn scream_says_what_it_misses() {
    let error = open_spec("shapes(variant=scream)").unwrap_err();
    let expected =
        "option `picture` of data set `shapes`: found none, expected an image file for the backgrounds";
    assert_eq!(chain(&error), expected);
    let no_image = fixture("mnist/train-labels-idx1-ubyte");
    let error = open_spec(&format!("shapes(variant=scream, picture={})", no_image.display())).unwrap_err();
    assert!(error.source().is_some(), "the decoder says what is wrong");
    let expected = "image: found damaged or unknown data, expected a PNG, JPEG, WebP, BMP, TIFF or GIF";
    assert_eq!(after_path(&error.to_string(), &no_image), expected);
    let directory = tempfile::tempdir().unwrap();
    let tiny = directory.path().join("tiny.png");
    ::image::RgbImage::new(20, 20).save(&tiny).unwrap();
    let error = open_spec(&format!("shapes(variant=scream, picture={})", tiny.display())).unwrap_err();
    let expected = "picture: found 20 x 20 pixels, expected at least 64 x 64 after shrinking to 350 x 274";
    assert_eq!(after_path(&chain(&error), &tiny), expected);
}
