// The frame: session, sign-in, navigation by hash.
import { append, button, el, empty, errorPlace, field, page } from "./dom.js";
import { get, post, setSession, whenSignedOut } from "./api.js";
import { refreshTimes } from "./units.js";
import * as overview from "./overview.js";
import * as data from "./data.js";
import * as devices from "./devices.js";
import * as denied from "./denied.js";
import * as write from "./write.js";
import * as rules from "./rules.js";
import * as changes from "./changes.js";
import * as operations from "./operations.js";
import * as users from "./users.js";
import * as log from "./log.js";
import * as deviceOverview from "../device/overview.js";
import * as conflicts from "../device/conflicts.js";
import * as story from "../device/story.js";
import * as passes from "../device/passes.js";

const serverPages = { overview, data, devices, denied, write, rules, changes, operations, users, log };
/** The pages of `stitchsync inspect --serve`. */
const devicePages = { overview: deviceOverview, data, conflicts, write: story, passes };
let pages = serverPages;
const main = document.getElementById("main");
const navigation = document.getElementById("pages");
const menu = document.getElementById("menu");
let session = null;
let leave = new AbortController();
let isFirst = true;

/** Returns the parts and the query of the hash. Invalid escapes make it the overview. */
function currentRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  try {
    const parts = path.split("/").filter((each) => each !== "").map(decodeURIComponent);
    return { name: parts[0] ?? "overview", parts: parts.slice(1), query: new URLSearchParams(query ?? "") };
  } catch {
    return { name: "overview", parts: [], query: new URLSearchParams() };
  }
}

async function showPage() {
  if (!session) return;
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const route = currentRoute();
  const shown = Object.hasOwn(pages, route.name) ? pages[route.name] : null;
  for (const link of navigation.querySelectorAll("a")) {
    if (link.dataset.page === route.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  closeMenu();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  main.replaceChildren();
  main.dataset.page = route.name;
  document.title = `${shown?.title ?? "Unknown page"} – StitchSync console`;
  if (!shown) {
    append(main, empty("This page does not exist.", el("a", { href: page("overview") }, "Go to the overview")));
  } else {
    try {
      await shown.show(main, route, { signal, session });
    } catch (error) {
      if (!signal.aborted) showTrouble(error);
    }
  }
  // A new page is announced by moving the focus, except when the console opens.
  if (!isFirst && !signal.aborted && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  isFirst = false;
}

function showTrouble(error) {
  append(main, el("p", { class: "error", role: "alert" }, error?.message ?? String(error)));
}

function closeMenu() {
  menu.setAttribute("aria-expanded", "false");
  navigation.classList.remove("open");
}

const kinds = { gateway: "gateway", device: "a device's file", file: "file store" };

function showFrame() {
  const { server } = session;
  document.getElementById("server").textContent = server
    ? `${server.host} · ${kinds[server.kind] ?? kinds.file} · ${server.version}` : "";
  const place = document.getElementById("session");
  place.replaceChildren();
  if (session.user) {
    append(place, [el("span", { class: "quiet user" }, session.user), button("Sign out", signOut, { class: "plain" })]);
  } else {
    append(place, el("span", { class: "quiet" }, session.server?.kind === "device" ? "only reads" : "no sign-in"));
  }
  navigation.replaceChildren(el("ul", {}, Object.entries(pages).map(([name, each]) =>
    el("li", {}, el("a", { href: page(name), data: { page: name } }, each.title)))));
  navigation.hidden = menu.hidden = false;
}

async function signOut() {
  try {
    await post("/api/signout", {});
  } catch (error) {
    if (error.status !== 401) return showTrouble(error);
  }
  showSignIn();
}

function showSignIn() {
  leave.abort();
  session = null;
  setSession(null);
  navigation.hidden = menu.hidden = true;
  document.getElementById("session").replaceChildren();
  document.getElementById("server").textContent = "";
  document.title = "Sign in – StitchSync console";
  main.dataset.page = "signin";
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  const name = el("input", { autocomplete: "username", required: true, spellcheck: "false" });
  const password = el("input", { type: "password", autocomplete: "current-password", required: true });
  const database = el("input", { value: "admin", required: true, spellcheck: "false", autocomplete: "off" });
  const error = errorPlace();
  const submit = el("button", { type: "submit", class: "primary" }, "Sign in");
  const form = el("form", {
    class: "panel", async onsubmit(event) {
      event.preventDefault();
      submit.disabled = true;
      error.clear();
      try {
        await post("/api/signin", { user: name.value, password: password.value, database: database.value });
        password.value = "";
        await start();
      } catch (trouble) {
        error.show(trouble.status === 401
          ? "The sign-in failed. Check the name, the password and the database; the user must be an administrator."
          : trouble);
        password.select();
      } finally {
        submit.disabled = false;
      }
    },
  }, el("h1", {}, "Sign in"), field("User", name), field("Password", password),
  field("Database", database, "The database that holds the user, often admin."), error.node, submit);
  main.replaceChildren(el("div", { class: "signin" }, form));
  name.focus();
}

async function start() {
  try {
    session = await get("/api/session");
  } catch (error) {
    if (error.status === 401) return showSignIn();
    main.replaceChildren();
    showTrouble(error);
    main.append(button("Try again", start));
    return;
  }
  setSession(session);
  pages = session.server?.kind === "device" ? devicePages : serverPages;
  // The secret of a file's pages does not stay in the address.
  if (location.search) history.replaceState(null, "", location.pathname + location.hash);
  showFrame();
  await showPage();
}

menu.addEventListener("click", () => {
  const isOpen = navigation.classList.toggle("open");
  menu.setAttribute("aria-expanded", String(isOpen));
  if (isOpen) navigation.querySelector("a")?.focus();
});
navigation.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && navigation.classList.contains("open")) { closeMenu(); menu.focus(); }
});
// Without this, the skip link's hash would be taken for a page.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", showPage);
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason?.name === "AbortError") { event.preventDefault(); return; }
  const place = document.getElementById("trouble");
  place.textContent = event.reason?.message ?? "Something failed.";
  event.preventDefault();
  setTimeout(() => { place.textContent = ""; }, 8000);
});
whenSignedOut(showSignIn);
setInterval(refreshTimes, 1000);
start();
