//! Linear congruential generators, for data that need not be very random. Only their upper bits are used.

/// Knuth's generator for MMIX, of 64 bits.
///
/// ```
/// let mut random = parsimon_testing::Lcg64::new(0);
/// assert_eq!(u64::from(random.bits31()), 1_442_695_040_888_963_407 >> 33);
/// ```
#[derive(Clone, Debug)]
pub struct Lcg64 {
    state: u64,
}

impl Lcg64 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn step(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.state
    }

    /// The upper 31 bits of the next state.
    pub fn bits31(&mut self) -> u32 {
        (self.step() >> 33) as u32
    }

    /// Uniform in [0, 1), a multiple of 2^-24: exact in `f32` as well.
    pub fn unit24(&mut self) -> f64 {
        (self.step() >> 40) as f64 / f64::from(1_u32 << 24)
    }

    /// Uniform noise in [-0.5, 0.5).
    pub fn noise(seed: u64, len: usize) -> Vec<f32> {
        let mut random = Self::new(seed);
        std::iter::repeat_with(|| random.unit24() as f32 - 0.5).take(len).collect()
    }
}

/// The generator of Numerical Recipes, of 32 bits.
///
/// ```
/// let mut random = parsimon_testing::Lcg32::new(0);
/// assert_eq!(random.bits24(), 1_013_904_223 >> 8);
/// ```
#[derive(Clone, Debug)]
pub struct Lcg32 {
    state: u32,
}

impl Lcg32 {
    /// The generator of a seed.
    pub fn new(seed: u32) -> Self {
        Self { state: seed }
    }

    /// The upper 24 bits of the next state: exact in `f32`.
    pub fn bits24(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.state >> 8
    }
}
