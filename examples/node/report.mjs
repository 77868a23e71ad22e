// A report of a CSV file: the shell counts, Python draws, and the chart comes back as a PNG.
//
//     npm install wasibox wasibox-image
//     node report.mjs

import { Session } from "wasibox";

const session = await Session.create({ limits: { memory: "1G", timeout: 60 } });
try {
  await session.write("sales.csv", "region,amount\nnorth,10\nsouth,32\nnorth,5\n");

  const total = await session.exec("tail -n +2 sales.csv | cut -d, -f2 | paste -sd+ | bc");
  console.log(`total ${total.stdout.trim()}`);

  const sums = await session.python(`
import pandas as pd
sums = pd.read_csv("sales.csv").groupby("region").amount.sum()
sums.to_dict()`);
  console.log(sums.value);

  const drawn = await session.python(`
ax = sums.plot.bar()
ax.figure.savefig("chart.png")`);
  const chart = await session.read("chart.png");
  console.log(drawn.ok, Buffer.from(chart.subarray(1, 4)).toString());
} finally {
  await session.close();
}

// prints:
// total 47
// { north: 15, south: 32 }
// true PNG
