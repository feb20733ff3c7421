//! Conversions of specs and typed settings to complete settings.

use serde_json::Map;

use super::{Settings, Spec};
use crate::algorithm::recipe::Recipe;
use crate::algorithm::setting::Configuration;
use crate::algorithm::typed::Method;
use crate::error::BuildError;

/// Types that a learner can be built from: settings, a spec, an algorithm as a struct, or a [`Method`].
pub trait IntoSettings {
    /// Checks the values and gives the complete settings.
    fn into_settings(self) -> Result<Settings, BuildError>;
}

impl IntoSettings for Settings {
    fn into_settings(self) -> Result<Settings, BuildError> {
        Ok(self)
    }
}

impl IntoSettings for Spec {
    fn into_settings(self) -> Result<Settings, BuildError> {
        self.resolve()
    }
}

impl<T: Recipe> IntoSettings for T {
    fn into_settings(self) -> Result<Settings, BuildError> {
        Method::from(self).into_settings()
    }
}

impl<T: Recipe> IntoSettings for Method<T> {
    fn into_settings(self) -> Result<Settings, BuildError> {
        let mut values = Map::new();
        values.insert("algorithm".into(), T::CARD.name.into());
        self.algorithm.write(&mut values);
        if let Some(loss) = &self.loss {
            loss.write(&mut values);
        }
        self.classes.write(&mut values);
        self.scaling.write(&mut values);
        Spec::from_values(values).resolve()
    }
}
