//! State that can be written to a checkpoint and read back, bit for bit.

/// A value made of numbers, whose default means "never seen".
///
/// ```
/// use parsimon_core::State;
///
/// let mut bytes = Vec::new();
/// (-0.0f64).write(&mut bytes);
/// let read = f64::read(&mut &bytes[..]).unwrap();
/// assert_eq!(read.to_bits(), (-0.0f64).to_bits());
/// ```
pub trait State: Clone + Default + PartialEq {
    /// Appends the value, little endian.
    fn write(&self, out: &mut Vec<u8>);
    /// Takes a value off the front; `None` when the bytes do not hold one.
    fn read(input: &mut &[u8]) -> Option<Self>;
}

macro_rules! number {
    ($($type:ident),*) => {$(
        impl State for $type {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(input: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = input.split_first_chunk()?;
                *input = rest;
                Some($type::from_le_bytes(*bytes))
            }
        }
    )*};
}

number!(f32, f64, u32, u64);

impl State for () {
    fn write(&self, _out: &mut Vec<u8>) {}
    fn read(_input: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl<T: State> State for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        self.iter().for_each(|item| item.write(out));
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let len = u64::read(input)?;
        // Grown item by item: a forged length runs out of bytes before it runs out of memory.
        let mut items = Vec::new();
        for _ in 0..len {
            items.push(T::read(input)?);
        }
        Some(items)
    }
}

/// Implements [`State`] for a struct, field by field.
macro_rules! state {
    ($name:ident $(<$($p:ident: $bound:path),*>)? { $($field:ident),* $(,)? }) => {
        impl$(<$($p: $bound),*>)? $crate::State for $name$(<$($p),*>)? {
            fn write(&self, out: &mut Vec<u8>) {
                $($crate::State::write(&self.$field, out);)*
            }
            fn read(input: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::State::read(input)?),* })
            }
        }
    };
}
pub(crate) use state;
