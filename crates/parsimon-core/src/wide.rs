//! Long loops that are compiled twice: for every machine, and for machines with wide registers.
//!
//! The order of every sum is fixed by hand and nothing is fused, so both copies give the same bits; the wide one is
//! faster. Measured in `record/`.

#![allow(unsafe_code)]

/// Work that runs once. A trait and not a closure, because a closure cannot be marked for inlining, and only code that is
/// inlined is compiled for the wide registers: [`work`](Work::work) and all functions it calls are `#[inline(always)]`.
pub trait Work {
    /// Result of the operation.
    type Output;
    /// Does it.
    fn work(self) -> Self::Output;
}

/// Does the work, compiled for AVX2 where the machine has it.
#[inline]
pub fn wide<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, as checked above; the work itself is safe code.
        return unsafe { with_avx2(work) };
    }
    work.work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn with_avx2<W: Work>(work: W) -> W::Output {
    work.work()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scale<'a>(&'a mut [f32]);

    impl Work for Scale<'_> {
        type Output = ();
        #[inline(always)]
        fn work(self) {
            self.0.iter_mut().for_each(|x| *x = *x * 0.37 + 1.21 / *x);
        }
    }

    #[test]
    fn wide_and_narrow_give_the_same_bits() {
        let mut a: Vec<f32> = (1..1003).map(|k| (k as f32 * 0.37).sin()).collect();
        let mut b = a.clone();
        wide(Scale(&mut a));
        Scale(&mut b).work();
        assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}
