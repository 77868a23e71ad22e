// The page for people, with sessions, terminals, files and history. It uses the public HTTP
// interface, and inserts data from guests only as text or as pictures.
import { toolSettings } from "./settings.js";
import { Terminals } from "./terminals.js";

const $ = (id) => document.getElementById(id);
const state = { token: sessionStorage.getItem("token") || "", session: null, folder: "/home/user" };

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

async function ask(method, path, body, type) {
  const headers = { Authorization: `Bearer ${state.token}` };
  if (body !== undefined) headers["Content-Type"] = type || "application/json";
  const answer = await fetch(path, { method, headers, body: body === undefined || type ? body : JSON.stringify(body) });
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({ detail: answer.statusText }));
    throw new Error(problem.detail);
  }
  return answer;
}
const here = (rest = "") => `/v1/sessions/${encodeURIComponent(state.session)}${rest}`;
const tool = async (name, input = {}) => (await ask("POST", here(`/tools/${name}`), input)).json();
const fileAt = (path) => here("/files/" + path.split("/").filter(Boolean).map(encodeURIComponent).join("/"));

/// Returns an event handler that calls `act` and shows the error that it throws.
function does(act) {
  return async (event) => {
    if (event) event.preventDefault();
    $("problem").textContent = "";
    try { await act(event); } catch (e) { $("problem").textContent = e.message; }
  };
}

// Sessions.
async function listSessions(wanted) {
  const { sessions } = await (await ask("GET", "/v1/sessions")).json();
  $("sessions").replaceChildren(...sessions.map((s) => element("option", { value: s.name, textContent: s.name })));
  const names = sessions.map((s) => s.name);
  const next = [wanted, state.session].find((n) => names.includes(n)) || names[0];
  if (next) { $("sessions").value = next; await enter(next); }
}
async function make(name) { await ask("PUT", `/v1/sessions/${encodeURIComponent(name)}`); await listSessions(name); }
async function enter(name) {
  if (state.session === name) return refresh();
  state.session = name;
  terminals.enter((await running()).filter((process) => process.terminal));
  await refresh();
}
const refresh = () => Promise.all([listFiles(), listPast()]);

// Terminals.
const terminals = new Terminals({
  tabs: $("tabs"), screens: $("screens"), keys: $("keys"),
  open() {
    const address = new URL(here("/terminal"), location.href);
    address.protocol = address.protocol.replace("http", "ws");
    return new WebSocket(address, ["wasibox", `bearer.${encodeURIComponent(state.token)}`]);
  },
  changed: does(refresh),
  end: (process) => tool("kill_process", { process, signal: "HUP" }),
});
window.terminals = terminals;
$("add").onclick = () => state.session && terminals.add();

/// Returns the session's processes that run.
async function running() {
  const { processes } = await tool("list_processes");
  return processes.filter((process) => process.status === "running");
}
/// Moves the session to another of its states, which ends what runs. Asks first, unless that is only
/// shells that wait for a command.
async function move(name, input) {
  const busy = terminals.busy.map((one) => one.command);
  const others = (await running()).filter((process) => !terminals.has(process.process)).map((process) => process.command);
  const all = [...busy, ...others];
  if (all.length > 0 && !confirm(`This ends what runs in the session:\n${all.join("\n")}`)) return;
  await tool(name, input);
  await refresh();
}

// Files.
async function listFiles() {
  const { path, entries } = await tool("list_files", { path: state.folder });
  $("folder").textContent = path;
  state.folder = path;
  $("files").replaceChildren(...entries.map((e) => {
    const whole = `${path === "/" ? "" : path}/${e.path}`;
    const isFolder = e.kind === "directory";
    const go = does(() => { if (isFolder) { state.folder = whole; return listFiles(); } return open(whole, e.size); });
    return element("li", {}, element("button", { textContent: e.path + (isFolder ? "/" : ""), onclick: go }),
      element("span", { className: "dim", textContent: isFolder ? "" : `${e.size}` }));
  }));
}
$("up").onclick = does(() => { state.folder = state.folder.replace(/\/[^/]*$/, "") || "/"; return listFiles(); });
$("choose").onclick = () => $("upload").click();
$("upload").onchange = does(async () => {
  for (const file of $("upload").files) await ask("PUT", fileAt(`${state.folder}/${file.name}`), file, "application/octet-stream");
  $("upload").value = "";
  await refresh();
});
const PICTURES = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };
async function bytes(path) { return (await ask("GET", fileAt(path))).blob(); }
async function open(path, size) {
  const kind = PICTURES[path.split(".").pop().toLowerCase()];
  let content, save = null;
  if (kind) {
    const address = URL.createObjectURL(new Blob([await bytes(path)], { type: kind }));
    content = element("img", { src: address, alt: path });
    content.onload = () => URL.revokeObjectURL(address);
  } else if (size <= 1 << 20) {
    content = element("textarea", { value: await (await bytes(path)).text(), spellcheck: false });
    content.setAttribute("aria-label", path);
    save = does(async () => { await tool("write_file", { path, content: content.value }); $("shown").close(); await refresh(); });
  } else content = element("p", { textContent: `${size} bytes` });
  show(path, content, save, does(async () => {
    const address = URL.createObjectURL(await bytes(path));
    element("a", { href: address, download: path.split("/").pop() }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }));
}
function show(title, content, save, fetched) {
  $("title").textContent = title;
  $("content").replaceChildren(content);
  for (const [id, act] of [["save", save], ["fetch", fetched]]) { $(id).hidden = !act; $(id).onclick = act; }
  $("shown").showModal();
}

// History.
async function listPast() {
  const past = await tool("history", { limit: 100 });
  $("past").replaceChildren(...past.commits.reverse().map((c) => {
    const text = `${c.number} ${c.command.split("\n")[0] || "begun"}`;
    return element("li", {}, element("button", { textContent: text, className: c.number === past.commit ? "now" : "", onclick: does(() => showDiff(c)) }),
      element("span", { className: "dim", textContent: c.changed_files ? `${c.changed_files} files` : "" }),
      element("button", { className: "small", textContent: "restore", onclick: does(() => move("restore", { commit: c.number })) }));
  }));
}
async function showDiff(commit) {
  const { diff } = await tool("history", { limit: 1, commit: commit.number });
  const kinds = { "+": "add", "-": "del", "@": "dim" };
  const lines = (diff || "no file was changed").split("\n").map((line) => element("span", { textContent: line + "\n", className: kinds[line[0]] || "" }));
  show(`commit ${commit.number}: ${commit.command}`, element("pre", {}, ...lines));
}
for (const name of ["undo", "redo"]) $(name).onclick = does(() => move(name));

// Tools.
$("tools").onclick = does(async () => show("Tools", await toolSettings(element, ask)));

$("enter").onsubmit = does(async () => {
  state.token = $("token").value || state.token;
  await listSessions();
  sessionStorage.setItem("token", state.token);
  $("token").value = "";
});
$("sessions").onchange = does(() => enter($("sessions").value));
$("new").onclick = does(async () => { const name = prompt("Name of the session", "work"); if (name) await make(name); });
$("remove").onclick = does(async () => {
  if (!state.session || !confirm(`Remove '${state.session}' with all its files?`)) return;
  terminals.leave();
  await ask("DELETE", here());
  state.session = null;
  for (const id of ["files", "past"]) $(id).replaceChildren();
  await listSessions();
});
if (state.token) does(listSessions)();
