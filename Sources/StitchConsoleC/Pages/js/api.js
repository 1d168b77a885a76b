// The requests to the server.
import { parseReply, plain, stringify } from "./ejson.js";

let csrf = "";
let program = "stitchsync serve";
let onSignedOut = () => {};

/** An error that the server answered, or that the connection had. */
export class RequestError extends Error {
  constructor(message, status, name) {
    super(message);
    this.status = status;
    this.name = name ?? "RequestError";
  }
}

export function setSession(session) {
  csrf = session?.csrf ?? "";
  if (session) program = session.server?.kind === "device" ? "stitchsync inspect --serve" : "stitchsync serve";
}
export function whenSignedOut(action) { onSignedOut = action; }

// A page that nobody looks at asks on, which must not keep the session.
const attendedMS = 60_000;
let lastInput = Date.now();
for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "hashchange"]) {
  addEventListener(kind, () => { lastInput = Date.now(); }, { capture: true, passive: true });
}

async function request(method, path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method, signal, credentials: "same-origin", redirect: "error", cache: "no-store",
      headers: {
        ...(method === "POST" ? { "Content-Type": "application/json", "X-CSRF-Token": csrf } : {}),
        ...(Date.now() - lastInput > attendedMS ? { "X-Unattended": "1" } : {}),
      },
      body: body === undefined ? undefined : stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError(`The server does not answer. Check that \`${program}\` is running.`, 0);
  }
  const text = await response.text();
  if (response.ok) return text;
  let message = `The server answered with status ${response.status}.`, name;
  try {
    const error = JSON.parse(text).error;
    message = `${error.message}${error.name ? ` (${error.name})` : ""}`;
    name = error.name;
  } catch { /* The body is not the contract's error, so the status is all there is to show. */ }
  if (response.status === 401 && path !== "/api/signin" && path !== "/api/session") onSignedOut();
  throw new RequestError(message, response.status, name);
}

/** Returns the answer as plain objects; for answers without documents. */
export async function get(path, signal) { return JSON.parse(await request("GET", path, undefined, signal)); }

/** Returns the answer with documents as maps, which keep the order of fields. */
export async function getDocuments(path, signal) { return parseReply(await request("GET", path, undefined, signal)); }

export async function post(path, body, signal) {
  const text = await request("POST", path, body, signal);
  return text ? parseReply(text) : null;
}

/** Runs a server command and returns its reply as a map; with `excerpt` the server cuts large documents. */
export async function command(database, body, signal, excerpt) {
  const answer = await post("/api/command", { database, command: body, excerpt }, signal);
  const reply = answer?.get("reply");
  if (!(reply instanceof Map)) throw new RequestError("The server's answer has no reply.", 0);
  const errors = reply.get("writeErrors");
  if (Array.isArray(errors) && errors.length) {
    throw new RequestError(String(errors[0].get("errmsg")), 400, "WriteError");
  }
  if (plain(reply.get("ok")) === 0) {
    throw new RequestError(String(reply.get("errmsg")), 400, String(reply.get("codeName")));
  }
  return reply;
}

/** Returns the first batch of a cursor's reply; closes the cursor if it has more. */
export async function list(database, body, signal) {
  const cursor = (await command(database, body, signal)).get("cursor");
  const documents = [...cursor.get("firstBatch")];
  let id = cursor.get("id");
  const name = String(cursor.get("ns")).split(".").slice(1).join(".");
  while (String(plain(id)) !== "0" && documents.length < 10_000) {
    const next = (await command(database, { getMore: id, collection: name }, signal)).get("cursor");
    documents.push(...next.get("nextBatch"));
    id = next.get("id");
  }
  return documents;
}

const retryMS = 3000;

/** Follows server-sent events until the signal aborts. `handlers` has a function an event. */
export function follow(path, signal, handlers) {
  if (signal.aborted) return;
  const source = new EventSource(path);
  const close = () => source.close();
  signal.addEventListener("abort", close);
  for (const [name, action] of Object.entries(handlers)) {
    if (name === "open") source.onopen = action;
    else if (name !== "error") source.addEventListener(name, (event) => action(event.data));
  }
  source.addEventListener("error", (event) => {
    // The browser's own error has no data; the server's has.
    handlers.error?.(event.data ?? null);
    if (source.readyState !== EventSource.CLOSED || signal.aborted) return;
    // The browser connects again by itself unless the server refused, as it does without a session.
    signal.removeEventListener("abort", close);
    setTimeout(() => reopen(path, signal, handlers), retryMS);
  });
}

async function reopen(path, signal, handlers) {
  if (signal.aborted) return;
  try {
    setSession(await get("/api/session", signal));
  } catch (error) {
    if (error.status === 401) return onSignedOut();
  }
  follow(path, signal, handlers);
}
