//! Colours by their hue.

/// Hues of an open path go from red (0) to violet.
const LAST: f64 = 0.72;
const SATURATION: f64 = 0.65;

/// Red, green and blue of colour `place` of `count`, from 0 to 1. An open path ends at violet; a circle comes back to red.
pub(super) fn colour(place: usize, count: usize, circular: bool) -> [f32; 3] {
    let steps = if circular { count } else { count - 1 };
    let share = if steps == 0 { 0.0 } else { place as f64 / steps as f64 };
    from_hue(if circular { share } else { LAST * share })
}

/// A colour of full value: each channel is 1 within a sixth of the circle around its hue, and falls to `1 - SATURATION` over
/// the next.
fn from_hue(hue: f64) -> [f32; 3] {
    [0.0, 1.0 / 3.0, 2.0 / 3.0].map(|centre| {
        let away = (hue - centre).rem_euclid(1.0);
        let distance = 6.0 * away.min(1.0 - away);
        (1.0 - SATURATION * (distance - 1.0).clamp(0.0, 1.0)) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_and_mixed_colours() {
        let low = 0.35;
        assert_eq!(from_hue(0.0), [1.0, low, low]);
        assert_eq!(from_hue(1.0 / 3.0), [low, 1.0, low]);
        let [red, green, blue] = from_hue(0.5);
        // Cyan.
        assert!((red - low).abs() < 1e-6 && (green - 1.0).abs() < 1e-6 && (blue - 1.0).abs() < 1e-6);
        // Between red and yellow, green is halfway up.
        assert!((from_hue(1.0 / 12.0)[1] - (1.0 + low) / 2.0).abs() < 1e-6);
    }

    #[test]
    fn an_open_path_ends_before_it_comes_back() {
        assert_eq!(colour(0, 10, false), colour(0, 10, true));
        assert_eq!(colour(9, 10, false), from_hue(0.72));
        assert_eq!(colour(9, 10, true), from_hue(0.9));
        assert_eq!(colour(0, 1, false), from_hue(0.0));
    }
}
