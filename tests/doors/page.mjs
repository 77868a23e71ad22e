// Tests the built-in pages in Chromium: page.mjs RUNNER IMAGE [PICTURES]. WASIBOX_NODE_MODULES is
// the folder with the packages of package.json, and CHROMIUM is the browser. If PICTURES is given,
// screenshots are written to that folder.
//
// The test does what a person does: opens a session, runs commands, edits a file, looks at a diff
// and a picture, and undoes a call.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(join(process.env.WASIBOX_NODE_MODULES, "of-these.js"))("playwright-core");
const [runner, image, pictures] = process.argv.slice(2);
const TOKEN = "a-token-of-the-page";
// This is long enough for a busy machine.
const LONG = { timeout: 60_000 };

async function served(folder) {
  const tokens = join(folder, "tokens.toml");
  writeFileSync(tokens, `[[token]]\nname = "page"\ntoken = "${TOKEN}"\n`);
  const args = ["serve", "--image", image, "--listen", "127.0.0.1:0", "--token-file", tokens, "--store", join(folder, "w.wbx")];
  const server = spawn(runner, args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  for await (const [piece] of on(server.stderr, "data", { close: ["end"] })) {
    log += piece;
    const address = /127\.0\.0\.1:[1-9]\d*/.exec(log);
    if (address) {
      // Later output is read and discarded, so that the pipe never fills up.
      server.stderr.resume();
      return { server, address: `http://${address[0]}` };
    }
  }
  throw new Error(`the server has ended: ${log}`);
}

async function drive(page, address, snap) {
  const problems = [];
  page.on("pageerror", (e) => problems.push(String(e)));
  page.on("console", (m) => m.type() === "error" && problems.push(m.text()));
  page.on("request", (r) => assert.ok(r.url().startsWith(address) || r.url().startsWith("blob:"), r.url()));
  await page.goto(address);
  await page.getByLabel("token").fill(TOKEN);
  await page.getByRole("button", { name: "Open" }).click();
  page.once("dialog", (dialog) => dialog.accept("work"));
  await page.getByRole("button", { name: "New" }).click();
  await page.waitForFunction(() => document.querySelector("#sessions").value === "work", null, LONG);

  const screen = page.locator("#screen");
  const command = page.getByLabel("command");
  const idle = () => page.locator("#prompt", { hasText: "$" }).waitFor(LONG);
  const run = async (text, shows) => {
    await command.fill(text);
    await command.press("Enter");
    await screen.getByText(shows, { exact: true }).first().waitFor(LONG);
    await idle();
  };
  await run("seq 3 | paste -sd+ | bc; printf 'one<b>\\ntwo\\n' > a.txt", "6");

  // This program reads what is typed.
  await command.fill("read line; echo got:$line");
  await command.press("Enter");
  await page.locator("#stop").waitFor(LONG);
  await command.fill("typed");
  await command.press("Enter");
  await screen.getByText("got:typed").waitFor(LONG);
  await idle();
  await snap("terminal");

  // A file is changed in the page.
  const file = (name) => page.locator("#files").getByRole("button", { name, exact: true });
  await file("a.txt").waitFor(LONG);
  await file("a.txt").click();
  const text = page.getByLabel("/home/user/a.txt");
  assert.equal(await text.inputValue(), "one<b>\ntwo\n");
  await text.fill("one<b>\nthree\n");
  await snap("file");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("#shown").waitFor({ state: "hidden", ...LONG });

  // The diff of the change is shown.
  const commits = page.locator("#past li");
  await page.waitForFunction(() => document.querySelectorAll("#past li").length >= 4, null, LONG);
  await commits.first().getByRole("button").first().click();
  await page.locator("#content .add", { hasText: "+three" }).waitFor(LONG);
  await page.locator("#content .del", { hasText: "-two" }).waitFor(LONG);
  await snap("diff");
  await page.getByRole("button", { name: "Close" }).click();

  // The change is undone.
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator("#past li").nth(1).locator(".now").waitFor(LONG);
  await run("cat a.txt", "one<b>\ntwo\n");

  // A picture is shown.
  await run("python3 -c \"from PIL import Image; Image.new('RGB', (120, 80), 'teal').save('p.png')\"; echo made", "made\n");
  await file("p.png").waitFor(LONG);
  await file("p.png").click();
  await page.waitForFunction(() => document.querySelector("#content img")?.naturalWidth === 120, null, LONG);
  await snap("picture");
  await page.getByRole("button", { name: "Close" }).click();

  // The output of a command is shown as text.
  await run("echo '<img src=x onerror=alert(1)>'", "<img src=x onerror=alert(1)>\n");
  assert.equal(await page.locator("#screen img").count(), 0);

  await page.goto(`${address}/docs`);
  await page.getByText("/v1/sessions").first().waitFor(LONG);
  await snap("docs");
  assert.deepEqual(problems, []);
}

const folder = mkdtempSync(join(tmpdir(), "page-"));
const { server, address } = await served(folder);
let browser;
try {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  // Chromium's own sandbox does not work for root, and this test opens only pages of its own.
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(LONG.timeout);
  const snap = async (name) => pictures && (await page.screenshot({ path: join(pictures, `${name}.png`) }));
  await drive(page, address, snap);
  console.log("the page: done");
} finally {
  await browser?.close();
  server.kill("SIGKILL");
  await once(server, "exit");
  rmSync(folder, { recursive: true });
}
