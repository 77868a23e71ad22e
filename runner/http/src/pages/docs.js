// Displays /openapi.json.
"use strict";
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
const METHODS = ["get", "put", "post", "delete"];
function schema(title, content) {
  const all = Object.entries(content || {}).filter(([, c]) => c.schema && c.schema.type !== "string");
  return all.map(([kind, c]) => element("div", {}, element("p", { textContent: `${title} (${kind})` }), element("pre", { textContent: JSON.stringify(c.schema, null, 1) })));
}
function operation(path, method, op) {
  const answers = Object.entries(op.responses).filter(([status]) => status < 300);
  return element("details", {},
    element("summary", {}, element("b", { textContent: method.toUpperCase() }), element("code", { textContent: path }), element("span", { className: "dim", textContent: `  ${op.summary}` })),
    element("p", { textContent: op.description || "" }),
    ...schema("Body", op.requestBody && op.requestBody.content),
    ...answers.flatMap(([status, answer]) => [element("p", { textContent: `${status}: ${answer.description}` }), ...schema("Answer", answer.content)]));
}
fetch("/openapi.json").then((answer) => answer.json()).then((all) => {
  document.getElementById("title").textContent = `${all.info.title} ${all.info.version}`;
  document.getElementById("about").textContent = all.info.description;
  for (const [path, item] of Object.entries(all.paths))
    for (const method of METHODS)
      if (item[method]) document.getElementById("paths").append(operation(path, method, item[method]));
});
