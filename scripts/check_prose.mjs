// Check the English of what people read: the texts of scripts/prose_texts.py, on stdin, with Harper.
// `make prose` runs it. Exit 1 on a finding, 2 where harper.js is not installed.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.env.HARPER ?? join(here, "..", "build", "extras", "node_modules", "harper.js");
const listed = (name) =>
  readFileSync(join(here, name), "utf8").split("\n").filter((line) => line && !line.startsWith("#"));

async function load(file) {
  try {
    return await import(pathToFileURL(join(folder, "dist", file)).href);
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.error(`harper.js is not in ${folder}: npm install --no-save --no-package-lock --prefix build/extras harper.js`);
    process.exit(2);
  }
}

const { LocalLinter, Dialect } = await load("index.js");
const { binaryInlined } = await load("binaryInlined.js");
const linter = new LocalLinter({ binary: binaryInlined, dialect: Dialect.British });
await linter.setup();

const off = Object.fromEntries(listed("prose_rules_off.txt").map((line) => [line.split(":")[0].trim(), false]));
const known = Object.keys(await linter.getLintConfig());
const unknown = Object.keys(off).filter((rule) => !known.includes(rule));
if (unknown.length) {
  console.error(`scripts/prose_rules_off.txt names rules that Harper does not have: ${unknown.join(", ")}`);
  process.exit(2);
}
await linter.setLintConfig({ ...(await linter.getLintConfig()), ...off });
await linter.importWords(listed("prose_words.txt"));

let found = 0;
for (const { where, text } of JSON.parse(readFileSync(0, "utf8"))) {
  const byRule = await linter.organizedLints(text, { language: "markdown" });
  for (const [rule, lints] of Object.entries(byRule)) {
    for (const lint of lints) {
      const { start, end } = lint.span();
      const around = [...text].slice(Math.max(0, start - 40), end + 30).join("").replaceAll("\n", " ");
      const line = [...text].slice(0, start).filter((letter) => letter === "\n").length + 1;
      console.log(`${where}:${line}: ${rule}: “${lint.get_problem_text().replaceAll("\n", " ")}” in “${around}”: ${lint.message()}`);
      found += 1;
    }
  }
}
console.log(`${found} findings`);
process.exit(found ? 1 : 0);
