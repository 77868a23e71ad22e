// `cases.cjs IMAGE` runs cases through the package for Node that is installed in the working
// folder. It reads requests from standard input, each a line of JSON, and writes [status, output,
// errors] for each.
const { createInterface } = require("node:readline");
const { createRequire } = require("node:module");
const { Engine, Session } = createRequire(`${process.cwd()}/`)("wasibox");

async function run(engine, { setup, script, options }) {
  const session = await Session.create({ engine });
  try {
    await session.exec(setup);
    const { exitCode, stdout, stderr } = await session.exec(script, options);
    return [exitCode, stdout, stderr];
  } catch (error) {
    return [null, "", String(error)];
  } finally {
    await session.close();
  }
}

async function main() {
  const engine = await Engine.open({ image: process.argv[2] });
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await run(engine, JSON.parse(line))));
  }
}

main();
