// The examples with which a visitor can begin.

const SALES = `month,region,sales
1,north,120
1,south,80
2,north,135
2,south,96
3,north,150
3,south,130
4,north,128
4,south,142
`;

export const EXAMPLES = [
  {
    title: 'Shell: count words',
    name: 'words.sh',
    text: `# The session's shell runs this; variables and functions stay for the terminal.
text='the cat and the dog and the bird'
printf '%s\\n' $text | sort | uniq -c | sort -rn | head -3
`,
  },
  {
    title: 'pandas: a table',
    name: 'table.py',
    files: { 'sales.csv': SALES },
    text: `import pandas as pd

sales = pd.read_csv("sales.csv")
by_region = sales.groupby("region").sales.agg(["sum", "mean", "max"]).reset_index()
by_region.to_dict("records")
`,
  },
  {
    title: 'matplotlib: a picture',
    name: 'picture.py',
    files: { 'sales.csv': SALES },
    text: `import matplotlib.pyplot as plt
import pandas as pd

sales = pd.read_csv("sales.csv").pivot(index="month", columns="region", values="sales")
sales.plot(kind="bar", title="Sales by month", figsize=(6, 3.5))
plt.tight_layout()
plt.savefig("sales.png")
`,
  },
  {
    title: 'JavaScript: files',
    name: 'files.js',
    text: `import { readdirSync, statSync } from 'node:fs';

readdirSync('.').map((name) => ({ name, bytes: statSync(name).size }));
`,
  },
  {
    title: 'awk and jq: logs',
    name: 'logs.sh',
    files: { 'log.jsonl': '{"path":"/","ms":12}\n{"path":"/api","ms":40}\n{"path":"/","ms":9}\n{"path":"/api","ms":61}\n' },
    text: `jq -r '[.path, .ms] | @tsv' log.jsonl |
  awk '{ n[$1]++; ms[$1] += $2 } END { for (p in n) printf "%-6s %d requests, %.1f ms\\n", p, n[p], ms[p] / n[p] }' | sort
`,
  },
];
