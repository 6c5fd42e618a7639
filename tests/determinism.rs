//! One record, one meaning: folded at once, from every prefix, or through the cache, the views are the same.

use std::fs;

use crate::support::{env::Env, record::Recorder};
use crate::vectors::SAMPLE;

#[test]
fn a_second_fold_of_every_prefix_shows_the_same_files() {
    let (mut first, mut second) = (Recorder::new(), Recorder::new());
    for (n, line) in SAMPLE.lines().enumerate() {
        first.append(line).unwrap();
        second.append(line).unwrap();
        // Reading one of them at each step must not change what it comes to.
        if n % 16 == 0 {
            assert_eq!(first.files(), second.files(), "after line {}", n + 1);
        }
    }
    assert_eq!(first.files(), second.files());
}

#[test]
fn views_through_the_cache_are_those_without_it() {
    let mut env = Env::empty();
    env.rp(&["quickstart", "sample"]).ok();
    let dir = env.work().join("sample");
    let views = [
        vec!["fold", "ledger", "--round", "1", "--format", "json"],
        vec!["fold", "ledger", "--round", "2", "--format", "md"],
        vec!["fold", "memory"],
        vec!["fold", "next-task"],
        vec!["status"],
    ];
    let show = |env: &Env| -> Vec<String> {
        let of = |view: &Vec<&str>| {
            let mut args = vec!["-C", dir.to_str().unwrap()];
            args.extend(view);
            env.rp(&args).ok().out
        };
        views.iter().map(of).collect()
    };
    let without = show(&env);
    env.set("RP_CACHE_THRESHOLD", "1");
    // The first reading fills the cache from the record, and the later ones load what they touch.
    let filled = show(&env);
    let loaded = show(&env);
    assert_eq!(filled, without);
    assert_eq!(loaded, without);
    assert!(dir.join(".rp/cache/folded").is_file(), "the cache was not used");
    // Damage of the cache costs a fold from the first entry, and nothing else.
    fs::write(dir.join(".rp/cache/folded"), b"damaged").unwrap();
    assert_eq!(show(&env), without);
}
