//! The headers by which an `ORIGIN` learns how the client asked. They are this proxy's word alone:
//! whatever the client sent under these names is gone.

use crate::http::fetch_api::Outgoing;
use crate::http::target::Target;
use crate::identity::Address;

/// Further names under which a proxy in front may speak. Some applications believe them before the
/// `X-Forwarded-` headers that are set here, and so none may reach the origin from a client.
const OTHER_WORDS: [&str; 5] =
    ["forwarded", "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-scheme", "x-forwarded-ssl"];

/// Sets the headers for a request that came from `address` for `url`, which `target` is part of. A
/// host that applications could not read, and an address that cannot be read, are not told.
pub fn set(outgoing: &mut Outgoing, url: &str, target: &Target<'_>, address: &Address) {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    outgoing.set("X-Forwarded-Host", Some(target.authority).filter(|host| is_readable(host)));
    outgoing.set("X-Forwarded-Proto", scheme);
    outgoing.set("X-Forwarded-For", address.for_origin().as_deref());
    for name in OTHER_WORDS {
        outgoing.set(name, None);
    }
}

/// Whether `authority` has the characters of a host and a port alone.
fn is_readable(authority: &str) -> bool {
    !authority.is_empty() && authority.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
}
