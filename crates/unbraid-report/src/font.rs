//! The font of pictures, and how wide its words are.

use ab_glyph::{Font, FontRef, Glyph, GlyphId, PxScale, ScaleFont, point};

static FONT: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");

/// The font is part of the binary, so it always parses; if it did not, pictures would come without words.
pub(crate) fn font() -> Option<FontRef<'static>> {
    FontRef::try_from_slice(FONT).ok()
}

/// The width of a line of text, in pixels.
pub(crate) fn text_width(text: &str, size: f32) -> f32 {
    let Some(font) = font() else { return 0.0 };
    let font = font.as_scaled(PxScale::from(size));
    let mut last = None;
    text.chars().fold(0.0, |width, character| {
        let glyph = glyph_or_replacement(&font, character);
        let kerning = last.replace(glyph).map_or(0.0, |last| font.kern(last, glyph));
        width + kerning + font.h_advance(glyph)
    })
}

/// The glyph of a character, or a question mark for one that the font lacks: its own sign for that is empty.
fn glyph_or_replacement<F: Font>(font: &impl ScaleFont<F>, character: char) -> GlyphId {
    match font.glyph_id(character) {
        GlyphId(0) => font.glyph_id('?'),
        glyph => glyph,
    }
}

/// The width of a line of text in a page or a chart, whose sizes are those of an em, not of a line from its
/// highest to its lowest point as ours are. The font there is not known; ours is wider than most.
pub(crate) fn page_text_width(text: &str, size: f32) -> f64 {
    let Some(font) = font() else { return 0.0 };
    let em = font.units_per_em().map_or(1.0, |em| font.height_unscaled() / em);
    f64::from(text_width(text, size * em))
}

/// The letters of a line of text, each where it stands.
pub(crate) fn layout(text: &str, size: f32) -> Vec<Glyph> {
    let Some(font) = font() else { return Vec::new() };
    let scaled = font.as_scaled(PxScale::from(size));
    let (mut x, mut last) = (0.0, None);
    let place = |character: char| {
        let glyph = glyph_or_replacement(&scaled, character);
        x += last.replace(glyph).map_or(0.0, |last| scaled.kern(last, glyph));
        let placed = glyph.with_scale_and_position(PxScale::from(size), point(x, 0.0));
        x += scaled.h_advance(glyph);
        placed
    };
    text.chars().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_letters_we_use() {
        let font = font().expect("the font parses");
        for character in "aZ09äéβσμ±×→−∞≤".chars() {
            assert_ne!(font.glyph_id(character).0, 0, "{character}");
        }
    }

    #[test]
    fn letters_that_the_font_lacks_are_replaced_visibly() {
        let glyphs = |text: &str| layout(text, 12.0).iter().map(|glyph| glyph.id).collect::<Vec<_>>();
        assert_eq!(glyphs("写真 a"), glyphs("?? a"));
        assert_eq!(text_width("写", 12.0), text_width("?", 12.0));
    }
}
