//! docs/reading.md, written from `tests/data/reading.json`.

use super::callers::KEY;
use super::{Reading, Table};
use std::fmt::Write;

const INTRO: &str = "# What a request is read as

This page answers: how does Penstock read the path, host, address and key of a request, and which
spellings count as the same? Every spelling of one request should meet the same limit. The right
column is the reading by which a request is matched and counted. The tests check each line.
";

const FORWARDED: &str = "
## What the origin receives

The reading above is for matching alone. The origin receives the path and query as the platform hands
them to a Worker. Its URL parser has been there before, with `ORIGIN` and without it, and a zone's *URL
normalization* may change more before that.
";

#[test]
fn docs_reading_md_matches_the_test_data() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reading.md");
    let page = page(&Reading::load());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/reading.md is out of date: UPDATE=1 cargo test --test native reading");
}

fn page(reading: &Reading) -> String {
    let mut page = INTRO.to_owned();
    section(&mut page, "Paths", &reading.paths, ["sent", "read as"]);
    page.push_str(FORWARDED);
    tables(&mut page, &reading.forwarded, ["sent", "the origin receives"]);
    section(&mut page, "Hosts", &reading.hosts, ["sent", "read as"]);
    section(&mut page, "Methods", &reading.methods, ["sent", "read as"]);
    section(&mut page, "Addresses", &reading.addresses, ["`CF-Connecting-IP`", "counted as"]);
    section(&mut page, &format!("Keys, with `KEY = \"{KEY}\"`"), &reading.keys, ["sent", "key"]);
    page.push_str(
        "\n## What your origin may read otherwise\n\n\
         Some servers take for one what Penstock keeps apart. A limit on the one spelling is then no limit on the other. Each \
         test run compares thousands of spellings through Express and Fastify, and through nginx where it is installed.\n\n\
         | server | takes for one | because it | what to do |\n|---|---|---|---|\n",
    );
    for difference in &reading.differences {
        let [one, other] = difference.same.each_ref().map(|path| code(path));
        let (servers, why) = (difference.servers.join(", "), &difference.why);
        writeln!(page, "| {servers} | {one}, {other} | {why} | {} |", difference.r#do.replace('|', "\\|")).unwrap();
    }
    page
}

fn section(page: &mut String, title: &str, tables: &[Table], columns: [&str; 2]) {
    write!(page, "\n## {title}\n").unwrap();
    self::tables(page, tables, columns);
}

fn tables(page: &mut String, tables: &[Table], columns: [&str; 2]) {
    for table in tables {
        let besides = table.cases.iter().any(|case| case.len() > 2);
        let (head, rule) = if besides { (" besides |", "---|") } else { ("", "") };
        write!(page, "\n{}\n\n| {} | {} |{head}\n|---|---|{rule}\n", table.text, columns[0], columns[1]).unwrap();
        for case in &table.cases {
            let cell = |number: usize| match case.get(number) {
                Some(Some(text)) => code(text),
                Some(None) => "none".to_owned(),
                None => String::new(),
            };
            write!(page, "| {} | {} |", cell(0), cell(1)).unwrap();
            page.push_str(&if besides { format!(" {} |\n", cell(2)) } else { "\n".to_owned() });
        }
    }
}

/// Prints a text as code in a table: each line as a piece, and in quotes if a reader could not see
/// its ends.
fn code(text: &str) -> String {
    if text.contains('\n') {
        return text.lines().map(code).collect::<Vec<_>>().join(" and ");
    }
    let shown: String =
        text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect();
    let padded = text.is_empty() || text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let shown = shown.replace('|', "\\|");
    if padded { format!("`\"{shown}\"`") } else { format!("`{shown}`") }
}
