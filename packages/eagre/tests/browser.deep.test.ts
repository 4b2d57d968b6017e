import { packages, sources } from '@eagre/testing';
import * as esbuild from 'esbuild';
import { expect, test } from 'vitest';

// Where it fails for a library that only Node can run: import it when it is needed, and have `"browser": { "<library>": false }` in the
// package.json of the package that does.
test('a bundle for browsers needs nothing of Node, no parser and no build tool', async () => {
  const { metafile, outputFiles } = await esbuild.build({
    stdin: { contents: "export * from 'eagre'", resolveDir: packages },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    outdir: '/out',
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [sources],
  });
  // Those that `browser` takes out stay there by name.
  const inputs = Object.keys(metafile.inputs).filter((file) => !file.startsWith('(disabled)'));
  expect(inputs.some((file) => file.endsWith('packages/core/src/tensor/tensor.ts'))).toBe(true);
  expect(inputs.filter((file) => /oxc|unplugin|node-hooks|\/tar\/|cli-progress\/lib/.test(file))).toEqual([]);
  expect(outputFiles.some(({ text }) => /\bfrom\s*"node:|\bimport\s*"node:/.test(text))).toBe(false);
  // Every program pays for these, on each start: others are imported when they are needed.
  expect(libraries(loadedAtOnce(metafile))).toEqual(['pako', 'pbf']);
});

/** The files in the bundle's first chunk and those that it imports statically. */
function loadedAtOnce({ outputs }: esbuild.Metafile): string[] {
  const first = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>');
  const chunks = new Set(first);
  for (const path of chunks)
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && next in outputs) chunks.add(next);
  return [...chunks].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

function libraries(files: readonly string[]): string[] {
  const names = files.map((file) => file.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
