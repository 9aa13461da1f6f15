//! The bits of a scan, and the Huffman codes in them (ITU T.81, annexes C and F).

/// The data of a scan ends too early, or is not what its Huffman tables say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// The bits up to the next marker, without stuffed zeros.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Behind the bytes that have been read; at the marker once there are no more.
    position: usize,
    /// The next bits, the first of them at the top.
    buffer: u64,
    count: u32,
}

/// A code may be followed by this many bytes that no image needs: some cameras fill up to a round number.
const PADDING: usize = 64;

impl<'a> Bits<'a> {
    /// The bits from a position on.
    pub(super) fn new(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position, buffer: 0, count: 0 }
    }

    fn fill(&mut self) {
        while self.count <= 56 {
            let byte = match self.bytes.get(self.position..) {
                Some([0xFF, 0x00, ..]) => {
                    self.position += 2;
                    0xFF
                }
                // Any number of fill bytes may come before a marker.
                Some([0xFF, 0xFF, ..]) => {
                    self.position += 1;
                    continue;
                }
                Some(&[byte, ..]) if byte != 0xFF => {
                    self.position += 1;
                    byte
                }
                _ => return,
            };
            self.buffer |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }

    /// The next 16 bits, with zeros where there are no more.
    fn peek(&mut self) -> u32 {
        if self.count < 16 {
            self.fill();
        }
        (self.buffer >> 48) as u32
    }

    fn skip(&mut self, count: u32) -> Result<(), Damaged> {
        if self.count < count {
            return Err(Damaged);
        }
        self.buffer <<= count;
        self.count -= count;
        Ok(())
    }

    /// The next bits, at most 16, as a number.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, Damaged> {
        let bits = self.peek();
        self.skip(count)?;
        Ok(bits >> (16 - count))
    }

    /// The symbol of the next code.
    pub(super) fn symbol(&mut self, table: &HuffmanTable) -> Result<u8, Damaged> {
        let bits = self.peek();
        let (length, symbol) = table.find(bits).ok_or(Damaged)?;
        self.skip(length)?;
        Ok(symbol)
    }

    /// The position of the marker, if nothing but padding comes before it.
    pub(super) fn end(mut self) -> Result<usize, Damaged> {
        self.skip(self.count % 8)?;
        let (mut left, mut first, mut is_even) = (0_usize, None, true);
        loop {
            self.fill();
            if self.count == 0 {
                break;
            }
            let byte = (self.buffer >> 56) as u8;
            self.skip(8)?;
            left += 1;
            is_even &= *first.get_or_insert(byte) == byte;
        }
        if left > PADDING && !is_even { Err(Damaged) } else { Ok(self.position) }
    }
}

/// A table of codes.
#[derive(Debug)]
pub(super) struct HuffmanTable {
    /// The symbols of the codes that begin with each byte, and their lengths; 0 for longer codes.
    short: Box<[(u8, u8); 256]>,
    /// For each length, the first code that is longer, with zeros behind it up to 16 bits.
    limits: [u32; 17],
    /// For each length, what leads from a code to the place of its symbol.
    offsets: [i32; 17],
    symbols: Vec<u8>,
}

impl HuffmanTable {
    /// Of the number of codes of each length, and their symbols; `None` if there are more codes than lengths allow.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut table = Self {
            short: Box::new([(0, 0); 256]),
            limits: [0; 17],
            offsets: [0; 17],
            symbols: symbols.to_vec(),
        };
        let (mut code, mut place) = (0_u32, 0_usize);
        for length in 1..=16_usize {
            table.offsets[length] = place as i32 - code as i32;
            for _ in 0..counts[length - 1] {
                let symbol = *symbols.get(place)?;
                if length <= 8 {
                    let first = (code << (8 - length)) as usize;
                    table.short.get_mut(first..first + (1 << (8 - length)))?.fill((length as u8, symbol));
                }
                code += 1;
                place += 1;
            }
            if code > 1 << length {
                return None;
            }
            table.limits[length] = code << (16 - length);
            code <<= 1;
        }
        Some(table)
    }

    /// The length and the symbol of the code that 16 bits begin with.
    fn find(&self, bits: u32) -> Option<(u32, u8)> {
        let (length, symbol) = self.short[(bits >> 8) as usize];
        if length > 0 {
            return Some((u32::from(length), symbol));
        }
        let length = (9..=16_usize).find(|&length| bits < self.limits[length])?;
        let place = (bits >> (16 - length)) as i32 + self.offsets[length];
        Some((length as u32, *self.symbols.get(usize::try_from(place).ok()?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_end_at_a_marker() {
        // 1010_0101 1111_1111, the zero behind it being stuffed, then a marker behind a fill byte.
        let bytes = [0xA5, 0xFF, 0x00, 0xFF, 0xFF, 0xD9];
        let mut bits = Bits::new(&bytes, 0);
        assert_eq!([bits.take(4), bits.take(0), bits.take(12)], [Ok(0xA), Ok(0), Ok(0x5FF)]);
        assert_eq!(bits.take(1), Err(Damaged));
        assert_eq!(bits.end(), Ok(4));
    }

    /// Of `00`, `01` and `100`, as annex C numbers the codes of these lengths.
    #[test]
    fn codes_are_numbered_in_order() {
        let mut counts = [0; 16];
        (counts[1], counts[2]) = (2, 1);
        let table = HuffmanTable::new(&counts, &[7, 8, 9]).unwrap();
        let bytes = [0b0001_1000, 0b0111_0000];
        let mut bits = Bits::new(&bytes, 0);
        let symbols: Vec<_> = (0..4).map(|_| bits.symbol(&table)).collect();
        assert_eq!(symbols, [Ok(7), Ok(8), Ok(9), Ok(7)]);
        assert_eq!(bits.symbol(&table), Err(Damaged), "111 is no code");
        // A code of ten bits, 00_0000_0000, and the one after it.
        let mut counts = [0; 16];
        counts[9] = 2;
        let table = HuffmanTable::new(&counts, &[5, 6]).unwrap();
        let mut bits = Bits::new(&[0x00, 0x00, 0x10], 0);
        assert_eq!([bits.symbol(&table), bits.symbol(&table)], [Ok(5), Ok(6)]);
        assert!(HuffmanTable::new(&[3; 16], &[0; 48]).is_none(), "there are two codes of one bit");
    }

    #[test]
    fn a_little_padding_or_much_of_one_byte_is_allowed() {
        let end = |rest: &[u8]| Bits::new(&[rest, &[0xFF, 0xD9]].concat(), 0).end();
        assert_eq!(end(&[0; 1000]), Ok(1000));
        let mixed: Vec<u8> = (0..=PADDING as u8).collect();
        assert_eq!(end(&mixed[1..]), Ok(PADDING));
        assert_eq!(end(&mixed), Err(Damaged));
    }
}
