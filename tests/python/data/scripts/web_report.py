"""Checks a configuration by its schema and writes a report in HTML from a template."""

import base64
import io
import json

import jinja2
import jsonschema
import markdown
import matplotlib.pyplot as plt
import pandas as pd
import yaml

schema = {
    "type": "object",
    "required": ["title", "sections"],
    "properties": {
        "title": {"type": "string", "minLength": 3},
        "sections": {"type": "array", "items": {"type": "object", "required": ["name", "values"]}},
        "limit": {"type": "number", "exclusiveMinimum": 0},
    },
}
config = yaml.safe_load(
    "title: Weekly\nlimit: 2.5\nsections:\n- {name: north, values: [1, 2.5, 4]}\n- {name: south, values: [3, 0.5, 2]}\n"
)
jsonschema.validate(config, schema)
broken = dict(config, limit=0, title="x")
for error in sorted(jsonschema.Draft202012Validator(schema).iter_errors(broken), key=lambda e: list(e.path)):
    print(list(error.path), error.message)

frame = pd.DataFrame({s["name"]: s["values"] for s in config["sections"]})
summary = frame.agg(["mean", "std", "max"])
fig, ax = plt.subplots(figsize=(3, 2))
frame.plot(ax=ax)
picture = io.BytesIO()
fig.savefig(picture, format="svg")
template = jinja2.Environment(autoescape=True).from_string(
    """<h1>{{ title }}</h1>
{%- for name, column in table.items() %}
<section id="{{ name }}"{% if column['max'] > limit %} class="over"{% endif %}>{{ '%.4f' | format(column['mean']) }}</section>
{%- endfor %}
<p>{{ text }}</p>{{ body | safe }}"""
)
body = markdown.markdown("# Notes\n\n| a | b |\n|---|---|\n| 1 | *2* |\n", extensions=["tables"])
page = template.render(title=config["title"], table=summary.to_dict(), limit=config["limit"], text="<b>&", body=body)
print(page)
svg = picture.getvalue().decode()
print(svg.startswith("<?xml"), svg.count("<path") > 10, len(base64.b64encode(picture.getvalue())) > 1000)
print(json.dumps(json.loads(summary.to_json()), sort_keys=True))
