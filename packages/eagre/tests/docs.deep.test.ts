// Every fenced example of the guides and the README does what it says: docs/autograph.md tells how outcomes are written.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { convert } from '@eagre/autograph';
import * as helpers from '@eagre/autograph/internal';
import { transformSync } from 'esbuild';
import ts from 'typescript';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';
import { declarations, pictures, prepare, values } from './testing/docs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const pages = [
  'README',
  'docs/tutorial/1-tensors',
  'docs/tutorial/2-gradients',
  'docs/tutorial/3-model',
  'docs/tutorial/4-data',
  'docs/tutorial/5-training',
  'docs/tutorial/6-saving',
  'docs/tutorial/7-serving',
  'docs/tutorial/8-deploying',
  'docs/install',
  'docs/browser',
  'docs/autograph',
  'docs/function',
  'docs/sessions',
  'docs/data',
  'docs/data-files',
  'docs/datasets',
  'docs/devices',
  'docs/mixed-precision',
  'docs/distribution',
  'docs/distribution-multi-worker',
  'docs/distribution-parameter-servers',
  'docs/strings',
  'docs/checkpoint',
  'docs/ragged-and-sparse',
  'docs/saving-models',
  'docs/saved-models',
  'docs/summary',
  'docs/onnx',
  'docs/hugging-face',
  'docs/serving',
  'docs/signals-and-matrices',
  'docs/math',
  'docs/random',
  'docs/extension-types',
  'docs/from-tensorflow',
  'docs/from-pytorch',
  'docs/from-numpy',
  'docs/from-tensorflow-js',
  ...readdirSync(`${root}docs/api`)
    .sort()
    .map((name) => `docs/api/${name.replace('.md', '')}`),
];

interface Example {
  readonly page: string;
  /** Of its first line. */
  readonly line: number;
  readonly language: 'ts' | 'js';
  readonly code: string;
}

