//! Pages in a browser, where there is one: nothing on them breaks their own policy.

use std::process::Command;

use super::site::{drawn, sample};
use crate::support::env::Temp;

#[test]
fn a_browser_draws_every_page_and_has_nothing_to_complain_of() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let works = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let Some(browser) = names.into_iter().find(works) else {
        println!("skipped: no browser of {names:?} is on this machine");
        return;
    };
    let temp = Temp::new();
    for (name, page) in drawn(&sample(), None) {
        let path = temp.path().join(&name);
        std::fs::write(&path, &page).unwrap();
        if name.starts_with("claim-") && name != "claim-1-C4.html" {
            continue;
        }
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=360,900"])
            .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
            .arg(format!("--user-data-dir={}", temp.path().join("profile").display()))
            .arg(format!("file://{}", path.display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let complaint = said.lines().find(|line| line.contains("CONSOLE"));
        assert_eq!(complaint, None, "{name}");
        // What was parsed is what was written: no text became an element.
        let dom = String::from_utf8_lossy(&output.stdout);
        assert_eq!(dom.matches("<tr").count(), page.matches("<tr").count(), "{name}");
        assert_eq!(dom.matches("<bdi").count(), page.matches("<bdi").count(), "{name}");
    }
}
