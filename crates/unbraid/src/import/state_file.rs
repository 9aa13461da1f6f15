//! A file of tensors by name, of whatever program: PyTorch's or safetensors.

use super::element::Element;
use super::refusal::{Refusal, listed, quoted};
use super::torch_file::TorchFile;
use crate::error::{Error, Result};
use crate::model::StateTensor;
use safetensors::SafeTensors;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use unbraid_data::files::read_limited;
use unbraid_data::hex;
use unbraid_data::memory::{self, TooLarge};

/// Shape and number type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
}

/// A file whose list of tensors has been read and checked.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    sha256: String,
    tensors: BTreeMap<String, Described>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Torch(TorchFile),
    Safetensors(Vec<u8>),
}

impl StateFile {
    /// Opens a file by its content, whatever its name. `root` names the dictionary of tensors within a file of PyTorch.
    ///
    /// # Errors
    /// If it cannot be read, is of another kind, is damaged, or asks for functions of Python.
    pub(super) fn open(path: &Path, root: Option<&str>) -> Result<Self> {
        // The bytes, and the values that they become.
        let bytes = read_limited(path, memory::limit() / 2).map_err(Error::io(path, "read it"))?;
        Self::of_bytes(path, bytes, root)
    }

    /// As [`StateFile::open`], of the file's bytes; its path is for messages.
    pub(super) fn of_bytes(path: &Path, bytes: Vec<u8>, root: Option<&str>) -> Result<Self> {
        let sha256 = hex(&Sha256::digest(&bytes));
        let (content, tensors) = Self::read(bytes, root).map_err(|refusal| refusal.of(path))?;
        Ok(Self { path: path.to_owned(), sha256, tensors, content })
    }

    fn read(bytes: Vec<u8>, root: Option<&str>) -> Result<(Content, BTreeMap<String, Described>), Refusal> {
        if TorchFile::recognise(&bytes) {
            let file = TorchFile::read(bytes, root)?;
            let describe = |(name, shape, element): (&str, &[usize], Element)| {
                (name.to_owned(), Described { shape: shape.to_vec(), element })
            };
            let tensors = file.tensors().map(describe).collect();
            return Ok((Content::Torch(file), tensors));
        }
        if bytes.get(8) != Some(&b'{') {
            let found = match bytes.as_slice() {
                [] => "an empty file",
                [0x80, ..] => "a pickle that torch.save did not write",
                _ => "data of an unknown kind",
            };
            return Err(Refusal::new(
                found,
                "weights that torch.save wrote (.pt, .pth), or a safetensors file",
            ));
        }
        let damaged = |error: safetensors::SafeTensorError| {
            Refusal::new(format!("a damaged safetensors file ({error})"), "a whole one")
        };
        let file = SafeTensors::deserialize(&bytes).map_err(damaged)?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.iter() {
            let element = Element::of_safetensors(view.dtype()).ok_or_else(|| {
                Refusal::new(
                    format!("`{}` of type {:?}", quoted(name), view.dtype()),
                    "floating-point numbers or integers",
                )
            })?;
            tensors.insert(name.to_owned(), Described { shape: view.shape().to_vec(), element });
        }
        Ok((Content::Safetensors(bytes), tensors))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The hash of the file.
    pub(super) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The names of all tensors.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The names for a message.
    pub(super) fn listed(&self) -> String {
        listed(self.names())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Described> {
        self.tensors.get(name)
    }

    /// A tensor that is there.
    ///
    /// # Errors
    /// If it would take more memory than it may: a file may let one number stand for many.
    pub(super) fn tensor(&self, name: &str) -> Result<Option<StateTensor>> {
        let Some(described) = self.tensors.get(name) else { return Ok(None) };
        let count = described.shape.iter().try_fold(1_u64, |count, &size| count.checked_mul(size as u64));
        // Bytes of the file's type, and values of at most eight.
        let needed = count.and_then(|count| count.checked_mul(16)).unwrap_or(u64::MAX);
        memory::check(needed).map_err(|TooLarge { needed, limit }| Error::TooLarge {
            subject: format!("{}: {}", self.path.display(), quoted(name)),
            needed,
            limit,
        })?;
        match &self.content {
            Content::Torch(file) => Ok(file.tensor(name)),
            Content::Safetensors(bytes) => {
                let damaged = |error: safetensors::SafeTensorError| {
                    Refusal::new(format!("a damaged safetensors file ({error})"), "a whole one")
                        .of(&self.path)
                };
                let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
                let view = file.tensor(name).map_err(damaged)?;
                let values = described.element.values(view.data());
                Ok(Some(StateTensor { name: name.to_owned(), shape: described.shape.clone(), values }))
            }
        }
    }
}
