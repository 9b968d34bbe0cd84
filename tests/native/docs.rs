//! The pages for people: their examples pass `make check`, their links lead somewhere, and they stay readable.

use crate::support::PLATFORM;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Pages that scripts write. Their prose is wrapped by those scripts.
const GENERATED: [&str; 4] = ["docs/benchmarks.md", "docs/fleet.md", "docs/profile.md", "docs/reading.md"];

/// One page: its path from the root, and its text.
struct Page {
    name: String,
    text: String,
}

/// A line outside of fenced blocks, with its number; or a fenced block, with its language.
enum Part<'a> {
    Line(usize, &'a str),
    Block(usize, &'a str, String),
}

impl Page {
    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        let mut open: Option<(usize, &str, String)> = None;
        for (line, number) in self.text.lines().zip(1..) {
            match (line.strip_prefix("```"), &mut open) {
                (Some(language), None) => open = Some((number, language, String::new())),
                (Some(_), block) => {
                    let (number, language, text) = block.take().unwrap();
                    parts.push(Part::Block(number, language, text));
                }
                (None, Some((_, _, text))) => {
                    text.push_str(line);
                    text.push('\n');
                }
                (None, None) => parts.push(Part::Line(number, line)),
            }
        }
        assert!(open.is_none(), "{}: a fenced block does not end", self.name);
        parts
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.parts().into_iter().filter_map(|part| match part {
            Part::Line(number, line) => Some((number, line)),
            Part::Block(..) => None,
        })
    }

    fn blocks(&self, wanted: &str) -> Vec<(usize, String)> {
        let parts = self.parts().into_iter();
        let blocks = parts.filter_map(|part| match part {
            Part::Block(number, language, text) if language == wanted => Some((number, text)),
            _ => None,
        });
        blocks.collect()
    }

    /// The anchors of its headings, as GitHub makes them.
    fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for (_, line) in self.lines().filter(|(_, line)| line.starts_with('#')) {
            let slug = slug(line.trim_start_matches('#').trim());
            let taken = (1..).map(|number| format!("{slug}-{number}"));
            let free = std::iter::once(slug.clone()).chain(taken).find(|name| !anchors.contains(name));
            anchors.insert(free.unwrap());
        }
        anchors
    }
}

/// Lower case; letters, digits, `-` and `_` stay, a space is a dash, the rest goes.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// All pages of the root and of `docs/`, in their order.
fn pages() -> Vec<Page> {
    let mut files: Vec<PathBuf> = ["", "docs"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    let page = |path: &PathBuf| Page {
        name: path.strip_prefix(ROOT).unwrap().to_str().unwrap().to_owned(),
        text: std::fs::read_to_string(path).unwrap(),
    };
    files.iter().map(page).collect()
}

/// The targets of `[text](target)` in a line.
fn targets(line: &str) -> Vec<&str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target).collect()
}

#[test]
fn every_configuration_in_the_docs_passes_the_check() {
    let mut found = 0;
    for page in pages() {
        for (number, text) in page.blocks("toml") {
            let place = format!("{}:{number}", page.name);
            let example: Table = text.parse().unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(example.contains_key("vars"), "{place}: no [vars], so the check would say nothing of it");
            let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("docs-{}.toml", slug(&place)));
            let mut whole: Table = PLATFORM.parse().unwrap();
            whole.extend(example);
            std::fs::write(&file, toml::to_string(&whole).unwrap()).unwrap();
            let run = Command::new(env!("CARGO_BIN_EXE_check")).arg(&file).output().unwrap();
            let said = String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap();
            assert!(run.status.success(), "{place}: {said}");
            // Where requests go is not an example's subject.
            let of_route = |line: &str| line.contains("ORIGIN") || line.contains("the Worker's own routes");
            let warnings = said.lines().filter(|line| line.contains(": warning: ") && !of_route(line));
            assert_eq!(warnings.collect::<Vec<_>>(), Vec::<&str>::new(), "{place}");
            assert!(!said.contains("limits nothing"), "{place}: {said}");
            found += 1;
        }
    }
    assert!(found >= 15, "only {found} examples were found");
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let mut found = 0;
    for page in &pages {
        let folder = Path::new(&page.name).parent().unwrap();
        for (number, line) in page.lines() {
            for target in targets(line).into_iter().filter(|target| !target.contains("://")) {
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let name = if path.is_empty() { page.name.clone() } else { normal(&folder.join(path)) };
                assert!(Path::new(ROOT).join(&name).exists(), "{}:{number}: no file {target}", page.name);
                if !anchor.is_empty() {
                    let other = pages.iter().find(|other| other.name == name);
                    let anchors = other.map(Page::anchors).unwrap_or_default();
                    assert!(anchors.contains(anchor), "{}:{number}: no heading {target}", page.name);
                }
                found += 1;
            }
        }
    }
    assert!(found >= 40, "only {found} links were found");
}

/// Where a path in backticks may begin.
const FOLDERS: [&str; 5] = ["", "src", "docs", "tests", "tests/edge"];

#[test]
fn every_file_named_in_backticks_exists() {
    let endings = [".rs", ".js", ".mjs", ".sh", ".toml", ".md"];
    let mut found = 0;
    for page in pages() {
        for (number, line) in page.lines() {
            let code = line.split('`').skip(1).step_by(2);
            for path in code.filter(|code| {
                endings.iter().any(|ending| code.ends_with(ending)) && !code.contains(' ') && *code != "mod.rs"
            }) {
                let exists = FOLDERS.iter().any(|folder| Path::new(ROOT).join(folder).join(path).exists());
                assert!(exists, "{}:{number}: there is no file {path}", page.name);
                found += 1;
            }
        }
    }
    assert!(found >= 40, "only {found} files were named");
}

/// A path without `..` and `.`.
fn normal(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str().unwrap().split('/') {
        match part {
            "" | "." => {}
            ".." => assert!(parts.pop().is_some(), "{} leads out of the project", path.display()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn the_readme_links_every_page_of_the_docs() {
    let pages = pages();
    let readme = pages.iter().find(|page| page.name == "README.md").unwrap();
    let linked: BTreeSet<&str> = readme.lines().flat_map(|(_, line)| targets(line)).collect();
    let docs: Vec<&str> =
        pages.iter().map(|page| page.name.as_str()).filter(|name| name.starts_with("docs/")).collect();
    assert!(docs.len() >= 8, "{docs:?}");
    for name in docs {
        assert!(linked.contains(name), "README.md has no link to {name}");
    }
}

#[test]
fn pages_are_narrow_and_the_readme_is_short() {
    let mut read = 0;
    for page in pages() {
        let written_here = page.name == "README.md" || page.name.starts_with("docs/");
        if !written_here || GENERATED.contains(&page.name.as_str()) {
            continue;
        }
        read += 1;
        // A row of a table cannot be wrapped.
        for (number, line) in page.lines().filter(|(_, line)| !line.starts_with('|')) {
            let width = line.chars().count();
            assert!(width <= 100, "{}:{number}: {width} columns", page.name);
        }
        if page.name == "README.md" {
            assert!(page.text.lines().count() <= 160, "README.md: {} lines", page.text.lines().count());
        }
    }
    assert!(read >= 7, "only {read} pages were read");
}
