// Maps what an answer of an ORIGIN says of places there back to where the client finds them.
//
// The client asks for https://shop.example/docs, and the origin is asked for
// http://h/secret-7f3/docs. Whatever the origin calls http://h/secret-7f3/x is
// https://shop.example/x for the client; neither h nor the path is told. A place at the origin but
// outside of its path keeps its path. A value that cannot be read goes on unless it names the
// origin or the path. Bodies are not read.

/** The headers of answers that may say where something is. */
const PLACES = ["location", "content-location", "refresh", "set-cookie", "link"];

/** The methods of requests without the headers of WebDAV that say where something is. */
const PLAIN_METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "OPTIONS"]);

/** A slash in a path, or one in disguise: many servers read these as a slash. */
const SLASH = String.raw`(?:/|%2f|%5c)`;

/** A slash, repeated or not, and the segment after it. */
const SEGMENT = new RegExp(`^${SLASH}/*((?:(?!${SLASH}).)*)`, "i");

/** A link's target, a parameter that holds places, or another quoted text. */
const LINK = /<([^<>]*)>|(?:(?<=[;\s])(anchor|imagesrcset)\s*=\s*)?"((?:[^"\\]|\\.)*)"/gi;

/** An address in the list of an `imagesrcset`, with what stands before it. */
const SOURCE = /(^[\s,]*|,[\s,]*)([^\s,]\S*?)(?=,*(?:\s|$))/g;

/** The delay of a `Refresh`, and what stands before the address. */
const DELAY = /^\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?/i;

/**
 * The way of an answer back to the client: of `request`, which went to the URL `sent` at `origin`.
 * Undefined where it went to no ORIGIN, and nothing has to be mapped.
 */
export function wayBack(request, origin, sent) {
  return origin ? { request, origin, sent } : undefined;
}

/** Whether an answer with these headers may say where something is. */
export function saysWhere(headers) {
  return PLACES.some((name) => headers.has(name));
}

/** Maps the headers of an answer, in place. */
export function mapBack(headers, way) {
  const ends = endsOf(way);
  const map = (name, mapped) => {
    const value = headers.get(name);
    const result = value === null ? null : mapped(value, ends);
    if (result === null) headers.delete(name);
    else if (result !== value) headers.set(name, result);
  };
  for (const name of ["location", "content-location"]) map(name, reference);
  map("refresh", refresh);
  map("link", link);
  const cookies = headers.getSetCookie();
  const mapped = cookies.map((line) => cookie(line, ends));
  if (mapped.every((line, index) => line === cookies[index])) return;
  headers.delete("set-cookie");
  for (const line of mapped) headers.append("set-cookie", line);
}

/**
 * Maps the headers of a request that name places, `Destination` and `If` of WebDAV, to the origin,
 * in place.
 */
export function mapRequest(headers, way) {
  if (PLAIN_METHODS.has(way.request.method)) return;
  const [destination, condition] = [headers.get("destination"), headers.get("if")];
  if (destination === null && condition === null) return;
  const ends = endsOf(way);
  if (destination !== null) headers.set("destination", toOrigin(destination, ends));
  // Tokens of locks stand in parentheses, and are no places here.
  const places = /\([^()]*\)|<([^<>]*)>/g;
  const mapped = (whole, place) => (place === undefined ? whole : `<${toOrigin(place, ends)}>`);
  if (condition !== null) headers.set("if", condition.replace(places, mapped));
}

/** The two ends of a way as URLs, and the segments of the origin's path. */
function endsOf({ request, origin, sent }) {
  const [from, asked] = [new URL(origin), parse(request.url)];
  const prefix = from.pathname.split("/").filter(Boolean).map(plain);
  return { from, prefix, sent: parse(sent) ?? from, asked };
}

