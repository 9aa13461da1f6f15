//! Whether a JPEG file is complete. The decoder fills what is missing with grey, without a word.

mod bits;
mod scans;

pub(super) use scans::are_whole;

const END_OF_IMAGE: u8 = 0xD9;

/// Whether the file reaches the marker at the end of its image (ITU T.81, annex B). Segments are skipped by
/// their length, so that the thumbnail inside EXIF metadata, which has such a marker of its own, does not
/// count.
pub(super) fn is_complete(bytes: &[u8]) -> bool {
    // The first marker, start of image, has been recognised already.
    let mut position = 2;
    while let Some((marker, after)) = next_marker(bytes, position) {
        match marker {
            END_OF_IMAGE => return true,
            // Restart markers and the like, and stuffed zeros in the data of a scan: no length follows.
            0x00 | 0x01 | 0xD0..=0xD8 => position = after,
            _ => {
                let Some(&[high, low]) = bytes.get(after..after + 2) else { return false };
                position = after + usize::from(u16::from_be_bytes([high, low]));
            }
        }
    }
    false
}

/// The next marker at or after a position, and the position behind it.
fn next_marker(bytes: &[u8], position: usize) -> Option<(u8, usize)> {
    let mut at = position + bytes.get(position..)?.iter().position(|&byte| byte == 0xFF)?;
    // Any number of fill bytes may come before a marker.
    while *bytes.get(at)? == 0xFF {
        at += 1;
    }
    Some((bytes[at], at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture with an EXIF segment that holds a whole JPEG of its own, written by hand.
    fn with_thumbnail() -> Vec<u8> {
        let thumbnail = [0xFF, 0xD8, 0xFF, 0xDA, 0x00, 0x02, 0x11, 0xFF, 0xD9];
        let mut bytes = vec![0xFF, 0xD8, 0xFF, 0xE1, 0x00, 2 + thumbnail.len() as u8];
        bytes.extend(thumbnail);
        // A scan with a stuffed zero and a restart marker in its data, and a fill byte before the last marker.
        bytes.extend([
            0xFF, 0xDA, 0x00, 0x04, 1, 2, 0x55, 0xFF, 0x00, 0x55, 0xFF, 0xD3, 0x55, 0xFF, 0xFF, 0xD9,
        ]);
        bytes
    }

    #[test]
    fn only_the_whole_file_is_complete() {
        let whole = with_thumbnail();
        assert!(is_complete(&whole));
        for length in 2..whole.len() {
            assert!(!is_complete(&whole[..length]), "{length} bytes of {}", whole.len());
        }
        let mut longer = whole;
        longer.extend(b"whatever a camera appends");
        assert!(is_complete(&longer));
    }

    #[test]
    fn a_file_padded_with_zeros_is_not_complete() {
        let mut padded = with_thumbnail();
        padded.truncate(20);
        padded.resize(4096, 0);
        assert!(!is_complete(&padded));
    }

    proptest::proptest! {
        #[test]
        fn damaged_bytes_never_panic(bytes: Vec<u8>) {
            is_complete(&[&[0xFF, 0xD8][..], &bytes].concat());
            are_whole(&[&[0xFF, 0xD8][..], &bytes].concat());
        }
    }
}
