//! Memory that results are written to, whether it is initialised or not.

use std::mem::MaybeUninit;

/// Floats that can be written and not read.
///
/// They may be uninitialised, like the spare capacity of a vector, or belong to a slice of initialised floats. Both can
/// be turned into this type safely, because safe code cannot write an uninitialised value through it; through a
/// `&mut [MaybeUninit<f32>]` it could.
pub(crate) struct WriteOnly<'a>(&'a mut [MaybeUninit<f32>]);

impl<'a> From<&'a mut [MaybeUninit<f32>]> for WriteOnly<'a> {
    fn from(floats: &'a mut [MaybeUninit<f32>]) -> Self {
        Self(floats)
    }
}

impl<'a> From<&'a mut [f32]> for WriteOnly<'a> {
    fn from(floats: &'a mut [f32]) -> Self {
        // SAFETY: `MaybeUninit<f32>` has the layout of `f32`, and the reference stays inside this type, which writes
        // nothing itself and lets others write only through `as_mut_ptr`, where they must write initialised floats.
        Self(unsafe { &mut *(std::ptr::from_mut(floats) as *mut [MaybeUninit<f32>]) })
    }
}

impl WriteOnly<'_> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The floats from `start` on.
    ///
    /// # Panics
    /// If there are fewer than `start`.
    #[inline(always)]
    pub(crate) fn skip(&mut self, start: usize) -> WriteOnly<'_> {
        WriteOnly(&mut self.0[start..])
    }

    /// A pointer to the first float, valid for writing initialised floats to all of them.
    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut f32 {
        self.0.as_mut_ptr().cast()
    }
}
