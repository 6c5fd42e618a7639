//! The golden digests of C.3, what the strict reader refuses, and that any bytes at all end in an answer.

use proptest::prelude::*;

use super::{Equality, FaultKind, Map, Value, canonical, file_digest, object_digest, parse};

fn value(text: &str) -> Value {
    parse(text.as_bytes()).unwrap()
}

fn digest(text: &str) -> String {
    object_digest(&value(text))
}

fn fault(bytes: &[u8]) -> FaultKind {
    parse(bytes).unwrap_err().kind
}

#[test]
#[expect(clippy::many_single_char_names, reason = "each is a digest of one digit")]
fn golden_digests_of_values() {
    let [a, b, c, one, two, d, e] =
        ["a", "b", "c", "1", "2", "d", "e"].map(|digit| digit.repeat(64));
    let environment = "b145b1a523f508529784cd74c1a30366f6c5872669f89ba163f6465c995ed6bf";
    let invocation = "05bda12598ca38cc8a01ed68626ac8e125a21c3951abbc602acf4f90fe308047";
    for (text, due) in [
        ("{}".to_owned(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        ("[]".to_owned(), "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
        (
            "{\"a\":[1,1.0,-0.0,0.1,0.0001,1e-05,1000000000000000.0,1e+16,1.2345678901234568e+17,1e+22,5e-324],\"\u{e9}\":\"\\u001f\u{7f}/\\\"\\\\\\b\\f\\n\\r\\t\"}".to_owned(),
            "e70d54cb499ef047ea2a736d5d47064fb91e3121ba878ec1fa89e6c7a59c577a",
        ),
        (
            format!("{{\"inherit_parent\":false,\"variables\":{{\"LANG\":\"C.UTF-8\",\"TZ\":\"UTC\"}},\"secret_variable_names\":[\"BROKER_TOKEN\"],\"dependency_fingerprints\":{{\"lockfile\":\"{b}\"}}}}"),
            environment,
        ),
        (
            format!("{{\"argv\":[\"/opt/eval/run\",\"tools/score.py\",\"--json\"],\"cwd\":\".\",\"extractor_path\":\"tools/score.py\",\"executable_path\":\"/opt/eval/run\",\"executable_sha256\":\"{a}\",\"environment_sha256\":\"{environment}\",\"timeout_seconds\":45}}"),
            invocation,
        ),
        (
            format!("{{\"invocation_sha256\":\"{invocation}\",\"immutable_files\":[{{\"path\":\"tools/score.py\",\"sha256\":\"{c}\"}}]}}"),
            "83db416bc335cca0721d95b81f11b9590ebffb9afc67cb3b79da2464901c07ad",
        ),
        (
            format!("{{\"resource_manifest_sha256\":\"{one}\",\"capability_sha256\":\"{two}\",\"visibility\":\"visible\"}}"),
            "fbbec343059da285e9dbfd385a6a2d816ce8d00f6fc0661267bf79312ad42dba",
        ),
        (
            "{\"realpath\":\"/srv/ws/cand\",\"device\":66306,\"inode\":1234567}".to_owned(),
            "fed24f46a55e4451d37f9d5d8dac80d3ad243816ebe3db1a076c3c99688954d7",
        ),
        (
            format!("[{{\"path\":\"boundaries/a-000.json\",\"sha256\":\"{d}\"}},{{\"path\":\"evidence/r-1.json\",\"sha256\":\"{e}\"}}]"),
            "a825197b3009a4014adb4da587d05e692a2148cf52f2a07292179f12c2a511ec",
        ),
    ] {
        assert_eq!(digest(&text), due, "{text}");
    }
}

#[test]
fn golden_digests_of_files() {
    let access = "fbbec343059da285e9dbfd385a6a2d816ce8d00f6fc0661267bf79312ad42dba";
    let config = format!(
        "{{\"schema_version\":1,\"settings\":{{}},\"stage\":\"development\",\"stage_access_sha256\":\"{access}\"}}\n"
    );
    assert_eq!(
        file_digest(config.as_bytes()),
        "17f513d9d20ee51c50414de7c6e3f36fc2f719b96cc0becf5cac49167f0be09f"
    );
    assert_eq!(
        file_digest(b"{\"entries\":[],\"mode\":\"reset_each_launch\",\"schema_version\":1}\n"),
        "0a13bb4464a37bbf23eab1f2ceaa00b9e3058c4d2463bd823d44fd033dd0bc0f"
    );
}

#[test]
fn numbers_print_as_the_protocol_does() {
    for (text, due) in [
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1e5", "100000.0"),
        ("1e-5", "1e-05"),
        ("1e16", "1e+16"),
        ("123456.789", "123456.789"),
        ("9999999999999998.0", "9999999999999998.0"),
        ("0.00012", "0.00012"),
        ("1e100", "1e+100"),
        ("1.5e-300", "1.5e-300"),
        ("2e-400", "0.0"),
        ("10.50", "10.5"),
        (
            "123456789012345678901234567890123456789012345",
            "123456789012345678901234567890123456789012345",
        ),
    ] {
        assert_eq!(canonical(&value(text)), due, "{text}");
    }
}

#[test]
fn what_the_reader_refuses() {
    assert_eq!(fault(b"\xef\xbb\xbf{}"), FaultKind::Bom);
    assert_eq!(fault(b"{\"a\":\"\xff\"}"), FaultKind::Encoding);
    assert_eq!(fault(b"{\"a\":[{\"b\":1,\"b\":1}]}"), FaultKind::Duplicate("b".to_owned()));
    assert_eq!(fault(b"{\"a\":1,\"\\u0061\":1}"), FaultKind::Duplicate("a".to_owned()));
    for text in ["NaN", "[Infinity]", "-Infinity"] {
        assert_eq!(fault(text.as_bytes()), FaultKind::NonFinite, "{text}");
    }
    for text in ["1e999", "-1e999", "[1.0e400]"] {
        assert_eq!(fault(text.as_bytes()), FaultKind::Overflow, "{text}");
    }
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(deep(128).as_bytes()).is_ok());
    for text in [
        "",
        " ",
        "{",
        "{}{}",
        "{} x",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'a'",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800\\ud800\"",
        "\"\\x\"",
        "\"\n\"",
        "\"\u{0}\"",
        "\"",
        "tru",
        "\"\\u12\"",
        "\u{a0}1",
        &deep(129),
        &deep(200),
        &"9".repeat(4301),
    ] {
        assert!(matches!(fault(text.as_bytes()), FaultKind::Syntax(_)), "{text}");
    }
    assert_eq!(value("\"\\ud83d\\ude00\""), Value::of("\u{1f600}"));
}

#[test]
fn loosely_equal_are_numbers_and_flags_only() {
    let same = |left: &str, right: &str, how: Equality| how.holds(&value(left), &value(right));
    for (left, right) in [
        ("1", "1.0"),
        ("true", "1"),
        ("0.0", "false"),
        ("-0.0", "0"),
        ("[1]", "[true]"),
        ("{\"a\":1.0}", "{\"a\":1}"),
    ] {
        assert!(same(left, right, Equality::Loose), "{left} {right}");
        assert!(!same(left, right, Equality::Strict), "{left} {right}");
    }
    for (left, right) in
        [("1", "\"1\""), ("null", "0"), ("1.5", "1"), ("10", "1.0"), ("-1", "1.0"), ("-1.0", "1")]
    {
        assert!(!same(left, right, Equality::Loose), "{left} {right}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| Value::from(i128::from(number))),
        any::<f64>()
            .prop_filter("finite", |double| double.is_finite())
            .prop_map(|double| Value::Number(super::Number::Double(double))),
        any::<String>().prop_map(Value::Text),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::List),
            prop::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|map: Map| Value::Map(map)),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_text_reads_back(value in any_value()) {
        let text = canonical(&value);
        let read = parse(text.as_bytes()).unwrap();
        prop_assert_eq!(canonical(&read), text);
        prop_assert_eq!(read, value);
    }

    #[test]
    fn any_bytes_end_in_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let _answer = parse(&bytes);
    }

    #[test]
    fn any_json_like_text_ends_in_an_answer(text in "[\\[\\]{}\",:\\\\ue0-9.+\\-dDaAnNtTrRfFsSlLiIyY \n\r\t]{0,300}") {
        if let Ok(value) = parse(text.as_bytes()) {
            prop_assert_eq!(parse(canonical(&value).as_bytes()).unwrap(), value);
        }
    }
}
