//! The folder of pages: whose files are touched, what an exit code says, and what views are as JSON.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::support::env::Env;

/// A workspace that holds the sample program.
fn sample() -> (Env, String) {
    let env = Env::empty();
    env.rp(&["quickstart", "sample"]).ok();
    let dir = env.work().join("sample").to_str().unwrap().to_owned();
    (env, dir)
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            (entry.file_name().to_str().unwrap().to_owned(), fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn fold(env: &Env, dir: &str, site: &Path, more: &[&str]) -> crate::support::env::Answer {
    let args = ["-C", dir, "fold", "interface", "--out", site.to_str().unwrap(), "--json"];
    env.rp(&[&args[..], more].concat())
}

#[test]
fn pages_are_written_once_and_removed_when_there_are_no_more() {
    let (env, dir) = sample();
    let site: PathBuf = env.work().join("site");
    let first = fold(&env, &dir, &site, &[]).ok().json();
    assert_eq!(first["schema"], "rp.fold.interface/1");
    assert_eq!((&first["pages"], &first["written"]), (&json!(16), &json!(16)), "{first}");
    assert_eq!((&first["verdict"], &first["exit"]), (&json!("pass"), &json!(0)));
    let whole = files(&site);
    assert_eq!(whole.len(), 17, "16 pages and the marker");
    assert!(!String::from_utf8_lossy(&whole["index.html"]).contains("class=\"banner"));
    let again = fold(&env, &dir, &site, &[]).ok().json();
    assert_eq!((&again["written"], &again["same"]), (&json!(0), &json!(16)), "{again}");
    // Entry 20 stands before any claim was seeded: its site has no pages of claims.
    let early = fold(&env, &dir, &site, &["--at", "20"]).ok().json();
    assert_eq!(early["removed"], json!(7), "six claims and a round: {early}");
    assert!(!site.join("claim-1-C1.html").exists() && site.join("round-1.html").exists());
    fold(&env, &dir, &site, &[]).ok();
    assert_eq!(files(&site), whole);
    // A file of somebody else stays.
    fs::write(site.join("notes.html"), "mine").unwrap();
    fold(&env, &dir, &site, &["--at", "20"]).ok();
    assert_eq!(fs::read_to_string(site.join("notes.html")).unwrap(), "mine");
}

#[test]
fn a_folder_of_others_is_left_alone() {
    let (env, dir) = sample();
    let site = env.work().join("theirs");
    fs::create_dir(&site).unwrap();
    fs::write(site.join("index.html"), "theirs").unwrap();
    fold(&env, &dir, &site, &[]).refused(73, "exists");
    assert_eq!(files(&site).len(), 1);
    fold(&env, &dir, &site.join("index.html"), &[]).refused(73, "exists");
    // A marker by others leads nowhere else.
    fs::remove_file(site.join("index.html")).unwrap();
    let outside = env.work().join("outside.html");
    fs::write(&outside, "outside").unwrap();
    fs::write(site.join(".rp-interface"), "rp-interface 1\n../outside.html\n/etc/x.html\n")
        .unwrap();
    fold(&env, &dir, &site, &[]).ok();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    // A link in the place of a page is replaced and not followed.
    fs::remove_file(site.join("brief.html")).unwrap();
    std::os::unix::fs::symlink(&outside, site.join("brief.html")).unwrap();
    fold(&env, &dir, &site, &[]).ok();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    assert!(fs::symlink_metadata(site.join("brief.html")).unwrap().is_file());
    let usage = env.rp(&["-C", &dir, "fold", "interface", "--json"]);
    usage.refused(64, "usage");
}

#[test]
fn a_journal_that_does_not_verify_has_pages_that_say_so() {
    let (env, dir) = sample();
    let journal = Path::new(&dir).join(".rp/journal");
    let segment = journal.join(format!("{:020}.rpj", 0));
    let mut bytes = fs::read(&segment).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[end / 2] ^= 1;
    let mut mode = fs::metadata(&segment).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o644);
    fs::set_permissions(&segment, mode).unwrap();
    fs::write(&segment, &bytes).unwrap();
    let site = env.work().join("site");
    let answer = fold(&env, &dir, &site, &[]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert_eq!(answer.json()["verdict"], "fail");
    let pages = files(&site);
    assert!(pages.len() > 8, "{:?}", pages.keys());
    for (name, page) in pages.iter().filter(|(name, _)| *name != ".rp-interface") {
        let page = String::from_utf8_lossy(page);
        assert!(page.contains("<bdi>This journal did not verify (fail, broken)."), "{name}");
        assert!(page.contains("entries before that"), "{name}");
    }
}

#[test]
fn every_page_comes_in_four_forms_and_every_view_as_one_json_document() {
    let (env, dir) = sample();
    let list = env.rp(&["fold", "--list", "--json"]).ok().json();
    for view in list["views"].as_array().unwrap() {
        let name = view["view"].as_str().unwrap();
        let mut args = vec!["-C", &dir, "fold", name];
        match name {
            "interface" => continue,
            "claim" => args.push("claim:1/C4"),
            _ => {}
        }
        if name == "refusals" {
            // Nothing was refused in the sample, which is said and is no page.
            env.rp(&[&args[..], &["--json"]].concat()).refused(5, "nothing");
            continue;
        }
        let json = env.rp(&[&args[..], &["--json"]].concat()).ok().json();
        assert_eq!(json["schema"], format!("rp.view.{name}/1"));
        for format in view["formats"].as_array().unwrap() {
            let format = format.as_str().unwrap();
            let shown = env.rp(&[&args[..], &["--format", format]].concat()).ok().out;
            let due = match (name, format) {
                (_, "html") => "<!DOCTYPE html>\n",
                (_, "markdown") => "# ",
                (_, "json") => "{",
                _ => "",
            };
            assert!(shown.starts_with(due) && shown.ends_with('\n'), "{name} {format}: {shown}");
        }
        let odd = env.rp(&[&args[..], &["--format", "odd", "--json"]].concat());
        odd.refused(64, "usage");
    }
    // The file's own values, numbers as they are written: 6.0 is the score in the sample's ledger.
    let ledger = env.rp(&["-C", &dir, "fold", "ledger", "--round", "1", "--json"]).ok();
    assert!(ledger.out.contains("\"iteration_summary\":{\"score\":6.0,"), "{}", ledger.out);
    assert_eq!(ledger.json()["claims"].as_array().unwrap().len(), 5);
    let task = env.rp(&["-C", &dir, "fold", "next-task", "--json"]).ok().json();
    assert_eq!(task["format"], "md");
    let text = env.rp(&["-C", &dir, "fold", "next-task"]).ok().out;
    assert_eq!(task["text"], json!(text));
}

/// Case C16: what is too large for an entry is refused with a way out, and the pages do not feel it.
#[test]
fn a_large_output_is_refused_inline_and_the_brief_stays_as_it_was() {
    let (env, dir) = sample();
    let before =
        (env.rp(&["-C", &dir, "brief"]).ok().out, env.rp(&["-C", &dir, "status"]).ok().out);
    let large = "x".repeat(12 << 20);
    let data = json!({
        "for_round": 3, "origin": "user", "language": "en", "body": large, "notify": false,
        "pins": { "behavior": null, "mechanism_direction": null, "family": null },
        "retry_settled": false,
    });
    let args = ["-C", &dir, "append", "task.recorded", "--stream", "program", "-", "--json"];
    let error = env.rp_reading(&args, &data.to_string()).refused(2, "payload-too-large");
    assert!(error["next"][0].as_str().unwrap().contains("artifact"), "{error}");
    fs::write(env.work().join(&dir).join("output.txt"), &large).unwrap();
    let added = env.rp(&["-C", &dir, "artifact", "add", "output.txt", "--json"]).ok().json();
    assert_eq!(added["artifacts"][0]["bytes"], 12 << 20);
    let digest = added["artifacts"][0]["b3"].as_str().unwrap().to_owned();
    assert_eq!(digest, blake3::hash(large.as_bytes()).to_hex().to_string());
    let after = (env.rp(&["-C", &dir, "brief"]).ok().out, env.rp(&["-C", &dir, "status"]).ok().out);
    assert_eq!(after.0, before.0);
    // The entry that names the artifact is counted, and nothing else is different.
    assert_eq!(after.1.replace("272", "271"), before.1);
}
