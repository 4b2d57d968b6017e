// Writes the declarations of a package, file by file as its sources are, so that editors show names, comments and modules as they were
// written. What a bundler makes of them has other names (`index_d_exports$1.Dense`) and no comments on the methods of tensors.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  isolatedDeclarations: true,
};

/** Declarations of these files of `src`, and of all that they name, in `dist`. */
export function emitDeclarations(folder, entries) {
  const src = resolve(folder, 'src');
  const files = new Set(entries.map((entry) => resolve(folder, entry)));
  for (const file of files) {
    const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
      fileName: file,
      reportDiagnostics: true,
      compilerOptions,
    });
    const found = diagnostics.map((one) => ts.flattenDiagnosticMessageText(one.messageText, '\n'));
    if (found.length > 0) throw new Error(`${file}: ${found.join('\n')}`);
    for (const { fileName } of ts.preProcessFile(outputText, true, true).importedFiles)
      if (fileName.startsWith('.')) files.add(resolve(dirname(file), fileName));
    const target = join(folder, 'dist', relative(src, file).replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, published(outputText));
  }
}

function published(text) {
  // TypeScript knows `Disposable` by this library alone; programs need not name it in their settings then.
  const head = /\bDisposable\b|\bSymbol\.(async)?[dD]ispose\b/.test(text)
    ? '/// <reference lib="esnext.disposable" />\n'
    : '';
  return head + text.replace(/((?:from|import|module) ?\(?)(['"])(\.{1,2}\/[^'"]*)\.ts\2/g, '$1$2$3.js$2');
}
