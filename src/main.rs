//! The command `rp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(rp::run(std::env::args_os()).0)
}
