//! The schema for editors and the parser agree.

use std::collections::BTreeSet;

use harness::scenario::{CHECKS, FaultWord, ScenarioError, ScenarioFile};
use serde_json::Value;

use crate::{SHORT, folder};

fn schema() -> Value {
    let text = std::fs::read_to_string(folder().join("scenario.schema.json")).expect("the schema");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The words in backticks after the first: what the parser expected in place of it.
fn expected(text: &str) -> BTreeSet<String> {
    let ScenarioError::Syntax { message, .. } = ScenarioFile::parse(text, "s.toml").expect_err(text) else {
        panic!("not a syntax error: {text}");
    };
    message.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

fn words(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let list = schema.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("no list at {pointer}"));
    list.iter().map(|w| w.as_str().expect("a word").to_owned()).collect()
}

/// Proves that each table of the schema has the keys that the parser knows, no more and no fewer, and is closed.
#[test]
fn the_schema_has_the_keys_of_the_parser() {
    let schema = schema();
    let fault = format!("{SHORT}[[faults]]\nwhat = 503\n");
    let cases = [
        (format!("zzz = 1\n{SHORT}"), ""),
        (format!("{SHORT}[service]\nzzz = 1\n"), "/properties/service"),
        (format!("{SHORT}[client]\nzzz = 1\n"), "/properties/client"),
        (format!("{SHORT}[storm]\nzzz = 1\n"), "/properties/storm"),
        (format!("{SHORT}[bank]\nzzz = 1\n"), "/properties/bank"),
        (format!("{SHORT}[steady]\nzzz = 1\n"), "/properties/steady"),
        (SHORT.replace("[load]\n", "[load]\nzzz = 1\n"), "/properties/load"),
        (format!("{fault}zzz = 1\n"), "/properties/faults/items"),
        (format!("{SHORT}zzz = 1\n"), "/properties/variants/items"),
        (format!("{SHORT}numbers = [{{ zzz = 1 }}]\n"), "/properties/variants/items/properties/numbers/items"),
    ];
    for (text, pointer) in cases {
        let table = schema.pointer(pointer).unwrap_or_else(|| panic!("no table at {pointer}"));
        let keys = table["properties"].as_object().expect("properties").keys().cloned().collect();
        assert_eq!(expected(&text), keys, "{pointer}");
        assert_eq!(table["additionalProperties"], Value::Bool(false), "{pointer} is closed");
    }
}

/// Proves that the words of the schema are those of the parser.
#[test]
fn the_schema_has_the_words_of_the_parser() {
    let schema = schema();
    let set = |words: &mut dyn Iterator<Item = &'static str>| words.map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(words(&schema, "/properties/checks/items/enum"), set(&mut CHECKS.into_iter()));
    let faults = "/properties/faults/items/properties/what/anyOf/1/enum";
    assert_eq!(words(&schema, faults), set(&mut FaultWord::words()));
    let load = SHORT.replace("[load]\n", "[load]\nshape = \"zzz\"\n");
    assert_eq!(words(&schema, "/properties/load/properties/shape/enum"), expected(&load));
    let isolate = format!("{SHORT}[service]\nisolate = \"zzz\"\n");
    assert_eq!(words(&schema, "/properties/service/properties/isolate/enum"), expected(&isolate));
    let missed = format!("{SHORT}numbers = [{{ check = \"I1\", number = \"x\", missed = \"zzz\" }}]\n");
    let pointer = "/properties/variants/items/properties/numbers/items/properties/missed/enum";
    assert_eq!(words(&schema, pointer), expected(&missed));
    let expect = format!("{SHORT}expect = {{ I1 = \"zzz\" }}\n");
    let pointer = "/properties/variants/items/properties/expect/additionalProperties/enum";
    assert_eq!(words(&schema, pointer), expected(&expect));
}
