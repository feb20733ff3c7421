//! Long loops compiled twice: once for every machine, once for those with wide registers.
//!
//! The order of every sum is fixed by hand and nothing is fused, so both copies give the same bits; the wide one is
//! faster. Measured in `record/`.

#![allow(unsafe_code)]

/// Does `work`, compiled for AVX2 where the machine has it. What `work` calls must be inlined to profit.
#[inline]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has AVX2, which was asked just now; the work itself is safe code.
        return unsafe { with_avx2(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use crate::filter::vector::dot;

    #[test]
    fn wide_and_narrow_give_the_same_bits() {
        let a: Vec<f32> = (0..1003).map(|k| (k as f32 * 0.37).sin()).collect();
        let b: Vec<f32> = (0..1003).map(|k| (k as f32 * 1.21).cos() * 1e3).collect();
        assert_eq!(super::wide(|| dot(&a, &b)).to_bits(), dot(&a, &b).to_bits());
    }
}
