/** What the documents say is what the program does. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { FaultKind } from "../../src/base/errors.js";
import { pipelineActions } from "../../src/cli/actions.js";
import { commands } from "../../src/cli/commands/index.js";
import { errorPage } from "../../src/cli/error-pages.js";
import { exitCode, exitMeanings, exitOfFault } from "../../src/cli/exit-code.js";
import { longName } from "../../src/cli/flag.js";
import { flags } from "../../src/cli/flags.js";
import { renderPassesMarkdown } from "../../src/report/passes.js";
import { command } from "./fake-io.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

describe("docs/passes.md", () => {
  it("has the table of passes as `infer-opt passes --markdown` prints it", async () => {
    const table = /<!-- passes:.*-->\n([\s\S]*?)<!-- \/passes -->/.exec(textOf("docs/passes.md"))?.[1];
    expect(table).toBe(renderPassesMarkdown(await pipelineActions.passes()));
  });
});

describe("README.md", () => {
  const readme = textOf("README.md");

  it("lists every command and no other", () => {
    const section = readme.slice(readme.indexOf("## Commands"), readme.indexOf("### Limits"));
    const listed = [...section.matchAll(/^\| `([a-z0-9]+)/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(commands.map(({ name }) => name).sort());
  });

  it("lists every exit code", () => {
    const section = readme.slice(readme.indexOf("## Exit codes"), readme.indexOf("## In CI"));
    const listed = [...section.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(listed).toEqual([...exitMeanings.keys()]);
  });

  it("says which commands end without a gain: the others have nothing to do and are done", () => {
    const row = /^\| 12 \|.*$/m.exec(readme)![0];
    const named = [...row.matchAll(/`([a-z0-9]+)`/g)].map(([, name]) => name!);
    const own = commands.filter(({ exits }) => exits.includes(exitCode.noGain)).map(({ name }) => name);
    expect(named.sort()).toEqual(own.sort());
  });
});

it("the workflow of the examples uses flags that the command has", () => {
  const text = textOf("examples/model-gate.yml");
  const used = [.../npx infer-opt gate[\s\S]*?> gate\.json/.exec(text)![0].matchAll(/ (--[\w-]+)/g)].map(
    ([, flag]) => flag!,
  );
  const known = commands.find(({ name }) => name === "gate")!.flags.map((name) => longName(flags[name]));
  expect(used.length).toBeGreaterThan(4);
  expect(used.filter((flag) => !known.includes(flag) && flag !== "--json")).toEqual([]);
});

it.each([
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
])("links of %s lead to files of the package", (path) => {
  const { files } = JSON.parse(textOf("package.json")) as { files: string[] };
  const links = [...textOf(path).matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => join(path, "..", link!));
  expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  expect(links.filter((link) => !files.some((file) => link === file || link.startsWith(`${file}/`)))).toEqual([]);
});

describe("docs/errors.md", () => {
  const page = textOf("docs/errors.md");
  const sections = new Map(
    [...page.matchAll(/^### ([A-Z_]+)\n\n([\s\S]*?)(?=^##)/gm)].map(([, code, text]) => [code!, text!] as const),
  );
  const findings = [...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code!);

  it("has a section, or a row among the findings, for every code of the sources and for no other", () => {
    const listed = [...page.matchAll(/^(?:### |\| `)([A-Z_]+)/gm)].map(([, code]) => code!);
    expect([...new Set(listed)]).toEqual(listed);
    expect([...sections.keys(), ...findings].sort()).toEqual([...codesOf("src")].sort());
  });

  it("tells of each what it means and a cure", () => {
    const poor = [...sections].filter(([, text]) => !/^Exit \d+: .+\.\n\nCure: [A-Z`].+\.\n\n$/.test(text));
    expect(poor).toEqual([]);
  });

  it("tells the exit code that the command ends with", () => {
    const wrong = kindsOf("src").filter(
      ({ code, kind }) => !sections.get(code)?.startsWith(`Exit ${exitOfFault[kind]}:`),
    );
    expect(wrong).toEqual([]);
  });

  it("is what `help CODE` prints", async () => {
    const { stdout, code } = await command(["help", "DATASET_KIND"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^DATASET_KIND\n\nExit 3: .*\n\nCure: Use an \.npz, .* docs\/data\.md\.\n$/);
    expect((await command(["help", "IDLE_NODES"])).stdout).toContain("nodes that do nothing");
    expect(await command(["help", "NO_SUCH_CODE"])).toMatchObject({ code: 2, stdout: "" });
    for (const each of [...sections.keys(), ...findings]) expect(errorPage(each)).toContain(each);
  });
});

/** Codes with the kind they are thrown with, where both stand side by side. */
function kindsOf(folder: string): { code: string; kind: FaultKind }[] {
  return sourcesOf(folder).flatMap((text) =>
    [...text.matchAll(/new InferOptError\(\s*"([A-Z_]+)",\s*"(usage|input|runtime|interrupted)"/g)].map(
      ([, code, kind]) => ({ code: code!, kind: kind as FaultKind }),
    ),
  );
}

/** Words that look like codes: environment variables. */
// The last stands for a path that the user has to fill in.
const others = new Set(["INFER_OPT_TMP", "NODE_OPTIONS", "NO_COLOR", "FORCE_COLOR", "FLOAT_MODEL"]);

const sourcesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => textOf(join(folder, file)));

function codesOf(folder: string): ReadonlySet<string> {
  const found = sourcesOf(folder).flatMap((text) =>
    [...text.matchAll(/"([A-Z]+(?:_[A-Z0-9]+)+|INTERNAL|INTERRUPTED)"/g)].map(([, code]) => code!),
  );
  return new Set(found.filter((code) => !others.has(code)));
}
