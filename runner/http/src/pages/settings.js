// The settings of tools: which are on, and a form for those that have settings. A key is sent to the
// server once and never comes back.

/// Returns the list of all tools by category. `element` makes elements, `ask` sends requests.
export async function toolSettings(element, ask) {
  const { tools } = await (await ask("GET", "/v1/tools/settings")).json();
  const list = element("div", { className: "tools" });
  const categories = [...new Set(tools.map((tool) => tool.category))].sort((a, b) => (b === "web") - (a === "web"));
  for (const category of categories) {
    list.append(element("h3", { textContent: category }));
    for (const tool of tools.filter((one) => one.category === category)) list.append(toolRow(element, ask, tool));
  }
  return list;
}

const at = (tool, rest = "") => `/v1/tools/settings/${encodeURIComponent(tool.id)}${rest}`;

function toolRow(element, ask, tool) {
  const row = element("div");
  const note = element("span", { className: "problem" });
  note.setAttribute("role", "status");
  const check = element("input", { type: "checkbox", checked: tool.enabled });
  const say = (now) => { note.textContent = now.enabled && now.problem ? now.problem : ""; check.checked = now.enabled; };
  const change = async (body) => {
    try {
      const { tool: now, keyRemoved } = await (await ask("PUT", at(tool), body)).json();
      say(now);
      if (keyRemoved) note.textContent = "The key was removed, because it was meant for another server.";
      return now;
    } catch (e) { note.textContent = e.message; check.checked = tool.enabled; return null; }
  };
  check.onchange = async () => { const now = await change({ enabled: check.checked }); if (now) tool = now; };
  const name = element("label", { className: "switch" }, check, element("code", { textContent: tool.id }), element("span", { className: "dim", textContent: tool.title }));
  row.append(name, note);
  if (Object.keys(tool.schema.properties).length > 0) row.append(settingsForm(element, ask, tool, change));
  say(tool);
  return row;
}

function settingsForm(element, ask, tool, change) {
  const form = element("form");
  const inputs = {};
  for (const [name, schema] of Object.entries(tool.schema.properties)) {
    const id = `${tool.id}-${name}`;
    const input = inputs[name] = fieldFor(element, schema, tool.settings[name]);
    input.id = id;
    form.append(element("label", { htmlFor: id, textContent: name }), input, element("small", { textContent: schema.description }));
  }
  const shown = element("pre");
  const save = element("button", { textContent: "Save" });
  const buttons = element("div", { className: "wide" }, save);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const settings = {};
    for (const [name, schema] of Object.entries(tool.schema.properties)) {
      const value = inputs[name].value.trim();
      const before = schema.writeOnly ? "" : `${tool.settings[name] ?? ""}`;
      if (value !== before) settings[name] = value === "" ? null : schema.type === "integer" ? Number(value) : value;
    }
    const now = await change({ settings });
    if (!now) return;
    tool.settings = now.settings;
    for (const [name, schema] of Object.entries(tool.schema.properties)) if (schema.writeOnly) {
      inputs[name].value = "";
      inputs[name].placeholder = now.settings[name] ? "set; not shown" : "";
    }
  };
  if (tool.category === "web") {
    const test = element("button", { type: "button", textContent: "Test" });
    const input = element("input", { placeholder: "what to ask; an example if empty", style: "flex: 1" });
    input.setAttribute("aria-label", `what to ask ${tool.id}`);
    test.onclick = async () => {
      test.disabled = true;
      shown.className = "dim";
      shown.textContent = "asking…";
      try {
        const body = input.value.trim() ? { input: input.value.trim() } : {};
        const { text } = await (await ask("POST", at(tool, "/test"), body)).json();
        shown.className = "";
        shown.textContent = text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
      } catch (e) { shown.className = "problem"; shown.textContent = e.message; }
      test.disabled = false;
    };
    buttons.append(test, input);
  }
  form.append(buttons);
  const whole = element("div", {}, form, shown);
  return whole;
}

function fieldFor(element, schema, value) {
  if (schema.enum) {
    const options = ["", ...schema.enum].map((one) => element("option", { value: one, textContent: one || (schema.default ?? "—") }));
    const select = element("select", {}, ...options);
    select.value = value ?? "";
    return select;
  }
  if (schema.writeOnly) return element("input", { type: "password", autocomplete: "off", placeholder: value ? "set; not shown" : "" });
  const input = element("input", { type: schema.type === "integer" ? "number" : "text", value: value ?? "", placeholder: schema.default ?? "" });
  if (schema.type === "integer") { input.min = schema.minimum; input.max = schema.maximum; }
  return input;
}
