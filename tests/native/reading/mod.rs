//! The reading of paths, hosts, methods, addresses and keys, case by case from
//! `tests/data/reading.json`. docs/reading.md is written from the same file.

mod callers;
mod docs;
mod targets;

use serde::Deserialize;

/// The file.
#[derive(Deserialize)]
struct Reading {
    paths: Vec<Table>,
    forwarded: Vec<Table>,
    hosts: Vec<Table>,
    methods: Vec<Table>,
    addresses: Vec<Table>,
    keys: Vec<Table>,
    differences: Vec<Difference>,
}

/// Cases of one kind. The columns of a case are the text that is sent, the text it is read as
/// (`null`: nothing can be read), and for some tables another header that is sent.
#[derive(Deserialize)]
struct Table {
    id: String,
    text: String,
    cases: Vec<Vec<Option<String>>>,
}

/// Two paths that Penstock keeps apart and that some origins take for one.
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

/// Calls `check` with the columns of each case of the table `id`.
fn each(tables: &[Table], id: &str, check: impl Fn(&str, Option<&str>, Option<&str>)) {
    let table = tables.iter().find(|table| table.id == id).unwrap();
    for case in &table.cases {
        let column = |number: usize| case.get(number).and_then(|text| text.as_deref());
        check(column(0).unwrap(), column(1), column(2));
    }
}

/// Makes a test for each table, and one that fails if the file has a table without a test.
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
