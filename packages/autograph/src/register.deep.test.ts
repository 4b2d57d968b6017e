import { createRequire } from 'node:module';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tsx, type Users, users } from './testing/programs.ts';

let at: Users;
beforeAll(async () => {
  at = await users((options) =>
    esbuild.build({ ...options, entryPoints: { ...options.entryPoints }, alias: { ...options.alias } }),
  );
});
afterAll(() => at.remove());

/** A program in which functions of two modules are converted. */
const program = (typed: boolean, ending: string): string => {
  const any = typed ? ': any' : '';
  return `import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import '@eagre/backend-js';
import { half } from './half${ending}';
export const collatz = tfFunction((n${any}) => {
  let steps${any} = constant(0, 'int32');
  while (n !== 1) {
    n = n % 2 === 0 ? half(n) : n * 3 + 1;
    steps += 1;
  }
  return steps;
});
console.log('steps', collatz(constant(27, 'int32')).item(), collatz.experimentalGetTracingCount());
`;
};
const half = (typed: boolean): string => `'use autograph';
export function half(n${typed ? ': any' : ''}) {
  if (n > 3) return n.floorDiv(2);
  return n.floorDiv(2);
}
`;
// Node 22.18 and newer.
const strips = Boolean((process.features as { typescript?: string | false }).typescript);

describe('Node with the hooks', () => {
  test('runs JavaScript converted, also without a type in package.json', () => {
    at.write({ 'a.js': program(false, '.js'), 'half.js': half(false) });
    expect(at.node(at.hooks, 'a.js')).toBe('steps 111 1\n');
    at.write({ 'sub/package.json': '{}', 'sub/a.mjs': program(false, '.mjs'), 'sub/half.mjs': half(false) });
    expect(at.node(at.hooks, 'sub/a.mjs')).toBe('steps 111 1\n');
  });

  test('runs TypeScript converted, behind it tsx', () => {
    at.write({ 'b.ts': program(true, '.js'), 'half.ts': half(true) });
    expect(at.node(at.hooks, tsx, 'b.ts')).toBe('steps 111 1\n');
    expect(at.node(at.hooks, at.hooks, tsx, 'b.ts')).toBe('steps 111 1\n');
  });

  test('converts methods under decorators and functions of enums in TypeScript, behind it tsx', () => {
    at.write({
      'c.ts': `import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import '@eagre/backend-js';
enum Sign { Minus = -1, Plus = 1 }
class Model {
  constructor(private readonly limit: number) {}
  @tfFunction
  call(x: any): any {
    if (x > this.limit) return x * Sign.Minus;
    return x * Sign.Plus;
  }
}
const model = new Model(2);
console.log(model.call(constant(3)).item(), model.call(constant(1)).item());
`,
    });
    expect(at.node(at.hooks, tsx, 'c.ts')).toBe('-3 1\n');
  });

  test('says what to do where tsx stands first', () => {
    at.write({ 'b.ts': program(true, '.js'), 'half.ts': half(true) });
    expect(at.node(tsx, at.hooks, 'b.ts')).toContain(
      'put --import eagre/register before other --import options',
    );
  });

  test.skipIf(strips)('says what to do where nothing takes types away', () => {
    at.write({ 'b.ts': program(true, '.ts'), 'half.ts': half(true) });
    expect(at.node(at.hooks, 'b.ts')).toMatch(/b\.ts: Node \S+ cannot run TypeScript.*--import tsx/);
  });

  test.runIf(strips)('runs TypeScript by itself', () => {
    at.write({ 'b.ts': program(true, '.ts'), 'half.ts': half(true) });
    expect(at.node(at.hooks, 'b.ts')).toContain('steps 111 1\n');
  });

  test('leaves packages, CommonJS and other modules as they are', () => {
    const shows = `export function f(x) { 'use autograph'; return x > 1 ? 1 : 2; }`;
    at.write({
      'node_modules/other/package.json': '{ "type": "module", "exports": "./index.js" }',
      'node_modules/other/index.js': shows,
      'plain.js': shows.replace("'use autograph'; ", ''),
      'common.cjs': 'module.exports = (x) => x > 1 ? 1 : 2; // eagre',
      'own.js': shows,
      'd.js': `import { f } from 'other';
import { f as plain } from './plain.js';
import { f as own } from './own.js';
import common from './common.cjs';
console.log([f, plain, own, common].map((g) => g.toString().includes('ag$')).join());
`,
    });
    expect(at.node(at.hooks, 'd.js')).toBe('false,false,true,false\n');
  });

  test('refuses CommonJS that asks to be converted', () => {
    at.write({
      'old/package.json': '{ "type": "commonjs" }',
      'old/a.js': `exports.f = function f(x) {\n  'use autograph';\n  return x > 1 ? 1 : 2;\n};\n`,
      'old.js': `import './old/a.js';\n`,
    });
    expect(at.node(at.hooks, 'old.js')).toMatch(/old[/\\]a\.js: 'use autograph' is for modules with import/);
  });

  test('names file, line and column of what cannot be converted', () => {
    at.write({
      'e.js': `import { tfFunction } from '@eagre/graph';\n\nexport const f = tfFunction(async () => 1);\n`,
    });
    expect(at.node(at.hooks, 'e.js')).toMatch(/AutographError.*e\.js:3:29: an async function/);
  });
});

