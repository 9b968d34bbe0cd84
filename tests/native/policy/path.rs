//! The canonical spelling of a path. Its cases are in `tests/data/reading.json`.

use penstock::policy::path::Path;
use proptest::prelude::*;

use super::strategies::any_path;

proptest! {
    #[test]
    fn reading_a_path_is_idempotent_and_canonical(sent in any_path()) {
        let read = Path::read(&sent);
        let text = read.as_str();
        prop_assert_eq!(&Path::read(text), &read);
        prop_assert!(text.starts_with('/') && !text.contains("//") && (text == "/" || !text.ends_with('/')));
        prop_assert!(text.split('/').all(|segment| segment != "." && segment != ".."));
        prop_assert!(text.is_ascii());
    }
}
