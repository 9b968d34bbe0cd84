use penstock::policy::path::Path;

#[track_caller]
fn each_reads_as(table: &[(&str, &str)]) {
    for (sent, read) in table {
        assert_eq!(Path::read(sent).as_str(), *read, "{sent:?}");
    }
}

#[test]
fn path_01_slashes_do_not_make_another_path() {
    each_reads_as(&[
        ("/login", "/login"),
        ("//login", "/login"),
        ("/login/", "/login"),
        ("/login//", "/login"),
        ("///a///b///", "/a/b"),
        ("login", "/login"),
        ("/", "/"),
        ("//", "/"),
        ("", "/"),
    ]);
}

#[test]
fn path_02_dot_segments_are_resolved() {
    each_reads_as(&[
        ("/./login", "/login"),
        ("/x/../login", "/login"),
        ("/%2e/login", "/login"),
        ("/x/%2E%2e/login", "/login"),
        ("/x/.%2E/login", "/login"),
        ("/../../login", "/login"),
        ("/login/.", "/login"),
        ("/login/x/..", "/login"),
        ("/a/..", "/"),
        ("/..", "/"),
        ("/a//../b", "/a/b"),
        ("/...", "/..."),
        ("/.login", "/.login"),
        ("/..%2Flogin", "/..%2Flogin"),
    ]);
}

#[test]
fn path_03_unreserved_escapes_are_decoded_once() {
    each_reads_as(&[
        ("/%6Cogin", "/login"),
        ("/lo%67in", "/login"),
        ("/%7Euser%2D%5F%2e", "/~user-_."),
        ("/%256Cogin", "/%256Cogin"),
        ("/%2525", "/%2525"),
        ("/%25%36%43", "/%256C"),
    ]);
}

#[test]
fn path_04_an_encoded_slash_is_no_slash_whatever_its_case() {
    each_reads_as(&[
        ("/api%2Flogin", "/api%2Flogin"),
        ("/api%2flogin", "/api%2Flogin"),
        ("/api%5Clogin", "/api%5Clogin"),
        ("/api%5clogin", "/api%5Clogin"),
        ("/api\\login", "/api/login"),
        ("\\login", "/login"),
    ]);
}

#[test]
fn other_bytes_have_one_spelling_too() {
    each_reads_as(&[
        ("/a b", "/a%20b"),
        ("/a%20b", "/a%20b"),
        ("/caf\u{e9}", "/caf%C3%A9"),
        ("/caf%c3%a9", "/caf%C3%A9"),
        ("/a^b|c", "/a%5Eb%7Cc"),
        ("/%00", "/%00"),
        ("/a;v=1,b:c@d", "/a;v=1,b:c@d"),
        ("/a%3bv", "/a%3Bv"),
        ("/a+b", "/a+b"),
    ]);
}

#[test]
fn a_percent_sign_that_begins_no_escape_is_a_percent_sign() {
    each_reads_as(&[
        ("/100%", "/100%25"),
        ("/100%25", "/100%25"),
        ("/%zz", "/%25zz"),
        ("/%6", "/%256"),
        ("/%+5", "/%25+5"),
        // Read twice it would be `e`.
        ("/%%36%35", "/%2565"),
    ]);
}

#[test]
fn path_06_case_counts() {
    each_reads_as(&[("/LOGIN", "/LOGIN"), ("/%4Cogin", "/Login")]);
}

#[test]
fn path_08_a_query_is_no_part_of_the_path() {
    each_reads_as(&[("/api?x=/../1", "/api"), ("/api/?", "/api"), ("/api#top", "/api"), ("/a%3Fb", "/a%3Fb")]);
}
