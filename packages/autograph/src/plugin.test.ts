import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, test } from 'vitest';
import { plugin } from './plugin.ts';

const source = `import * as tf from 'eagre';
export const f = tf.function((x: tf.Tensor): tf.Tensor => {
  if (x.greater(0)) return x;
  return x.neg();
});
`;

test('a build converts marked functions, and keeps where they come from', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-plugin-'));
  try {
    const entry = join(folder, 'main.ts');
    writeFileSync(entry, source);
    const result = await build({
      configFile: false,
      logLevel: 'silent',
      plugins: [plugin()],
      build: {
        write: false,
        minify: false,
        sourcemap: true,
        lib: { entry, formats: ['es'] },
        rollupOptions: { external: ['eagre', 'eagre/internal'] },
      },
    });
    const [output] = Array.isArray(result) ? result : [];
    const chunk = output?.output[0];
    expect(chunk?.code).toContain('.ifStmt(x.greater(0)');
    expect(chunk?.code).toContain('from "eagre/internal"');
    expect(chunk?.map?.sourcesContent).toEqual([source]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('other modules stay as they are', () => {
  const { transform } = plugin();
  expect(transform(source, '/a/node_modules/b/main.ts')).toBeNull();
  expect(transform('export const x = 1;', '/a/main.ts')).toBeNull();
  expect(transform(source, '/a/style.css')).toBeNull();
  expect(transform(source, '/a/main.ts?x=1')?.code).toContain('ifStmt');
});
