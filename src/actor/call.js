/**
 * Asks the object called `name` of the binding `namespace`: sends the question in a header, and
 * reads the header `answer` of its response. Returns the response's status, a line break, and that
 * text.
 */
export async function call(namespace, name, locationHint, header, question, answer) {
  // A stub is broken after an exception, so each call takes a new one.
  const stub = locationHint ? namespace.getByName(name, { locationHint }) : namespace.getByName(name);
  const response = await stub.fetch("https://actor/", { headers: { [header]: question } });
  return `${response.status}\n${response.headers.get(answer) ?? ""}`;
}
