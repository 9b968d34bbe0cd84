//! Texts of route patterns, and the problems with them.

use penstock::policy::route::Pattern;
use proptest::prelude::*;

#[track_caller]
fn each_is_refused(table: &[(&str, &str)]) {
    for (text, problem) in table {
        assert_eq!(Pattern::parse(text).map(|pattern| pattern.to_string()), Err((*problem).to_owned()), "{text:?}");
    }
}

#[test]
fn cfg_04_a_pattern_that_could_never_match_is_refused() {
    let stray = |c: char| {
        format!(
            "{c:?} stands in no path: a route is no regular expression; use `:name` for one segment and a final `/*` for all below"
        )
    };
    for (text, c) in [
        ("^/api", '^'),
        ("/api/\\d+", '\\'),
        ("/api/{id}", '{'),
        ("/api/<id>", '<'),
        ("/api/(a|b)", '|'),
        ("/api/[id]", '['),
        ("/a\u{7f}b", '\u{7f}'),
    ] {
        each_is_refused(&[(text, &stray(c))]);
    }
    each_is_refused(&[
        ("api", "has no path, expected one that starts with a slash, such as /login or example.com/*"),
        ("GET", "has no path, expected one that starts with a slash, such as /login or example.com/*"),
        ("*", "has no path, expected one that starts with a slash, such as /login or example.com/*"),
        ("", "expected [METHOD[,METHOD]] [HOST]/PATH, such as \"POST /login\""),
        ("GET api.example.com /x", "expected [METHOD[,METHOD]] [HOST]/PATH, such as \"POST /login\""),
        ("POST/login", "POST is a method, and reads as a host here: expected \"POST /login\""),
        ("https://api.example.com/x", "a route has no scheme: leave out what stands before the host"),
        (
            "/api?x=1",
            "a route ends with its path: the query and the fragment play no part, leave out '?' and what follows",
        ),
        (
            "/api#top",
            "a route ends with its path: the query and the fragment play no part, leave out '#' and what follows",
        ),
        ("/a/*/b", "`*` can only be the whole last segment, as in /api/*; one segment is `:name`"),
        ("/api*", "`*` can only be the whole last segment, as in /api/*; one segment is `:name`"),
        ("/api/.*", "`*` can only be the whole last segment, as in /api/*; one segment is `:name`"),
        ("/**", "`*` can only be the whole last segment, as in /api/*; one segment is `:name`"),
        ("/users/:", "`:` needs a name, such as :id"),
        ("/:/x", "`:` needs a name, such as :id"),
        (
            "/users/:id.json",
            "`:id.json` is no name for a segment, expected letters, digits and underscores, such as :id",
        ),
    ]);
}

#[test]
fn a_bad_method_is_refused() {
    each_is_refused(&[
        ("post /login", "methods are in upper case, expected POST"),
        ("GET, POST /x", "expected [METHOD[,METHOD]] [HOST]/PATH, such as \"POST /login\""),
        ("GET,,POST /x", "\"GET,,POST\" has an empty method, expected a list such as GET,POST without spaces"),
        ("GET, /x", "\"GET,\" has an empty method, expected a list such as GET,POST without spaces"),
        ("G(T /x", "\"G(T\" is not a method, expected one such as POST"),
        ("GET,GET /x", "the method GET is there twice"),
        ("HEAD /x", "HEAD counts as GET, so HEAD alone never matches: expected GET"),
    ]);
}

#[test]
fn a_bad_host_is_refused() {
    each_is_refused(&[
        ("*/x", "the host \"*\" is any host, which is said by leaving it out"),
        (
            "api.*.com/x",
            "`*` in the host \"api.*.com\" can only stand for whole labels at the front, as in *.example.com",
        ),
        (
            "*api.example.com/x",
            "`*` in the host \"*api.example.com\" can only stand for whole labels at the front, as in *.example.com",
        ),
        ("a..b/x", "\"a..b\" is not a host, expected one such as api.example.com or *.example.com"),
        (".example.com/x", "\".example.com\" is not a host, expected one such as api.example.com or *.example.com"),
        ("bücher.example/x", "\"bücher.example\" is not a host, expected one such as api.example.com or *.example.com"),
        ("example.com:x/x", "\"example.com:x\" is not a host, expected one such as api.example.com or *.example.com"),
        (
            "user@example.com/x",
            "\"user@example.com\" is not a host, expected one such as api.example.com or *.example.com",
        ),
    ]);
}

#[test]
fn a_pattern_prints_in_its_canonical_form_and_reads_back_as_itself() {
    for (text, printed) in [
        ("/", "/"),
        ("/*", "/*"),
        ("  POST   /login/ ", "POST /login"),
        ("POST,GET API.Example.COM:8443/v1//:id/*", "GET,POST api.example.com/v1/:id/*"),
        ("GET,HEAD *.example.com./", "GET *.example.com/"),
        ("/%6Cogin", "/login"),
        ("/café", "/caf%C3%A9"),
        ("/a%2fb", "/a%2Fb"),
        ("/v1/items:batch", "/v1/items:batch"),
        ("PROPFIND /x", "PROPFIND /x"),
        ("/%2A", "/%2A"),
        ("/a%2a%3Ab", "/a%2A:b"),
        ("/%3aid", "/%3Aid"),
        ("/%40me", "/@me"),
    ] {
        let pattern = Pattern::parse(text).unwrap();
        assert_eq!(pattern.to_string(), printed);
        assert_eq!(Pattern::parse(printed).unwrap(), pattern);
    }
}

proptest! {
    #[test]
    fn any_printed_pattern_reads_back_as_itself(text in "(GET |POST,GET )?(\\*\\.)?([a-z]{1,3}\\.[a-z]{2})?/(a|b|:x|%2F|%61|/|\\.\\.|é){0,6}(/\\*)?") {
        if let Ok(pattern) = Pattern::parse(&text) {
            prop_assert_eq!(Pattern::parse(&pattern.to_string()), Ok(pattern));
        }
    }
}