const thrower = (typed: boolean): string => `import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import '@eagre/backend-js';
const any = (x${typed ? ': unknown' : ''})${typed ? ': any' : ''} => x;
function f(x${typed ? ': any' : ''}) {
  'use autograph';
  let i = any(constant(0));
  while (i < x) {
    if (
      i > 1
    ) {
      i += any(i)
        .missing(i);
    }
    i++;
  }
  return i;
}
try {
  console.log(process.argv[2] === 'eager' ? f(constant(5)) : tfFunction(f)(constant(5)));
} catch (error) {
  console.log(${typed ? '(error as Error)' : 'error'}.stack);
}
`;

describe('on other platforms', () => {
  const loop = (typed: boolean): string => `import { constant } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import '@eagre/backend-js';
const half = tfFunction((n${typed ? ': any' : ''}) => {
  while (n > 4) n = n.floorDiv(2);
  return n;
});
console.log('half', half(constant(27, 'int32')).item());
`;

  test('Bun, which has a plugin instead of hooks', () => {
    at.write({
      'h.js': loop(false),
      'h.ts': loop(true),
      'plain.js': 'export const one = 1;',
      'common.js': 'module.exports = 1; // not for eagre',
      'fake-bun.js': `globalThis.Bun = { gc() {}, plugin: ({ setup }) => setup({ onLoad: (how, load) => (globalThis.loads = { ...how, load }) }) };`,
      'bun.js': `import { writeFileSync } from 'node:fs';
const { filter, load } = globalThis.loads;
const at = (name) => new URL(name, import.meta.url).pathname;
console.log(['h.ts', 'h.cjs', 'node_modules/one/h.js'].map((name) => filter.test(at(name))).join());
console.log(load({ path: at('plain.js') }).contents);
try { load({ path: at('common.js') }); } catch ({ message }) { console.log(message.split(': ').at(-1)); }
const { contents, loader } = load({ path: at('h.js') });
writeFileSync(at('made.js'), contents);
console.log(loader, load({ path: at('h.ts') }).loader);
await import('./made.js');
`,
    });
    expect(at.node('--import', './fake-bun.js', at.hooks, 'bun.js')).toBe(
      'true,false,false\nexport const one = 1;\nwith eagre/register, Bun loads CommonJS only if it is named .cjs\njsx ts\nhalf 3\n',
    );
  });

  test('Deno, which names no formats and gives TypeScript without its types', () => {
    at.write({
      'h.ts': loop(true),
      'fake-deno.js': 'globalThis.Deno = {};',
      'deno.js': `import { writeFileSync } from 'node:fs';
const { loadSync } = await import(process.argv[2]);
const url = new URL('h.ts', import.meta.url).href;
const source = ${JSON.stringify(loop(false))};
const made = loadSync(url, {}, () => ({ format: undefined, source }));
writeFileSync(new URL('made.js', import.meta.url), made.source);
await import('./made.js');
`,
    });
    const hooks = at.hooks.replace('--import=', '').replace('register.js', 'node-hooks.js');
    expect(at.node('--import', './fake-deno.js', 'deno.js', hooks)).toBe('half 3\n');
  });
});

