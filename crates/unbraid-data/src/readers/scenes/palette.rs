//! Colours of floor, walls and object by their hue.
//!
//! Each has a path of its own through the colours. A VAE aligns its units with the principal components of
//! what it decodes (Rolinek et al. 2019), so every factor should move the picture along one direction, which
//! no other factor takes: paths are nearly straight; those of walls and object lead along different colours
//! of the same lightness, and the object is darker than the room, so that its size is a matter of light
//! alone.

/// What has a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Floor,
    Walls,
    Object,
}

/// The colours of light on the left and on the right wall, which tell the two apart: cool and warm.
pub(super) const WALL_LIGHT: [[f64; 3]; 2] = [[0.95, 1.16, 1.49], [1.45, 1.24, 0.91]];

/// An open path of colours: its first and its last, and how far its middle is from halfway between them.
struct Path {
    first: [f64; 3],
    last: [f64; 3],
    bend: [f64; 3],
}

impl Path {
    fn of(part: Part) -> Self {
        let (first, last, bend) = match part {
            // Orange, green, blue.
            Part::Floor => ([1.0, 0.53, 0.27], [0.19, 0.70, 0.97], [-0.06, 0.12, -0.06]),
            // Pink, cream, light green.
            Part::Walls => ([0.94, 0.50, 0.89], [0.66, 0.98, 0.68], [0.0; 3]),
            // Copper, purple, blue.
            Part::Object => ([0.575, 0.305, 0.08], [0.265, 0.015, 0.81], [0.0; 3]),
        };
        Self { first, last, bend }
    }

    fn at(&self, share: f64) -> [f64; 3] {
        std::array::from_fn(|channel| {
            let straight = self.first[channel] + (self.last[channel] - self.first[channel]) * share;
            straight + self.bend[channel] * 4.0 * share * (1.0 - share)
        })
    }
}

/// Red, green and blue of colour `place` of `count`, from 0 to 1: on the open path of a part, or on the
/// circle of hues, which starts with red.
pub(super) fn colour(part: Part, place: usize, count: usize, circular: bool) -> [f64; 3] {
    let steps = if circular { count } else { count - 1 };
    let share = if steps == 0 { 0.0 } else { place as f64 / steps as f64 };
    if circular { from_hue(share, part) } else { Path::of(part).at(share) }
}

/// Each channel is 1 within a sixth of the circle around its hue, and falls to 0.35 over the next. Walls and
/// object are darker by a constant factor.
fn from_hue(hue: f64, part: Part) -> [f64; 3] {
    let lightness = match part {
        Part::Floor => 1.0,
        Part::Walls => 0.9,
        Part::Object => 0.6,
    };
    [0.0, 1.0 / 3.0, 2.0 / 3.0].map(|centre| {
        let away = (hue - centre).rem_euclid(1.0);
        let distance = 6.0 * away.min(1.0 - away);
        lightness * (1.0 - 0.65 * (distance - 1.0).clamp(0.0, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: [f64; 3], expected: [f64; 3]) -> bool {
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12)
    }

    #[test]
    fn a_circle_has_primary_and_mixed_colours() {
        let low = 0.35;
        assert!(near(colour(Part::Floor, 0, 6, true), [1.0, low, low]), "red");
        assert!(near(colour(Part::Floor, 2, 6, true), [low, 1.0, low]), "green");
        assert!(near(colour(Part::Floor, 3, 6, true), [low, 1.0, 1.0]), "cyan");
        // Between red and yellow, green is halfway up.
        assert!(near(colour(Part::Floor, 1, 12, true), [1.0, 0.5 * (1.0 + low), low]));
        assert!(near(colour(Part::Object, 2, 6, true), [0.21, 0.6, 0.21]), "a darker green");
    }

    #[test]
    fn an_open_path_goes_from_its_first_colour_to_its_last() {
        for part in [Part::Floor, Part::Walls, Part::Object] {
            let path = Path::of(part);
            assert_eq!(colour(part, 0, 10, false), path.first);
            assert!(near(colour(part, 9, 10, false), path.last));
            assert_eq!(colour(part, 0, 1, false), path.first);
            let halfway = std::array::from_fn(|c| 0.5 * (path.first[c] + path.last[c]) + path.bend[c]);
            assert!(near(colour(part, 1, 3, false), halfway));
        }
    }
}