function examplesOf(page: string): Example[] {
  const lines = readFileSync(`${root}${page}.md`, 'utf8').split('\n');
  const out: Example[] = [];
  for (let i = 0; i < lines.length; i++) {
    const language = /^```(ts|js)$/.exec(lines[i] as string)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', i + 1);
    out.push({ page, line: i + 2, language: language as 'ts', code: lines.slice(i + 1, end).join('\n') });
    i = end;
  }
  return out;
}

const examples = pages.flatMap(examplesOf);
const nameOf = ({ page, line, language }: Example): string => `${page}-${line}.${language}`;
const sourceOf = ({ code }: Example): string =>
  code.includes("from 'eagre'") ? code : `import * as tf from 'eagre';\n${code}`;

/** What an example says comes of its lines, as checks. */
function checked(source: string): string {
  return source
    .split('\n')
    .map((line) => {
      const gives = /^(?:const (\w+) = )?(?:console\.log\((.*)\)|(.*?));? \/\/ → (.*)$/.exec(line);
      if (gives !== null) {
        const [, name, printed, other, value] = gives as unknown as readonly string[];
        const expression = printed ?? other;
        const check = (of: string): string => `check$(${of}, ${JSON.stringify(value)});`;
        return name === undefined
          ? check(expression as string)
          : `const ${name} = ${expression}; ${check(name)}`;
      }
      const throws = /^(.*?);? \/\/ throws: (.*)$/.exec(line);
      return throws === null ? line : `refuses$(() => ${throws[1]}, ${JSON.stringify(throws[2])});`;
    })
    .join('\n');
}

/** As it stands behind an arrow. */
function text(value: unknown): string {
  if (value instanceof tf.Tensor || value instanceof tf.Variable) return text(value.array());
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`;
  return typeof value === 'number' ? `${Number(value.toPrecision(6))}` : String(value);
}

const AsyncFunction = (async () => {}).constructor as typeof Function;

/** The file that an example stands for, if its first line names one: others read it. */
const fileOf = ({ code }: Example): string | undefined => /^\/\/ (\S+\.js)\n/.exec(code)?.[1];

async function run(example: Example): Promise<number> {
  let checks = 0;
  const source = sourceOf(example);
  const refused = /^\/\/ refused: (.*)$/m.exec(example.code)?.[1];
  if (refused !== undefined) {
    expect(() => convert(source, { filename: nameOf(example) })).toThrow(refused);
    return 1;
  }
  const { code } = convert(checked(source), { filename: nameOf(example) });
  const helper = /^import \* as (ag\$+) from/m.exec(code)?.[1] ?? 'ag$';
  const plain = transformSync(code, { loader: example.language, target: 'es2022' }).code;
  const here = JSON.stringify(`${pathToFileURL(folder)}/`);
  const body = plain
    .replace(/^import .*$/gm, '')
    .replace(/^export /gm, '')
    .replaceAll('import.meta.url', here);
  const scope = {
    ...values[example.page],
    tf,
    [helper]: helpers,
    check$(value: unknown, expected: string) {
      checks++;
      expect(text(value)).toBe(expected);
    },
    refuses$(fn: () => unknown, message: string) {
      checks++;
      expect(fn).toThrow(message);
    },
  };
  await new AsyncFunction(...Object.keys(scope), body)(...Object.values(scope));
  return checks;
}

let folder: string;
const before = process.cwd();
beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  folder = mkdtempSync(join(tmpdir(), 'eagre-docs-'));
  process.chdir(folder);
  prepare(folder);
  vi.spyOn(tf.keras.datasets.cifar10, 'loadData').mockResolvedValue([pictures(500), pictures(100)]);
  for (const example of examples) {
    const name = fileOf(example);
    if (name !== undefined) writeFileSync(join(folder, name), example.code);
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => {
  vi.restoreAllMocks();
  process.chdir(before);
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  tf.compat.v1.enableEagerExecution();
  tf.summary.experimental.setStep(null);
});

test.each(pages)('%s.md has examples', (page) => {
  expect(examples.filter((e) => e.page === page).length).toBeGreaterThan(0);
});

describe('examples do what they say', () => {
  test.each(examples.map((e) => [nameOf(e), e] as const))('%s', async (_, example) => {
    // A file for others, and pictures for people, have no outcome.
    const shows = fileOf(example) !== undefined || example.code.includes('contactSheet(');
    expect(await run(example)).toBeGreaterThanOrEqual(example.page === 'README' || shows ? 0 : 1);
  });
});

test('the examples of docs/summary.md have written what they say', () => {
  const events = [...tf.summary.readEvents(join(folder, 'logs'))];
  const steps = (tag: string): unknown[] =>
    events.flatMap((e) => (e.kind === 'scalar' && e.tag === tag ? [Number(e.step)] : []));
  expect(steps('loss')).toEqual([0, 100, 200, 1, 7]);
  expect(steps('often')).toEqual([10, 20, 30]);
  expect(steps('traced/loss')).toEqual([0, 1, 2]);
  expect(steps('batch_loss')).toEqual([1, 2]);
  expect(new Set(events.map((e) => e.run))).toEqual(
    new Set(['run1', 'run2', 'search', 'search/16', 'search/32', 'keras/train']),
  );
});

test('their types are right', () => {
  const files = new Map(
    examples
      .filter((e) => e.language === 'ts')
      .map((e) => [root + nameOf(e), `${sourceOf(e)}\n${declarations[e.page] ?? ''}\nexport {};\n`]),
  );
  const { config } = ts.readConfigFile(`${root}packages/eagre/tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, `${root}packages/eagre`);
  const paths = { ...options.paths, eagre: [`${root}packages/eagre/src/index.ts`] };
  const settings = {
    ...options,
    paths,
    noEmit: true,
    composite: false,
    incremental: false,
    noUnusedLocals: false,
  };
  const host = ts.createCompilerHost(settings);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const source = files.get(name);
    return source === undefined
      ? getSourceFile(name, languageVersion, ...rest)
      : ts.createSourceFile(name, source, languageVersion, true);
  };
  const program = ts.createProgram([...files.keys()], settings, host);
  const errors = [...files.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map((d) => {
      const at = d.file?.getLineAndCharacterOfPosition(d.start ?? 0).line ?? 0;
      return `${name}, line ${at} of the example: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
    });
  });
  expect(errors).toEqual([]);
});
