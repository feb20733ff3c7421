//! Features made from other features: curves of number columns, pairs of columns, interactions.

use parsimon_files::memory;

use super::Builder;
use crate::curves::Shape;
use crate::error::Bad;
use crate::remedy::{Message, Remedy};
use crate::{DataErrorKind, hash};

/// Limit of the number of products of one row.
const FEW_CROSSES: u64 = 1 << 16;

/// Bytes of a product: slot, value and key, in vectors that double, here and in the rows.
const CROSS: u64 = 64;

/// Refuses more products than can be counted, or than there is memory for.
#[cold]
fn check_crosses(products: u64, most: u64) -> Result<(), Bad> {
    let words = match memory::check(products.saturating_mul(CROSS)) {
        _ if products > most => {
            format!("the row's interactions are {products} features, more than {most}").into()
        }
        Err(shortage) => {
            let what = format!("a row whose interactions are {products} features");
            let advice = Remedy::Advice("use fewer interactions".into());
            Message::shortage(&shortage, &what, &[advice])
        }
        Ok(()) => return Ok(()),
    };
    Err(Bad::new(DataErrorKind::TooLong, 0, words))
}

impl Builder {
    /// Whether number columns have curves, or columns are paired.
    #[inline]
    pub(crate) fn is_shaped(&self) -> bool {
        self.shape.is_some()
    }

    /// Adds the features that the curve of the table's `k`-th number column has for a cell, and notes its bin.
    #[inline]
    pub(crate) fn push_shape(&mut self, k: usize, value: f64) {
        // PERF: moved out and back, not counted.
        if let Some(shape) = self.shape.take() {
            self.push_shaped(&shape, k, value);
            self.shape = Some(shape);
        }
    }

    fn push_shaped(&mut self, shape: &Shape, k: usize, value: f64) {
        if let Some(Some(curve)) = shape.curves.get(k) {
            for (hat, value) in curve.hats(value) {
                if value != 0.0 {
                    self.hashed.push(hash::slot(hat.hash, self.bits), value);
                    self.report_name(hat.hash, || (b"", &hat.name));
                }
            }
        }
        if let Some(Some((place, bins))) = shape.bins.get(k) {
            let bin = bins.of(value);
            self.paired.put(*place, bin.hash, &bin.name);
        }
    }

    /// Notes the category of a column, if it is in a pair.
    #[inline]
    pub(crate) fn note_category(&mut self, column: &str, name: &[u8]) {
        if let Some(shape) = &self.shape
            && let Some(&place) = shape.categories.get(column)
        {
            self.paired.put(place, hash::feature(0, name), name);
        }
    }

    /// Whether namespaces matter beyond hashing.
    pub(crate) fn is_crossing(&self) -> bool {
        self.cross.is_some()
    }

    /// Sets the namespace of the next features, for interactions.
    pub(crate) fn enter(&mut self, namespace: &[u8]) {
        if let Some(cross) = &mut self.cross
            && cross.enter(namespace)
        {
            self.out.namespaces.push(String::from_utf8_lossy(namespace).into_owned());
        }
    }

    /// Adds the features of pairs of columns.
    pub(super) fn push_pairs(&mut self, shape: &Shape) {
        let Self { bits, hashed, seen, recent, out, paired, .. } = self;
        paired.generate(&shape.pairs, |h, a, b| {
            let slot = hash::slot(h, *bits);
            hashed.push(slot, 1.0);
            if let Some(seen) = seen
                && !recent.has(h)
            {
                recent.put(h);
                if seen.is_new(h) {
                    out.news.push_with(slot, |text| {
                        text.extend_from_slice(a);
                        text.push(b'*');
                        text.extend_from_slice(b);
                    });
                }
            }
        });
    }

    /// Multiplies namespaces, unless the products are too many.
    #[inline]
    pub(super) fn push_products(&mut self) -> Result<(), Bad> {
        if let Some(cross) = &self.cross {
            let (products, most) = (cross.count(), self.spec.options.bounds.products);
            if products > FEW_CROSSES.min(most) {
                check_crosses(products, most)?;
            }
            self.push_crosses();
        }
        Ok(())
    }

    fn push_crosses(&mut self) {
        let Some(cross) = &mut self.cross else { return };
        let (bits, hashed, seen, news) =
            (self.bits, &mut self.hashed, &mut self.seen, &mut self.out.news);
        let recent = &mut self.recent;
        cross.generate(|h, value, factors| {
            let slot = hash::slot(h, bits);
            hashed.push(slot, value);
            if let Some(seen) = seen
                && !recent.has(h)
            {
                recent.put(h);
                if seen.is_new(h) {
                    news.push_with(slot, |text| factors.write(text));
                }
            }
        });
    }
}
