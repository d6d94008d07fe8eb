//! Reading a scenario from a file or a text, and the contract it makes.

use std::io::Read;
use std::path::Path;

use super::{ScenarioError, ScenarioFile};
use crate::contract::{Contract, Promises, Telemetry};
use crate::place_in_text::{Place, nearest};

/// Far beyond any scenario: a larger file is a mistaken path.
const LARGEST: u64 = 1024 * 1024;

impl ScenarioFile {
    /// Reads and validates a scenario file.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place and what to do.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        let path = path.as_ref();
        let unreadable = |source| ScenarioError::Unreadable { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        // One byte more than is allowed: a device or a huge file ends in an error and not in our memory.
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > LARGEST {
            return Err(ScenarioError::TooLarge { path: path.to_owned() });
        }
        let text = String::from_utf8(bytes)
            .map_err(|e| unreadable(std::io::Error::new(std::io::ErrorKind::InvalidData, e.utf8_error())))?;
        let mut scenario = Self::parse(&text, &path.display().to_string())?;
        path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).clone_into(&mut scenario.dir);
        Ok(scenario)
    }

    /// Reads and validates a scenario text; `origin` names it in errors.
    ///
    /// # Errors
    /// [`ScenarioError`] with the place and what to do.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ScenarioError> {
        let mut scenario: Self = toml::from_str(text).map_err(|error| syntax(&error, text, origin))?;
        scenario.text = text.to_owned();
        scenario.validate(origin)?;
        Ok(scenario)
    }

    /// The contract that it names, as its author wrote it.
    ///
    /// # Errors
    /// When it cannot be read or is not a contract.
    pub fn contract(&self) -> Result<Contract, ScenarioError> {
        let source = |source| ScenarioError::Contract { origin: self.name.clone(), source: Box::new(source) };
        Contract::load(self.dir.join(&self.contract)).map_err(source)
    }

    /// A contract with what this scenario puts into it: promises, the client's patience, and everybody's environment.
    ///
    /// # Errors
    /// When the parts do not fit together.
    pub fn applied(&self, mut contract: Contract) -> Result<Contract, ScenarioError> {
        contract.promises = in_place_of(&contract.promises, &self.promises).unwrap_or(contract.promises);
        if let Some(timeout) = self.client.timeout {
            contract.request.timeout = timeout;
        }
        // Spans that no check of the scenario reads are not waited for.
        if !self.checks.iter().any(|c| c == "H3") {
            contract.telemetry = Telemetry::default();
        }
        self.fits(&contract)?;
        let contract = with_env(contract, &self.service.env);
        contract
            .validated()
            .map_err(|source| ScenarioError::Contract { origin: self.name.clone(), source: Box::new(source) })
    }
}

/// The promises of the contract, each one that the scenario makes too in its words. They are put together as tables, so
/// that no promise can be forgotten here; what was read from TOML can be written as TOML.
fn in_place_of(contract: &Promises, scenario: &Promises) -> Option<Promises> {
    let mut table = toml::Table::try_from(contract).ok()?;
    table.extend(toml::Table::try_from(scenario).ok()?);
    table.try_into().ok()
}

/// The contract with further environment, on top of everything it declares.
pub(super) fn with_env(mut contract: Contract, env: &std::collections::BTreeMap<String, String>) -> Contract {
    for (name, value) in env {
        for table in [&mut contract.service.env, &mut contract.isolate.retry, &mut contract.isolate.breaker] {
            table.insert(name.clone(), value.clone());
        }
    }
    contract
}

fn syntax(error: &toml::de::Error, text: &str, origin: &str) -> ScenarioError {
    let Place { line, column, excerpt } = Place::at(text, error.span().map_or(0, |span| span.start));
    let message = error.message().trim().to_owned();
    let hint = nearest(&message);
    ScenarioError::Syntax { origin: origin.to_owned(), line, column, message, hint, excerpt }
}
