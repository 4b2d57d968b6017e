// Writes the declarations of a package, file by file as its sources are, so that editors show names, comments and modules as they were
// written. What a bundler makes of them has other names (`index_d_exports$1.Dense`) and no comments on the methods of tensors.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isolatedDeclarationSync } from 'rolldown/experimental';

const relativeImport = /(\bfrom |\bimport |\bimport\()(["'])(\.{1,2}\/[^"']*)\.ts\2/g;

/** Declarations of these files of `src`, and of all that they name, in `dist`. */
export function emitDeclarations(folder, entries) {
  const src = resolve(folder, 'src');
  const files = new Set(entries.map((entry) => resolve(folder, entry)));
  for (const file of files) {
    const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, 'utf8'), {});
    if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join(', ')}`);
    for (const [, , , path] of code.matchAll(relativeImport)) files.add(resolve(dirname(file), `${path}.ts`));
    const target = join(folder, 'dist', relative(src, file).replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(target), { recursive: true });
    // TypeScript knows `Disposable` by this library alone; programs need not name it in their settings then.
    const disposes = /\bDisposable\b|\bSymbol\.(d|asyncD)ispose\b/.test(code);
    const head = disposes ? '/// <reference lib="esnext.disposable" />\n' : '';
    writeFileSync(target, head + code.replace(relativeImport, '$1$2$3.js$2'));
  }
}
