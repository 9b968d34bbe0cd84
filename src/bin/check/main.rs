//! `make check`: reads a configuration file as the Worker would, and prints the limits or all
//! faults.
//!
//! Exit codes: 0 without faults, 1 with faults, 2 after a wrong call. Secrets and vars of the
//! dashboard are not in the file, so this program does not see them. The Worker checks them with
//! the same parser.
//!
//! - `advice`: warnings about a policy;
//! - `against`: the effect of an edit on counts;
//! - `deployment`: the deployments of a file;
//! - `lists`: the lines below the table;
//! - `misplaced`: limits and vars where no Worker sees them;
//! - `platform`: the platform's bindings, routes and flags, beside the vars;
//! - `reach`: limits for hosts that no request has;
//! - `report`: everything printed for one file;
//! - `source`: TOML or JSON with comments, and the lines of its parts;
//! - `table`: the limits as an aligned table.

#[cfg(not(target_arch = "wasm32"))]
mod advice;
#[cfg(not(target_arch = "wasm32"))]
mod against;
#[cfg(not(target_arch = "wasm32"))]
mod deployment;
#[cfg(not(target_arch = "wasm32"))]
mod lists;
#[cfg(not(target_arch = "wasm32"))]
mod misplaced;
#[cfg(not(target_arch = "wasm32"))]
mod platform;
#[cfg(not(target_arch = "wasm32"))]
mod reach;
#[cfg(not(target_arch = "wasm32"))]
mod report;
#[cfg(not(target_arch = "wasm32"))]
mod source;
#[cfg(not(target_arch = "wasm32"))]
mod table;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    let Some((file, against)) = call(std::env::args().skip(1)) else {
        eprintln!("usage: check [FILE] [--against OLD]");
        return std::process::ExitCode::from(2);
    };
    match report::report(&file.unwrap_or_else(default_file), against.as_deref()) {
        Ok(text) => {
            print!("{text}");
            std::process::ExitCode::SUCCESS
        }
        Err(text) => {
            eprint!("{text}");
            std::process::ExitCode::FAILURE
        }
    }
}

/// Reads the arguments: the file, and the one to compare it with. `None`: it is a wrong call.
#[cfg(not(target_arch = "wasm32"))]
fn call(mut arguments: impl Iterator<Item = String>) -> Option<(Option<String>, Option<String>)> {
    let (mut file, mut against) = (None, None);
    while let Some(argument) = arguments.next() {
        let (place, value) = match argument.as_str() {
            "--against" => (&mut against, arguments.next()?),
            _ => (&mut file, argument),
        };
        if value.starts_with('-') || place.replace(value).is_some() {
            return None;
        }
    }
    Some((file, against))
}

/// The names of the file that wrangler looks for, the first one that exists.
#[cfg(not(target_arch = "wasm32"))]
const FILES: [&str; 3] = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/// Returns the file that wrangler would read, and says which other ones it would not.
#[cfg(not(target_arch = "wasm32"))]
fn default_file() -> String {
    let mut found = FILES.into_iter().filter(|file| std::path::Path::new(file).exists());
    let file = found.next().unwrap_or("wrangler.toml");
    for other in found {
        eprintln!("warning: wrangler reads {file} and not {other}; CONFIG={other} names the other one");
    }
    file.to_owned()
}

/// The checker runs on the machine that deploys, and never in a Worker.
#[cfg(target_arch = "wasm32")]
fn main() {}
