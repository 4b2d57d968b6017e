// The programs of docs/browser.md that only pages can run do what they say, in headless Chromium.
import { readFileSync } from 'node:fs';
import { browserPath, hasWasmModule, openPage, type TestPage } from '@eagre/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const guide = readFileSync(new URL('../../../docs/browser.md', import.meta.url), 'utf8');
const programs = guide
  .split(/^```javascript\n/m)
  .slice(1)
  .map((text) => (text.split('\n```')[0] as string).replace(/^import .*$/gm, ''));
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="#f00"/></svg>';

describe.skipIf(browserPath === undefined)('the guide about pages', () => {
  let open: TestPage;
  beforeAll(async () => {
    const program = `import * as tf from 'eagre';
    import { openWasm } from '@eagre/backend-wasm';
    globalThis.tf = tf;
    if (${hasWasmModule}) await openWasm({ module: '/eagre.wasm' });`;
    open = await openPage(program, {
      routes: {
        '/picture.svg': (_, response) => {
          response.writeHead(200, { 'content-type': 'image/svg+xml' });
          response.end(svg);
        },
      },
    });
  });
  afterAll(async () => {
    await open?.close();
    expect(open?.problems).toEqual([]);
  });

  test.each(programs)('%s', async (program) => {
    const checked = program.replace(/^(?:const (\w+) = )?(.*); \/\/ → (.*)$/gm, (_, name, given, result) =>
      name === undefined
        ? `found.push([shown(${given}), ${JSON.stringify(result)}]);`
        : `const ${name} = ${given}; found.push([shown(${name}), ${JSON.stringify(result)}]);`,
    );
    const found = await open.run<readonly [string, string][]>(`
      document.body.innerHTML = '<img src="/picture.svg"><canvas></canvas><video></video><input type="file">';
      const found = [];
      const shown = (x) => (x instanceof tf.Tensor ? shown(x.array()) : Array.isArray(x) ? '[' + x.map(shown).join(', ') + ']' : String(x));
      ${checked}
      return found;`);
    expect(found.length).toBeGreaterThan(0);
    for (const [is, said] of found) expect(is).toBe(said);
  });
});
