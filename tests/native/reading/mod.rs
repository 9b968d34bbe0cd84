//! What paths, hosts, methods, addresses and keys are read as: `tests/data/reading.json` is tested here, case by case, and
//! docs/reading.md is written from it.

mod callers;
mod docs;
mod targets;

use serde::Deserialize;

/// All that is in the file.
#[derive(Deserialize)]
struct Reading {
    paths: Vec<Table>,
    hosts: Vec<Table>,
    methods: Vec<Table>,
    addresses: Vec<Table>,
    keys: Vec<Table>,
    differences: Vec<Difference>,
}

/// Cases of one kind: what is sent, what it is read as (`null`: nothing), and for some what is sent besides.
#[derive(Deserialize)]
struct Table {
    id: String,
    text: String,
    cases: Vec<Vec<Option<String>>>,
}

/// What an origin may read otherwise.
#[derive(Deserialize)]
struct Difference {
    servers: Vec<String>,
    same: [String; 2],
    why: String,
    r#do: String,
}

impl Reading {
    fn load() -> Reading {
        serde_json::from_str(include_str!("../../data/reading.json")).unwrap()
    }
}

/// Calls `check` with each case of the table `id`.
fn each(tables: &[Table], id: &str, check: impl Fn(&str, Option<&str>, Option<&str>)) {
    let table = tables.iter().find(|table| table.id == id).unwrap();
    for case in &table.cases {
        let column = |number: usize| case.get(number).and_then(|text| text.as_deref());
        check(column(0).unwrap(), column(1), column(2));
    }
}

/// A test for each table, and one that there are no others.
macro_rules! tables {
    ($field:ident, $check:path: $($name:ident = $id:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            crate::reading::each(&crate::reading::Reading::load().$field, $id, $check);
        })*

        #[test]
        fn every_table_has_a_test() {
            let tables = crate::reading::Reading::load().$field;
            assert_eq!(tables.iter().map(|table| table.id.as_str()).collect::<Vec<_>>(), [$($id),*]);
            assert!(tables.iter().all(|table| !table.cases.is_empty()));
        }
    };
}
use tables;
