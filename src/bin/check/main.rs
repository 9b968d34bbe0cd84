//! `make check`: reads a wrangler.toml as the Worker would, and says what it understood or everything that is wrong.
//!
//! Exit codes: 0 without faults, 1 with any, 2 where it was called wrongly. Secrets and vars set in the dashboard are
//! not in the file, so they are not seen here; the Worker checks them with the same parser.

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

/// The checker runs on the machine that deploys, never in a Worker.
#[cfg(target_arch = "wasm32")]
fn main() {}
