//! Whether the scans of a JPEG have data for the whole picture, without decoding it (ITU T.81, annexes B, F
//! and G). A decoder that comes to a code that does not exist, or to the end too early, leaves the rest of
//! the picture grey.

use super::bits::{Bits, Damaged, HuffmanTable};
use super::next_marker;

/// A component of the picture: brightness or a colour.
#[derive(Debug)]
struct Component {
    id: u8,
    /// Blocks across and down in each group of all components.
    across: usize,
    down: usize,
    /// Blocks of the component alone.
    columns: usize,
    rows: usize,
    /// Of a progressive picture, a bit for each coefficient of a block that is not zero.
    known: Vec<u64>,
    is_seen: bool,
}

/// The picture, by its header.
#[derive(Debug)]
struct Frame {
    is_progressive: bool,
    /// Groups of blocks of all components, across and down.
    groups: (usize, usize),
    components: Vec<Component>,
}

/// What the header of a scan says: the places of its components with their tables, and which part of the
/// coefficients it has.
struct Scan {
    components: Vec<(usize, usize, usize)>,
    first: u32,
    last: u32,
    is_refinement: bool,
}

/// Tables for DC and AC coefficients, by their numbers.
#[derive(Debug, Default)]
struct Tables {
    dc: [Option<HuffmanTable>; 4],
    ac: [Option<HuffmanTable>; 4],
}

/// Whether all scans up to the end of the image are as long as the picture needs. Files of rare kinds, and
/// those whose headers make no sense, are left to the decoder.
pub(in crate::readers::folder) fn are_whole(bytes: &[u8]) -> bool {
    let (mut frame, mut tables, mut interval): (Option<Frame>, _, _) = (None, Tables::default(), 0);
    let mut position = 2;
    while let Some((marker, after)) = next_marker(bytes, position) {
        match marker {
            super::END_OF_IMAGE => {
                return frame.is_none_or(|frame| frame.components.iter().all(|own| own.is_seen));
            }
            0x00 | 0x01 | 0xD0..=0xD8 => {
                position = after;
                continue;
            }
            _ => {}
        }
        let Some(segment) = segment(bytes, after) else { return false };
        position = after + 2 + segment.len();
        let understood = match marker {
            // Sequential and progressive Huffman codes.
            0xC0..=0xC2 => {
                frame = Frame::read(segment, marker == 0xC2);
                frame.is_some()
            }
            0xC4 => tables.read(segment).is_some(),
            0xDD => {
                interval = segment.first_chunk().map_or(0, |length| usize::from(u16::from_be_bytes(*length)));
                true
            }
            0xDA => match (&mut frame, Scan::read(segment)) {
                (Some(frame), Some(scan)) => match frame.walk(&scan, &tables, interval, bytes, position) {
                    Some(Ok(end)) => {
                        position = end;
                        true
                    }
                    Some(Err(Damaged)) => return false,
                    None => false,
                },
                _ => false,
            },
            // Arithmetic codes, lossless and hierarchical pictures.
            0xC3 | 0xC5..=0xCF | 0xDE | 0xDF => false,
            _ => true,
        };
        if !understood {
            return true;
        }
    }
    false
}

/// The content of the segment whose length is at a position.
fn segment(bytes: &[u8], position: usize) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes(*bytes.get(position..)?.first_chunk()?));
    bytes.get(position + 2..position + length)
}

impl Frame {
    fn read(segment: &[u8], is_progressive: bool) -> Option<Self> {
        let [precision, a, b, c, d, count, ref rest @ ..] = *segment else { return None };
        let (height, width) =
            (usize::from(u16::from_be_bytes([a, b])), usize::from(u16::from_be_bytes([c, d])));
        let specified: Vec<[u8; 3]> = rest.as_chunks().0.to_vec();
        let factors = |both: u8| (usize::from(both >> 4), usize::from(both & 15));
        let sampling: Vec<(usize, usize)> = specified.iter().map(|own| factors(own[1])).collect();
        let are_valid =
            sampling.iter().all(|&(across, down)| (1..=4).contains(&across) && (1..=4).contains(&down));
        let is_counted = (1..=4).contains(&count) && specified.len() == usize::from(count);
        if precision != 8 || height * width == 0 || !are_valid || !is_counted {
            return None;
        }
        let most_across = sampling.iter().map(|factors| factors.0).max()?;
        let most_down = sampling.iter().map(|factors| factors.1).max()?;
        let component = |(own, &(across, down)): (&[u8; 3], &(usize, usize))| {
            let columns = (width * across).div_ceil(most_across).div_ceil(8);
            let rows = (height * down).div_ceil(most_down).div_ceil(8);
            let known = if is_progressive { vec![0; columns * rows] } else { Vec::new() };
            Component { id: own[0], across, down, columns, rows, known, is_seen: false }
        };
        Some(Self {
            is_progressive,
            groups: (width.div_ceil(8 * most_across), height.div_ceil(8 * most_down)),
            components: specified.iter().zip(&sampling).map(component).collect(),
        })
    }

