// The page Users: list, create, disable, new password, drop.
import { append, button, el, empty, errorPlace, field, heading, refill, table } from "./dom.js";
import { command } from "./api.js";
import { confirmAction, openDialog } from "./dialog.js";
import { count, shortNode } from "./units.js";

export const title = "Users";
const offeredRoles = ["read", "readWrite", "dbAdmin", "root", "userAdminAnyDatabase", "readAnyDatabase", "readWriteAnyDatabase"];

export async function show(main, route, { signal, session }) {
  const state = el("p", { class: "quiet", role: "status" });
  const error = errorPlace(), body = el("div", {});
  const filter = el("input", { type: "search", autocomplete: "off", spellcheck: "false", oninput: () => draw() });
  append(main, [heading(title, state, el("span", { class: "spring" }), button("Create a user…", create, { class: "primary" })),
    session.server?.auth === false && el("p", { class: "note" }, "This server runs without --auth, so users do not have to sign in."),
    field("Find a user", filter), error.node, body]);
  let users = [];
  await load();

  async function load() {
    try {
      users = (await command("admin", { usersInfo: { forAllDBs: true } }, signal)).get("users");
      error.clear();
      draw();
    } catch (trouble) {
      if (!signal.aborted) error.show(trouble);
    }
  }

  function draw() {
    const text = filter.value.trim().toLowerCase();
    const shown = users.filter((each) => !text || nameOf(each).toLowerCase().includes(text));
    state.textContent = count(shown.length, "user");
    refill(body, shown.length ? userTable(shown) : users.length ? empty("No user has a name like this.")
      : empty("There is no user.", "Create the first one here; an administrator has the role root in admin."));
  }

  function userTable(shown) {
    return table("Users", [
      { title: "User", cell: (each) => shortNode(each.get("user"), 80) },
      { title: "Database", cell: (each) => shortNode(each.get("db"), 60) },
      { title: "Roles", cell: (each) => rolesText(each.get("roles") ?? []) },
      { title: "Sign-in", cell: (each) => each.get("disabled") === true ? el("span", { class: "error" }, "disabled") : "allowed" },
      { title: "Change", cell: (each) => {
        const isDisabled = each.get("disabled") === true, name = nameOf(each);
        return el("div", { class: "actions" },
          button(isDisabled ? "Enable" : "Disable…", () => isDisabled ? update(each, { disabled: false }) : disable(each),
            { "aria-label": `${isDisabled ? "Enable" : "Disable"} ${name}`, data: { key: `disable ${name}` } }),
          button("New password…", () => newPassword(each), { "aria-label": `New password of ${name}` }),
          button("Drop…", () => drop(each), { "aria-label": `Drop ${name}` }));
      } },
    ], shown);
  }

  async function update(user, change) {
    try {
      await command(String(user.get("db")), { updateUser: user.get("user"), ...change });
    } catch (trouble) { error.show(trouble); return; }
    await load();
  }

  async function disable(user) {
    const done = await confirmAction(`Disable ${nameOf(user)}?`, ["The user cannot sign in until you enable it again. Its open connections are signed out.", "Its devices keep their local documents and work offline."],
      "Disable", () => command(String(user.get("db")), { updateUser: user.get("user"), disabled: true }));
    if (done) load();
  }

  async function drop(user) {
    const name = nameOf(user);
    const done = await confirmAction(`Drop ${name}?`, ["The user is removed and cannot sign in again. Documents stay. This cannot be undone."], "Drop",
      () => command(String(user.get("db")), { dropUser: user.get("user") }), { typed: String(user.get("user")).slice(0, 60) });
    if (done) load();
  }

  async function newPassword(user) {
    const done = await openDialog(`New password of ${nameOf(user)}`, (close, trouble) => {
      const password = passwordInput();
      return passwordForm("Set the password", [field("Password", password)], trouble, async () => {
        await command(String(user.get("db")), { updateUser: user.get("user"), pwd: password.value });
        close(true);
      });
    });
    if (done) load();
  }

  async function create() {
    const done = await openDialog("Create a user", (close, trouble) => {
      const name = el("input", { required: true, autocomplete: "off", spellcheck: "false", autofocus: true });
      const database = el("input", { required: true, autocomplete: "off", spellcheck: "false", value: "admin" });
      const password = passwordInput();
      const role = el("select", {}, el("option", { value: "" }, "none (the rules decide)"), offeredRoles.map((each) => el("option", { value: each }, each)));
      return passwordForm("Create", [
        field("User", name), field("Database", database, "The user signs in with this database."),
        field("Password", password), field("Role", role),
      ], trouble, async () => {
        await command(database.value, { createUser: name.value, pwd: password.value, roles: role.value ? [{ role: role.value, db: database.value }] : [] });
        close(true);
      });
    });
    if (done) load();
  }
}

function passwordInput() { return el("input", { type: "password", required: true, autocomplete: "new-password" }); }

function passwordForm(verb, fields, error, action) {
  const submit = el("button", { type: "submit", class: "primary" }, verb);
  return el("form", { async onsubmit(event) {
    event.preventDefault();
    submit.disabled = true;
    error.clear();
    try { await action(); } catch (trouble) { error.show(trouble); } finally { submit.disabled = false; }
  } }, fields, el("div", { class: "actions" }, submit));
}

function nameOf(user) { return `${String(user.get("user")).slice(0, 80)} (${String(user.get("db")).slice(0, 60)})`; }

function rolesText(roles) {
  if (!roles.length) return el("span", { class: "quiet" }, "none");
  return shortNode(roles.map((each) => each instanceof Map ? `${each.get("role")} in ${each.get("db")}` : String(each)).join(", "), 120);
}