describe.each(['eager', 'traced'])('stacks and breakpoints, %s:', (mode) => {
  test.each(['js', ...(strips ? ['ts'] : []), 'tsx'])(
    'an error in a loop is at its line and column, %s',
    (how) => {
      const typed = how !== 'js';
      const file = typed ? 'f.ts' : 'f.js';
      at.write({ [file]: thrower(typed) });
      const loader = how === 'tsx' ? [tsx] : [];
      const shown = at.node('--enable-source-maps', at.hooks, ...loader, file, mode);
      expect(shown).toContain('missing is not a function');
      const [first = ''] = shown.split('\n').filter((line) => line.includes(`/${file}`));
      expect(first).toMatch(/\/f\.[jt]s:13:10\)?$/);
    },
  );

  // In a graph, the condition of a loop belongs to the call for the whole loop.
  test.each([
    [8, mode === 'eager' ? 9 : 2],
    [10, 6],
    [12, 6],
    [15, 4],
    [17, 2],
  ])('a breakpoint in line %i stops there', (line, column) => {
    at.write({
      'g.js': `${thrower(false)
        .replace(/try \{[\s\S]*/, '')
        .replace('.missing(i)', '.mul(0)')}
export const run = () => process.argv[3] === 'eager' ? f(constant(5)) : tfFunction(f)(constant(5));
`,
      'debug.js': debug(createRequire(import.meta.url).resolve('@jridgewell/trace-mapping')),
    });
    expect(at.node(at.hooks, 'debug.js', String(line), mode)).toContain(`stopped at ${line}:${column}\n`);
  });
});

/** A program that runs `g.js` while another thread debugs it: sets a breakpoint in a line of the source, says where it stops. */
const debug = (tracing: string): string => `import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { workerData: Number(process.argv[2]) });
  const next = () => new Promise((resolve) => worker.once('message', resolve));
  await next();
  const { run } = await import('./g.js');
  worker.postMessage('imported');
  await next();
  run();
  worker.terminate();
} else {
  const { allGeneratedPositionsFor, generatedPositionFor, LEAST_UPPER_BOUND, originalPositionFor, TraceMap } =
    createRequire(import.meta.url)(${JSON.stringify(tracing)});
  // The session alone does not keep this thread.
  setInterval(() => {}, 100);
  const session = new Session();
  session.connectToMainThread();
  let script, map;
  session.on('Debugger.scriptParsed', ({ params }) => {
    if (!params.url.endsWith('/g.js')) return;
    script = params;
    map = new TraceMap(Buffer.from(params.sourceMapURL.split(',')[1], 'base64').toString());
  });
  let stops = 0;
  session.on('Debugger.paused', ({ params }) => {
    const { lineNumber, columnNumber } = params.callFrames[0].location;
    const { line, column } = originalPositionFor(map, { line: lineNumber + 1, column: columnNumber });
    if (stops++ === 0) console.log('stopped at ' + line + ':' + column);
    session.post('Debugger.resume');
  });
  await session.post('Debugger.enable');
  parentPort.postMessage('ready');
  await new Promise((resolve) => parentPort.once('message', resolve));
  // As debuggers do it: the first place in the line, wherever it went.
  const source = map.sources[0];
  const wanted = { source, line: workerData, column: 0, bias: LEAST_UPPER_BOUND };
  const { line, column } = generatedPositionFor(map, wanted);
  const first = originalPositionFor(map, { line, column });
  for (const to of allGeneratedPositionsFor(map, { source, line: first.line, column: first.column })) {
    await session
      .post('Debugger.setBreakpointByUrl', { url: script.url, lineNumber: to.line - 1, columnNumber: to.column })
      .catch(() => {});
  }
  parentPort.postMessage('set');
}
`;
