//! What a pickle consists of: values, the functions that it may name, and tensors as views of storages.

use super::damaged;
use crate::import::element::Element;
use crate::import::refusal::Refusal;

/// More axes than any tensor here has.
pub(super) const MOST_AXES: usize = 16;

/// The number of a value in its pickle.
pub(in crate::import) type Id = usize;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) enum Value {
    None,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// Bytes, which nothing here reads.
    Bytes,
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Storage(Box<Storage>),
    Tensor(Box<TensorView>),
}

/// What a pickle may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Global {
    OrderedDict,
    /// `torch._utils._rebuild_tensor`, and `_rebuild_tensor_v2` with two more arguments.
    RebuildTensor,
    /// `torch._utils._rebuild_parameter`, whose first argument is the tensor.
    RebuildParameter,
    /// `torch.Size`, a tuple.
    Size,
    /// A class of storages, such as `torch.FloatStorage`.
    Storage(Element),
}

/// A run of numbers that tensors are views of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct Storage {
    /// Its name in the file.
    pub(in crate::import) key: String,
    pub(in crate::import) element: Element,
    /// How many numbers it has.
    pub(in crate::import) length: usize,
    /// Where a view of a storage begins.
    pub(super) offset: usize,
}

/// A tensor: which numbers of a storage it has. All of them are within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct TensorView {
    pub(in crate::import) storage: Storage,
    pub(in crate::import) offset: usize,
    pub(in crate::import) shape: Vec<usize>,
    pub(in crate::import) strides: Vec<usize>,
}

impl Global {
    pub(super) fn find(module: &str, name: &str) -> Option<Self> {
        match (module, name) {
            ("collections", "OrderedDict") => Some(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => Some(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Some(Self::RebuildParameter),
            ("torch", "Size") => Some(Self::Size),
            ("torch" | "torch.cuda", name) => {
                Element::of_torch(name.strip_suffix("Storage")?).map(Self::Storage)
            }
            _ => None,
        }
    }
}

impl TensorView {
    pub(super) fn new(
        storage: &Storage,
        offset: usize,
        shape: Vec<usize>,
        strides: Vec<usize>,
    ) -> Result<Self, Refusal> {
        if shape.len() != strides.len() || shape.len() > MOST_AXES {
            return Err(damaged());
        }
        let offset = offset.checked_add(storage.offset).ok_or_else(damaged)?;
        // The last number that it has, if it has any.
        let last = shape.iter().zip(&strides).try_fold(offset, |last, (&size, &stride)| {
            size.saturating_sub(1).checked_mul(stride).and_then(|way| last.checked_add(way))
        });
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        match (count, last) {
            (Some(0), _) => {}
            (Some(_), Some(last)) if last < storage.length => {}
            _ => {
                return Err(Refusal::new(
                    format!("a tensor of {shape:?} in a storage of {} numbers", storage.length),
                    "tensors within their storages",
                ));
            }
        }
        Ok(Self { storage: storage.clone(), offset, shape, strides })
    }
}