function parse(text, base) {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Returns the text without its escapes, as far as they can be read. */
function plain(text) {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

/** Maps a reference to a place. Null: it cannot be read, and names the origin or its path. */
function reference(text, ends) {
  const isSocket = /^\s*wss?:/i.test(text);
  const read = isSocket ? text.replace(/ws/i, "http") : text;
  const target = parse(read, ends.sent);
  const mapped = target ? place(read, target, ends) : read;
  // Two places in one value, or one that is no address, may still tell the origin.
  if ((!target || /[\s<>"]/.test(text.trim())) && names(mapped, ends)) return null;
  return mapped === read ? text : isSocket ? mapped.replace(/^http/, "ws") : mapped;
}

/** Maps the reference `text`, which leads to `target`. */
function place(text, target, { from, prefix, asked }) {
  const isOrigin = isSameHost(target, from);
  if (!isOrigin && !(asked && isSameHost(target, asked))) return text;
  const path = without(prefix, target.pathname);
  if (!isOrigin && path === undefined) return text;
  const rest = (path ?? target.pathname) + target.search + target.hash;
  // A request whose own URL cannot be read has no host to name.
  if (!asked) return rest.replace(/^\/+/, "/");
  const upgrades = target.protocol === "https:" && from.protocol === "http:";
  const host = isOrigin ? `${upgrades ? "https:" : asked.protocol}//${asked.host}` : target.origin;
  const mapped = host + rest;
  if (parse(text, asked)?.href === mapped) return text;
  if (/^\s*[a-z][a-z0-9+.-]*:/i.test(text)) return mapped;
  if (/^\s*[\\/]{2}/.test(text)) return mapped.replace(/^https?:/, "");
  return parse(rest, asked)?.href === mapped ? rest : mapped;
}

/** Whether two URLs lead to the same host and port. `http` and `https` differ in their own port. */
function isSameHost(url, other) {
  const isWeb = ["http:", "https:"].includes(url.protocol);
  const name = ({ hostname }) => hostname.replace(/\.$/, "");
  const port = ({ port, protocol }) => port || (protocol === "https:" ? "443" : "80");
  return isWeb && name(url) === name(other) && (url.port === other.port || port(url) === port(other));
}

/** The rest of `path` behind the segments of `prefix`; undefined where it does not begin so. */
function without(prefix, path) {
  let rest = path;
  for (const name of prefix) {
    const [begin, segment] = SEGMENT.exec(rest) ?? [];
    if (begin === undefined || plain(segment) !== name) return undefined;
    rest = rest.slice(begin.length);
  }
  return rest.replace(/^%(?:2f|5c)/i, "/") || "/";
}

/** Whether `text` has the origin's host, or its whole path. */
function names(text, { from, prefix, asked }) {
  const has = (pattern) => [text, plain(text)].some((read) => pattern.test(read));
  const escaped = (name) => name.replace(/[^\w/]/g, "\\$&");
  // A host of one word stands for itself only where a host can stand.
  const before = from.hostname.includes(".") ? "(?<![\\w.-])" : "[/@\\\\]";
  const host = new RegExp(`${before}${escaped(from.hostname)}(?![\\w-]|\\.\\w)`, "i");
  if (from.hostname !== asked?.hostname && has(host)) return true;
  return prefix.length > 0 && has(new RegExp(`/${escaped(prefix.join("/"))}(?![\\w.~-])`));
}

/** Maps the address of a `Refresh`: `5; url=/x`, with or without quotes. */
function refresh(text, ends) {
  const [delay] = DELAY.exec(text);
  const [, quote, rest] = /^(["']?)(.*)$/s.exec(text.slice(delay.length));
  const end = quote ? rest.indexOf(quote) : -1;
  const address = (end < 0 ? rest : rest.slice(0, end)).trim();
  if (!address) return names(text, ends) ? null : text;
  const mapped = reference(address, ends);
  return mapped === null ? null : mapped === address ? text : `${delay}${quote}${mapped}${quote}`;
}

/** Maps the targets of links (RFC 8288), and the parameters that hold places. */
function link(text, ends) {
  let unreadable = names(text.replace(LINK, ""), ends);
  const map = (place) => {
    const mapped = reference(place, ends);
    unreadable ||= mapped === null;
    return mapped;
  };
  const result = text.replace(LINK, (whole, target, parameter, quoted) => {
    if (target !== undefined) return `<${map(target)}>`;
    if (!parameter) return whole;
    const isList = parameter.toLowerCase() === "imagesrcset";
    const mapped = isList ? quoted.replace(SOURCE, (_, before, place) => before + map(place)) : map(quoted);
    return `${whole.slice(0, -quoted.length - 1)}${mapped}"`;
  });
  return unreadable ? null : result;
}

/** Maps `Path` and `Domain` of a `Set-Cookie` line. An attribute that cannot be mapped goes. */
function cookie(line, ends) {
  const parts = line.split(";").flatMap((part, index) => {
    const [, begin, name, value] = (index > 0 && /^(\s*(path|domain)\s*=\s*)(.*?)\s*$/i.exec(part)) || [];
    if (name === undefined) return [part];
    const mapped = name.toLowerCase() === "path" ? cookiePath(value, ends) : cookieDomain(value, ends);
    return mapped === value ? [part] : mapped === null ? [] : [begin + mapped];
  });
  return parts.join(";");
}

function cookiePath(value, ends) {
  const [, quote, path] = /^("?)(.*?)"?$/.exec(value);
  const rest = path.startsWith("/") ? without(ends.prefix, path) : undefined;
  if (rest === undefined) return names(value, ends) ? null : value;
  return rest === path ? value : quote + rest + quote;
}

/**
 * Maps the domain of a cookie. The origin's host is the client's for the client. A domain above
 * both hosts stays.
 */
function cookieDomain(value, { from, asked }) {
  const domain = value.replace(/^\./, "").toLowerCase();
  const isIn = (host) => host === domain || (domain.includes(".") && host.endsWith(`.${domain}`));
  if (!isIn(from.hostname) || (asked && isIn(asked.hostname))) return value;
  // A host without a dot, or an address, is no domain: the cookie is for that host alone.
  return asked && /\.[a-z][^.]*$/.test(asked.hostname) ? asked.hostname : null;
}

/** Maps a place that the client names to the origin. */
function toOrigin(text, { from, asked }) {
  const target = asked && parse(text, asked);
  if (!target || !isSameHost(target, asked)) return text;
  const place = from.pathname.replace(/\/$/, "") + target.pathname + target.search + target.hash;
  return /^\s*[\\/](?![\\/])/.test(text) ? place : `${from.protocol}//${from.host}${place}`;
}
