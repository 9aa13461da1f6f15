//! The files of `torch.save`: since version 1.6 a zip archive of a pickle and raw storages, before that a
//! sequence of pickles followed by the storages.

use super::element::Element;
use super::pickle::{Id, Pickle, TensorView, Value};
use super::refusal::{Refusal, listed, quoted};
use crate::model::{StateTensor, Values};
use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::ops::Range;
use zip::{CompressionMethod, ZipArchive};

/// What old files begin with: the pickle of a magic number.
const OLD_MAGIC: &[u8] = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";
/// What zip archives begin with.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// The version of the old format that there was.
const OLD_VERSION: i64 = 1001;
/// Under these names, training scripts keep the weights beside the optimiser and other things.
const USUAL_KEYS: [&str; 4] = ["state_dict", "model_state_dict", "model", "net"];

/// A file of tensors by name.
#[derive(Debug)]
pub(super) struct TorchFile {
    bytes: Vec<u8>,
    tensors: BTreeMap<String, TensorView>,
    /// Where each storage is among the bytes.
    storages: HashMap<String, Range<usize>>,
}

impl TorchFile {
    /// Whether this is the beginning of such a file.
    pub(super) fn recognise(bytes: &[u8]) -> bool {
        bytes.starts_with(OLD_MAGIC) || bytes.starts_with(ZIP_MAGIC)
    }

    /// Reads the list of tensors; `root` names the dictionary within the file, as in `model_states.net`.
    pub(super) fn read(bytes: Vec<u8>, root: Option<&str>) -> Result<Self, Refusal> {
        let (pickle, storages) =
            if bytes.starts_with(ZIP_MAGIC) { read_archive(&bytes)? } else { read_old(&bytes)? };
        let tensors = tensors_of(&pickle, state_dict(&pickle, root)?)?;
        for (name, view) in &tensors {
            // An empty storage is written as well; one that is missing is not the same.
            let place = storages.get(&view.storage.key).map(Range::len);
            let needed = view.storage.length.checked_mul(view.storage.element.size());
            if place.is_none() || needed != place {
                return Err(Refusal::new(
                    format!("{} bytes for the storage of `{}`", place.unwrap_or(0), quoted(name)),
                    format!("{} numbers of {} bytes", view.storage.length, view.storage.element.size()),
                ));
            }
        }
        Ok(Self { bytes, tensors, storages })
    }

    /// Names, shapes and number types.
    pub(super) fn tensors(&self) -> impl Iterator<Item = (&str, &[usize], Element)> {
        self.tensors.iter().map(|(name, view)| (name.as_str(), view.shape.as_slice(), view.storage.element))
    }

    /// A tensor. Whether it fits into memory is for the caller to know: its numbers may stand many times for one.
    pub(super) fn tensor(&self, name: &str) -> Option<StateTensor> {
        let view = self.tensors.get(name)?;
        let storage = &self.bytes[self.storages.get(&view.storage.key)?.clone()];
        let size = view.storage.element.size();
        let count = view.shape.iter().product::<usize>();
        let mut bytes = Vec::with_capacity(count * size);
        let mut index = vec![0; view.shape.len()];
        for _ in 0..count {
            let place: usize = index.iter().zip(&view.strides).map(|(index, stride)| index * stride).sum();
            let start = (view.offset + place) * size;
            bytes.extend_from_slice(&storage[start..start + size]);
            for (index, axis) in index.iter_mut().zip(&view.shape).rev() {
                *index += 1;
                if *index < *axis {
                    break;
                }
                *index = 0;
            }
        }
        let values: Values = view.storage.element.values(&bytes);
        Some(StateTensor { name: name.to_owned(), shape: view.shape.clone(), values })
    }
}

type Parts = (Pickle, HashMap<String, Range<usize>>);

