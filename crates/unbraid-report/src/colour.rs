//! Colours that all figures share.

/// A colour by its red, green and blue.
pub type Colour = [u8; 3];

/// For text.
pub const INK: Colour = [32, 36, 44];
/// For text of less weight.
pub const FAINT_INK: Colour = [110, 116, 128];

/// For things without an order, such as curves. The first seven are distinguishable with any common colour
/// vision (Okabe and Ito, 2008), and all stand out on white and on black.
pub(crate) const SERIES: [Colour; 10] = [
    [0, 114, 178],
    [230, 159, 0],
    [0, 158, 115],
    [204, 121, 167],
    [213, 94, 0],
    [86, 180, 233],
    [150, 150, 60],
    [128, 106, 200],
    [125, 130, 140],
    [168, 96, 60],
];

/// The colours of [`scale`] at 0, 1/4, 1/2, 3/4 and 1: dark and blue to light and yellow, with lightness
/// growing evenly.
const STOPS: [Colour; 5] = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/// The colour of a value from 0 to 1; values outside get the nearest end, and NaN is grey.
pub(crate) fn scale(value: f64) -> Colour {
    if value.is_nan() {
        return [128; 3];
    }
    let place = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place as usize).min(STOPS.len() - 2);
    let share = place - below as f64;
    std::array::from_fn(|channel| {
        let (from, to) = (f64::from(STOPS[below][channel]), f64::from(STOPS[below + 1][channel]));
        (from + share * (to - from)).round() as u8
    })
}

/// The colour of a correlation from -1 (blue) over 0 (light grey) to 1 (orange), of equal strength on both
/// sides; NaN is grey.
pub(crate) fn diverging(value: f64) -> Colour {
    if value.is_nan() {
        return [128; 3];
    }
    let end = if value < 0.0 { [0, 90, 160] } else { [196, 78, 0] };
    let share = value.abs().min(1.0);
    std::array::from_fn(|channel| {
        let (from, to) = (236.0, f64::from(end[channel]));
        (from + share * (to - from)).round() as u8
    })
}

/// Black or white, whichever can be read on `background`.
pub(crate) fn readable_on(background: Colour) -> Colour {
    // Lightness by the weights of ITU-R BT.709, good enough to tell dark from light.
    let [red, green, blue] = background.map(f64::from);
    if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 140.0 { [0; 3] } else { [255; 3] }
}

/// As in CSS: `#0072b2`.
pub(crate) fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_runs_from_end_to_end_and_through_its_middle() {
        assert_eq!([scale(0.0), scale(0.5), scale(1.0)], [STOPS[0], STOPS[2], STOPS[4]]);
        assert_eq!([scale(-3.0), scale(7.0), scale(f64::INFINITY)], [STOPS[0], STOPS[4], STOPS[4]]);
        assert_eq!(scale(f64::NAN), [128; 3]);
        // Halfway between the first two stops: (68 + 59) / 2, (1 + 82) / 2, (84 + 139) / 2, rounded away from zero.
        assert_eq!(scale(0.125), [64, 42, 112]);
    }

    #[test]
    fn correlations_have_two_sides() {
        assert_eq!([diverging(-1.0), diverging(0.0), diverging(3.0)], [[0, 90, 160], [236; 3], [196, 78, 0]]);
        // A quarter of the way from 236 to each channel of the end.
        assert_eq!(diverging(0.25), [226, 197, 177]);
        assert_eq!(diverging(f64::NAN), [128; 3]);
    }

    #[test]
    fn text_is_white_on_dark_and_black_on_light() {
        assert_eq!(readable_on(scale(0.0)), [255; 3]);
        assert_eq!(readable_on(scale(1.0)), [0; 3]);
        assert_eq!(hex([0, 114, 178]), "#0072b2");
    }
}
