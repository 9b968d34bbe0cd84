//! `make check`: reads a wrangler.toml as the Worker would, and prints the limits or all faults.
//!
//! Exit codes: 0 without faults, 1 with faults, 2 after a wrong call. Secrets and vars of the
//! dashboard are not in the file, so this program does not see them. The Worker checks them with
//! the same parser.
//!
//! - `deployment`: the deployments of a wrangler.toml;
//! - `lists`: the lines below the table;
//! - `platform`: the platform's bindings, routes and flags, beside the vars;
//! - `report`: everything printed for one file;
//! - `table`: the limits as an aligned table.

#[cfg(not(target_arch = "wasm32"))]
mod deployment;
#[cfg(not(target_arch = "wasm32"))]
mod lists;
#[cfg(not(target_arch = "wasm32"))]
mod platform;
#[cfg(not(target_arch = "wasm32"))]
mod report;
#[cfg(not(target_arch = "wasm32"))]
mod table;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "wrangler.toml".to_owned());
    if arguments.next().is_some() || file.starts_with('-') {
        eprintln!("usage: check [wrangler.toml]");
        return std::process::ExitCode::from(2);
    }
    match report::report(&file) {
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

/// The checker runs on the machine that deploys, and never in a Worker.
#[cfg(target_arch = "wasm32")]
fn main() {}