fn read_archive(bytes: &[u8]) -> Result<Parts, Refusal> {
    let damaged = |error: zip::result::ZipError| {
        Refusal::new(format!("a damaged zip archive ({error})"), "a whole file")
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let mut entries: HashMap<String, Range<usize>> = HashMap::new();
    for place in 0..archive.len() {
        let entry = archive.by_index_raw(place).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        if entry.compression() != CompressionMethod::Stored {
            let found = format!("a compressed entry `{}`", quoted(&name));
            return Err(Refusal::new(found, "entries as they are, as torch.save writes them"));
        }
        // Stored entries lie in the file as they are.
        let range = entry.data_start().and_then(|start| {
            let (start, size) = (usize::try_from(start).ok()?, usize::try_from(entry.size()).ok()?);
            let end = start.checked_add(size).filter(|end| *end <= bytes.len())?;
            Some(start..end)
        });
        let range = range.ok_or_else(|| {
            Refusal::new(format!("an entry `{}` beyond the end of the file", quoted(&name)), "a whole file")
        })?;
        entries.insert(name, range);
    }
    let Some(name) = entries.keys().filter(|name| name.ends_with("/data.pkl") || *name == "data.pkl").min()
    else {
        let names = listed(entries.keys().map(String::as_str));
        return Err(Refusal::new(
            format!("a zip archive of {names}"),
            "one that torch.save wrote, with data.pkl",
        ));
    };
    let prefix = name.trim_end_matches("data.pkl").to_owned();
    if let Some(order) = entries.get(&format!("{prefix}byteorder"))
        && !bytes[order.clone()].starts_with(b"little")
    {
        return Err(Refusal::new("numbers with their largest byte first", "little-endian ones"));
    }
    let (pickle, _) = Pickle::read(&bytes[entries[name].clone()])?;
    let folder = format!("{prefix}data/");
    let storage =
        |(name, range): (String, Range<usize>)| Some((name.strip_prefix(&folder)?.to_owned(), range));
    Ok((pickle, entries.into_iter().filter_map(storage).collect()))
}

/// Magic number, version, facts of the machine, the object, the names of its storages, and the storages.
fn read_old(bytes: &[u8]) -> Result<Parts, Refusal> {
    let mut place = OLD_MAGIC.len();
    let mut next = || -> Result<Pickle, Refusal> {
        let (pickle, length) = Pickle::read(&bytes[place..])?;
        place += length;
        Ok(pickle)
    };
    let version = next()?;
    if version.value(version.root()) != &Value::Integer(OLD_VERSION) {
        return Err(Refusal::new(
            format!("{:?} as its version", version.value(version.root())),
            format!("{OLD_VERSION}, that of torch.save before 1.6"),
        ));
    }
    let machine = next()?;
    let order = machine.get(machine.root(), "little_endian").map(|id| machine.value(id));
    if order == Some(&Value::Boolean(false)) {
        return Err(Refusal::new("numbers with their largest byte first", "little-endian ones"));
    }
    let (object, keys) = (next()?, next()?);
    let damaged = || Refusal::new("a damaged list of storages", "a file that torch.save wrote");
    let Value::List(ids) = keys.value(keys.root()) else { return Err(damaged()) };
    let elements = object.elements();
    let mut storages = HashMap::new();
    for id in ids {
        let key = keys.text(*id).ok_or_else(damaged)?;
        let element = elements.get(key).ok_or_else(damaged)?;
        let cut = || Refusal::new("a file that ends within its storages", "a whole file");
        let length = bytes.get(place..).and_then(<[u8]>::first_chunk::<8>).ok_or_else(cut)?;
        let start = place + length.len();
        let end = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .and_then(|length| length.checked_mul(element.size())?.checked_add(start))
            .filter(|end| *end <= bytes.len())
            .ok_or_else(cut)?;
        storages.insert(key.to_owned(), start..end);
        place = end;
    }
    Ok((object, storages))
}

/// The dictionary with the tensors: the one that is named, the file's own, or one under a usual name.
fn state_dict(pickle: &Pickle, root: Option<&str>) -> Result<Id, Refusal> {
    let expected = "a dictionary of tensors: torch.save(model.state_dict(), ...)";
    let describe = |id: Id| match pickle.value(id) {
        Value::Dict(pairs) => {
            format!("a dictionary of {}", listed(pairs.iter().filter_map(|(key, _)| pickle.text(*key))))
        }
        Value::Tensor(_) => "a single tensor".to_owned(),
        Value::List(_) | Value::Tuple(_) => "a list".to_owned(),
        Value::None
        | Value::Boolean(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes
        | Value::Global(_)
        | Value::Storage(_) => "a single value".to_owned(),
    };
    let has_tensors = |id: Id| {
        matches!(pickle.value(id), Value::Dict(pairs) if
            pairs.iter().any(|(_, value)| matches!(pickle.value(*value), Value::Tensor(_))))
    };
    let own = pickle.root();
    if let Some(root) = root {
        let found = root.split('.').try_fold(own, |dict, key| pickle.get(dict, key));
        return found.filter(|id| has_tensors(*id)).ok_or_else(|| {
            let found = format!("{}, without tensors under `{}`", describe(own), quoted(root));
            Refusal::new(found, "the name of a dictionary of tensors as `root`")
        });
    }
    if has_tensors(own) {
        return Ok(own);
    }
    let usual = USUAL_KEYS.iter().find_map(|key| pickle.get(own, key).filter(|id| has_tensors(*id)));
    usual.ok_or_else(|| Refusal::new(describe(own), expected))
}

fn tensors_of(pickle: &Pickle, dict: Id) -> Result<BTreeMap<String, TensorView>, Refusal> {
    let Value::Dict(pairs) = pickle.value(dict) else { return Ok(BTreeMap::new()) };
    let mut tensors = BTreeMap::new();
    for (key, value) in pairs {
        let Value::Tensor(view) = pickle.value(*value) else { continue };
        let name = pickle.text(*key).ok_or_else(|| {
            Refusal::new("a tensor whose name is no text", "a dictionary of tensors by name")
        })?;
        tensors.insert(name.to_owned(), view.as_ref().clone());
    }
    Ok(tensors)
}

#[cfg(test)]
mod tests;
