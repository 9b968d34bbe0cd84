//! The caps that a request meets.

use super::caps::{planned, policy_with_three_caps};
use penstock::concurrency::plan::RequestKind;
use penstock::protocol::permits::Reserve;

#[test]
fn request_meets_the_caps_of_its_binding_and_of_base_and_a_socket_one_more() {
    let policy = policy_with_three_caps();
    let names = |path, kind| planned(&policy, path, kind).iter().map(|met| met.cap.name.clone()).collect::<Vec<_>>();
    assert_eq!(names("/x", RequestKind::Plain), ["x/in-flight", "base/in-flight"]);
    assert_eq!(names("/x", RequestKind::Socket), ["x/in-flight", "base/in-flight", "x/sockets"]);
    assert_eq!(names("/other", RequestKind::Socket), ["base/in-flight"]);
    assert!(names("/health", RequestKind::Socket).is_empty());
}

#[test]
fn reserve_depends_on_the_highest_priority_that_meets_the_cap() {
    let policy = policy_with_three_caps();
    let reserves = |path| planned(&policy, path, RequestKind::Plain).iter().map(|met| met.reserve).collect::<Vec<_>>();
    assert_eq!(reserves("/x"), [Reserve::Nothing, Reserve::Tenth], "no higher priority meets the binding's own cap");
    assert_eq!(reserves("/pay"), [Reserve::Nothing]);
    assert_eq!(reserves("/other"), [Reserve::Fifth]);
    assert_eq!((Reserve::Fifth.of_cap(4), Reserve::Fifth.of_cap(5), Reserve::Tenth.of_cap(9)), (0, 1, 0));
}