    /// Goes through the data of a scan; returns where it ends, or nothing if the scan does not fit the picture.
    fn walk(
        &mut self,
        scan: &Scan,
        tables: &Tables,
        interval: usize,
        bytes: &[u8],
        position: usize,
    ) -> Option<Result<usize, Damaged>> {
        let mut parts = Vec::new();
        for &(id, dc, ac) in &scan.components {
            let place = self.components.iter().position(|own| usize::from(own.id) == id)?;
            let (dc, ac) = (tables.dc.get(dc)?.as_ref(), tables.ac.get(ac)?.as_ref());
            parts.push((place, dc, ac));
        }
        let needs_dc = scan.first == 0 && !scan.is_refinement;
        let needs_ac = scan.last > 0;
        let has_tables =
            parts.iter().all(|(_, dc, ac)| (!needs_dc || dc.is_some()) && (!needs_ac || ac.is_some()));
        let is_possible = match self.is_progressive {
            true if scan.first > 0 => parts.len() == 1 && scan.first <= scan.last,
            true => scan.last == 0,
            false => (scan.first, scan.last, scan.is_refinement) == (0, 63, false),
        };
        if !has_tables || !is_possible || scan.last > 63 {
            return None;
        }
        // One component alone has no groups.
        let (columns, rows) = match parts[..] {
            [(place, ..)] => (self.components[place].columns, self.components[place].rows),
            _ => self.groups,
        };
        let is_alone = parts.len() == 1;
        let mut walker = Walker { scan, bits: Bits::new(bytes, position), run: 0 };
        for group in 0..columns * rows {
            if interval > 0 && group > 0 && group.is_multiple_of(interval) {
                match walker.restarted(bytes, group / interval) {
                    Ok(next) => walker = next,
                    Err(damaged) => return Some(Err(damaged)),
                }
            }
            for &(place, dc, ac) in &parts {
                let Component { across, down, known, .. } = &mut self.components[place];
                let blocks = if is_alone { 1 } else { *across * *down };
                for _ in 0..blocks {
                    let result = if self.is_progressive {
                        walker.progressive_block(
                            dc,
                            ac,
                            if scan.first > 0 { known.get_mut(group) } else { None },
                        )
                    } else {
                        walker.sequential_block(dc, ac)
                    };
                    if let Err(damaged) = result {
                        return Some(Err(damaged));
                    }
                }
            }
        }
        parts.iter().filter(|_| scan.first == 0).for_each(|part| self.components[part.0].is_seen = true);
        Some(walker.bits.end())
    }
}

impl Scan {
    fn read(segment: &[u8]) -> Option<Self> {
        let (&count, rest) = segment.split_first()?;
        let count = usize::from(count);
        let chosen: Vec<[u8; 2]> = rest.get(..2 * count)?.as_chunks().0.to_vec();
        let &[first, last, approximation] = rest.get(2 * count..)? else { return None };
        let component =
            |own: &[u8; 2]| (usize::from(own[0]), usize::from(own[1] >> 4), usize::from(own[1] & 15));
        (count > 0).then(|| Self {
            components: chosen.iter().map(component).collect(),
            first: u32::from(first),
            last: u32::from(last),
            is_refinement: approximation >> 4 > 0,
        })
    }
}

impl Tables {
    /// Adds the tables of a segment.
    fn read(&mut self, mut segment: &[u8]) -> Option<()> {
        while let Some((&target, rest)) = segment.split_first() {
            let (counts, rest) = rest.split_first_chunk::<16>()?;
            let symbols = counts.iter().map(|&count| usize::from(count)).sum();
            let (symbols, rest) = rest.split_at_checked(symbols)?;
            let tables = if target >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            *tables.get_mut(usize::from(target & 15))? = Some(HuffmanTable::new(counts, symbols)?);
            segment = rest;
        }
        Some(())
    }
}

/// A place in the data of a scan.
struct Walker<'a> {
    scan: &'a Scan,
    bits: Bits<'a>,
    /// Blocks that are known to have no more coefficients in this scan.
    run: u32,
}

impl<'a> Walker<'a> {
    /// Behind the next restart marker, of which this is the number, from 1 on. They are counted modulo 8, so
    /// that a decoder can tell that one is missing.
    fn restarted(self, bytes: &'a [u8], number: usize) -> Result<Self, Damaged> {
        let expected = 0xD0 + (number + 7) as u8 % 8;
        match next_marker(bytes, self.bits.end()?) {
            Some((marker, after)) if marker == expected => {
                Ok(Self { scan: self.scan, bits: Bits::new(bytes, after), run: 0 })
            }
            _ => Err(Damaged),
        }
    }

    /// All coefficients of a block (F.2.2).
    fn sequential_block(
        &mut self,
        dc: Option<&HuffmanTable>,
        ac: Option<&HuffmanTable>,
    ) -> Result<(), Damaged> {
        let (dc, ac) = (dc.ok_or(Damaged)?, ac.ok_or(Damaged)?);
        self.difference(dc)?;
        let mut place = 1;
        while place < 64 {
            let symbol = u32::from(self.bits.symbol(ac)?);
            let (zeros, size) = (symbol >> 4, symbol & 15);
            match (zeros, size) {
                (15, 0) => place += 16,
                (_, 0) => break,
                _ => {
                    place += zeros + 1;
                    self.bits.take(size)?;
                }
            }
            if place > 64 {
                return Err(Damaged);
            }
        }
        Ok(())
    }

    fn difference(&mut self, table: &HuffmanTable) -> Result<(), Damaged> {
        let size = u32::from(self.bits.symbol(table)?);
        if size > 16 { Err(Damaged) } else { self.bits.take(size).map(drop) }
    }

    /// The part of a block that a progressive scan has (annex G); `known` are its AC coefficients so far.
    fn progressive_block(
        &mut self,
        dc: Option<&HuffmanTable>,
        ac: Option<&HuffmanTable>,
        known: Option<&mut u64>,
    ) -> Result<(), Damaged> {
        match (known, self.scan.is_refinement) {
            (None, true) => self.bits.take(1).map(drop),
            (None, false) => self.difference(dc.ok_or(Damaged)?),
            (Some(known), false) => self.first_coefficients(ac.ok_or(Damaged)?, known),
            (Some(known), true) => self.refined_coefficients(ac.ok_or(Damaged)?, known),
        }
    }

    /// The number of blocks without coefficients that a code announces, this one included.
    fn announced(&mut self, exponent: u32) -> Result<u32, Damaged> {
        Ok((1 << exponent) + self.bits.take(exponent)?)
    }

    /// G.1.2.2.
    fn first_coefficients(&mut self, table: &HuffmanTable, known: &mut u64) -> Result<(), Damaged> {
        if self.run > 0 {
            self.run -= 1;
            return Ok(());
        }
        let mut place = self.scan.first;
        while place <= self.scan.last {
            let symbol = u32::from(self.bits.symbol(table)?);
            match (symbol >> 4, symbol & 15) {
                (15, 0) => place += 16,
                (exponent, 0) => {
                    self.run = self.announced(exponent)? - 1;
                    break;
                }
                (zeros, size) => {
                    place += zeros;
                    self.bits.take(size)?;
                    *known |= 1_u64.checked_shl(place).filter(|_| place <= self.scan.last).ok_or(Damaged)?;
                    place += 1;
                }
            }
        }
        Ok(())
    }

    /// G.1.2.3: a bit for each coefficient that is known, and those that become so.
    fn refined_coefficients(&mut self, table: &HuffmanTable, known: &mut u64) -> Result<(), Damaged> {
        let mut place = self.scan.first;
        while self.run == 0 && place <= self.scan.last {
            let symbol = u32::from(self.bits.symbol(table)?);
            let (mut zeros, size) = (symbol >> 4, symbol & 15);
            if size > 0 {
                self.bits.take(1)?;
            } else if zeros < 15 {
                self.run = self.announced(zeros)?;
                break;
            }
            while place <= self.scan.last {
                if *known >> place & 1 == 1 {
                    self.bits.take(1)?;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                place += 1;
            }
            if size > 0 {
                *known |= 1_u64.checked_shl(place).filter(|_| place <= self.scan.last).ok_or(Damaged)?;
            }
            place += 1;
        }
        if self.run > 0 {
            let rest = (place..=self.scan.last).filter(|place| *known >> place & 1 == 1).count();
            for _ in 0..rest {
                self.bits.take(1)?;
            }
            self.run -= 1;
        }
        Ok(())
    }
}
