// What TypeScript knows of the public declarations: which symbols there are, what is said of them, and where options are written.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const umbrella = `${root}packages/eagre/src/index.ts`;

/** Entry points that users import, by the name of their module, the umbrella first. Those called internal are for other packages. */
function entriesOfPackages(): Map<string, string> {
  const found = new Map([['eagre', umbrella]]);
  for (const folder of readdirSync(`${root}packages`)) {
    const { name, exports, ...rest } = JSON.parse(
      readFileSync(`${root}packages/${folder}/package.json`, 'utf8'),
    );
    if (rest.private === true) continue;
    for (const [path, target] of Object.entries<{ readonly types?: string }>(exports ?? {})) {
      const source = /^\.\/dist\/(.*)\.d\.ts$/.exec(target?.types ?? '')?.[1];
      const file = `${root}packages/${folder}/src/${source}.ts`;
      if (source !== undefined && path !== './internal' && existsSync(file))
        found.set(name + path.slice(1), file);
    }
  }
  return found;
}

/** The program as an editor has it: one file of a user's, and the sources of all packages. */
export class Editor {
  readonly #file = `${root}packages/eagre/written-by-a-user.ts`;
  readonly #entries = entriesOfPackages();
  #text: string;
  #version = 0;
  readonly #service: ts.LanguageService;

  constructor() {
    this.#text = [...this.#entries.values()].map((file) => `import ${JSON.stringify(file)};\n`).join('');
    const { config } = ts.readConfigFile(`${root}tsconfig.base.json`, ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, root);
    const settings = {
      ...options,
      noEmit: true,
      composite: false,
      emitDeclarationOnly: false,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: false,
      paths: { ...options.paths, eagre: [umbrella] },
    };
    const own = (name: string): boolean => name === this.#file;
    this.#service = ts.createLanguageService({
      fileExists: (name) => own(name) || ts.sys.fileExists(name),
      readFile: ts.sys.readFile,
      directoryExists: ts.sys.directoryExists,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getScriptFileNames: () => [this.#file],
      getScriptVersion: (name) => (own(name) ? String(this.#version) : '0'),
      getScriptSnapshot: (name) => {
        const text = own(name) ? this.#text : ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCompilationSettings: () => settings,
      getCurrentDirectory: () => root,
    });
  }

  get #checker(): ts.TypeChecker {
    return (this.#service.getProgram() as ts.Program).getTypeChecker();
  }
  #exportsOf(file: string): ts.Symbol[] {
    const source = (this.#service.getProgram() as ts.Program).getSourceFile(file) as ts.SourceFile;
    return this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(source) as ts.Symbol);
  }

  /** What is said of a symbol, or of the first form of its call of which something is said. */
  #said(symbol: ts.Symbol): string {
    const texts = [symbol.getDocumentationComment(this.#checker)];
    if (symbol.flags & ts.SymbolFlags.Value)
      for (const form of this.#checker.getTypeOfSymbol(symbol).getCallSignatures())
        texts.push(form.getDocumentationComment(this.#checker));
    return texts.map((parts) => ts.displayPartsToString(parts).trim()).find((text) => text !== '') ?? '';
  }
  #isPublic(symbol: ts.Symbol): boolean {
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined || !isOurs(declaration) || /^(__|#)/.test(symbol.name)) return false;
    const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
    return (
      !(ts.getCombinedModifierFlags(declaration) & hidden) &&
      !symbol.getJsDocTags(this.#checker).some(({ name }) => name === 'internal')
    );
  }
  #target(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /** All public symbols and their members: each once, by its first name. */
  symbols(): Documented[] {
    const checker = this.#checker;
    const found: Documented[] = [];
    const seen = new Set<ts.Symbol | ts.Declaration>();
    const note = (path: string, symbol: ts.Symbol, kind: Kind): void => {
      found.push({ path, kind, text: this.#said(symbol), at: placeOf(symbol) });
    };
    const member = (path: string, symbol: ts.Symbol): void => {
      const [declaration] = symbol.declarations ?? [];
      if (declaration === undefined || seen.has(declaration)) return;
      seen.add(declaration);
      if (this.#isPublic(symbol)) note(`${path}.${symbol.name}`, symbol, 'member');
    };
    const visit = (path: string, given: ts.Symbol): void => {
      const symbol = this.#target(given);
      if (seen.has(symbol) || !this.#isPublic(symbol)) return;
      seen.add(symbol);
      if (symbol.flags & ts.SymbolFlags.ValueModule) {
        for (const one of checker.getExportsOfModule(symbol)) visit(`${path}.${one.name}`, one);
        return;
      }
      note(path, symbol, this.#kindOf(symbol));
      if (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) {
        const type = checker.getDeclaredTypeOfSymbol(symbol);
        for (const one of objectsIn(type)) for (const name of one.getProperties()) member(path, name);
      }
      if (symbol.flags & ts.SymbolFlags.Class)
        for (const one of checker.getTypeOfSymbol(symbol).getProperties())
          if (one.name !== 'prototype') member(path, one);
    };
    for (const [name, file] of this.#entries)
      for (const one of this.#exportsOf(file)) visit(`${name}.${one.name}`, one);
    return found;
  }
  #kindOf(symbol: ts.Symbol): Kind {
    if (symbol.flags & ts.SymbolFlags.Class) return 'class';
    if (!(symbol.flags & ts.SymbolFlags.Value)) return 'type';
    return this.#checker.getTypeOfSymbol(symbol).getCallSignatures().length > 0 ? 'function' : 'value';
  }

  /** All calls of what the umbrella has: `tf.sort`, `new tf.layers.Dense`, with their forms. */
  *#calls(): Iterable<[call: string, forms: readonly ts.Signature[]]> {
    const checker = this.#checker;
    const seen = new Set<ts.Symbol | ts.Declaration>();
    const fresh = (symbol: ts.Symbol, by: ts.Symbol | ts.Declaration | undefined): boolean => {
      if (by === undefined || seen.has(by) || !this.#isPublic(symbol)) return false;
      seen.add(by);
      return true;
    };
    const waiting = this.#exportsOf(umbrella).map((one) => [`tf.${one.name}`, one] as const);
    for (const [path, given] of waiting) {
      const symbol = this.#target(given);
      if (!fresh(symbol, symbol)) continue;
      if (symbol.flags & ts.SymbolFlags.ValueModule)
        waiting.push(
          ...checker.getExportsOfModule(symbol).map((one) => [`${path}.${one.name}`, one] as const),
        );
      if (!(symbol.flags & (ts.SymbolFlags.Value & ~ts.SymbolFlags.ValueModule))) continue;
      const type = checker.getTypeOfSymbol(symbol);
      yield [path, type.getCallSignatures()];
      if (!(symbol.flags & ts.SymbolFlags.Class)) continue;
      yield [`new ${path}`, type.getConstructSignatures()];
      const own = checker.getDeclaredTypeOfSymbol(symbol).getProperties();
      for (const method of [...own, ...type.getProperties()])
        if (method.name !== 'prototype' && fresh(method, method.declarations?.[0]))
          yield [`${path}.${method.name}`, checker.getTypeOfSymbol(method).getCallSignatures()];
    }
  }
  /** The places of arguments and their types; those of a list of forms too. */
  *#argumentsOf(form: ts.Signature): Iterable<[index: number, type: ts.Type]> {
    const checker = this.#checker;
    for (const [index, parameter] of form.getParameters().entries()) {
      const type = checker.getTypeOfSymbol(parameter);
      const tuples = (type.isUnion() ? type.types : [type]).filter((one) => checker.isTupleType(one));
      if (tuples.length === 0) yield [index, type];
      for (const tuple of tuples)
        for (const [i, of] of checker.getTypeArguments(tuple as ts.TypeReference).entries())
          yield [index + i, of];
    }
  }

  /** The options of all calls, each declaration once, by the first call that takes it: `new tf.layers.Dense(0: units`. */
  options(): Documented[] {
    const found = new Map<ts.Declaration, Documented>();
    for (const [call, forms] of this.#calls())
      for (const form of forms)
        for (const [index, type] of this.#argumentsOf(form))
          for (const one of objectsIn(this.#checker.getNonNullableType(type)))
            for (const symbol of takesOptions(this.#checker, one) ? one.getProperties() : []) {
              const declaration = symbol.declarations?.find(isOption);
              if (declaration === undefined || found.has(declaration) || !this.#isPublic(symbol)) continue;
              const path = `${call}(${index}: ${symbol.name}`;
              found.set(declaration, { path, kind: 'member', text: this.#said(symbol), at: placeOf(symbol) });
            }
    return [...found.values()];
  }
  /** What an editor offers where the options of constructors are written, with what it says of each. */
  offered(): Documented[] {
    const places: { readonly call: string; readonly at: number }[] = [];
    const before = [...this.#calls()];
    this.#text += `import * as tf from 'eagre';\n`;
    for (const [call, forms] of before) {
      if (!call.startsWith('new ')) continue;
      const counts = forms.flatMap((form) =>
        [...this.#argumentsOf(form)].filter(([, type]) =>
          objectsIn(this.#checker.getNonNullableType(type)).some((one) => takesOptions(this.#checker, one)),
        ),
      );
      for (const index of new Set(counts.map(([i]) => i))) {
        this.#text += `${call}(${'null!, '.repeat(index)}{ `;
        places.push({ call: `${call}(${index}`, at: this.#text.length });
        this.#text += ' });\n';
      }
    }
    this.#version++;
    return places.flatMap(({ call, at }) => {
      const offered = this.#service.getCompletionsAtPosition(this.#file, at, { includeSymbol: true });
      return (offered?.entries ?? []).flatMap(({ symbol }) =>
        symbol?.declarations?.some(isOption) !== true || !this.#isPublic(symbol)
          ? []
          : [
              {
                path: `${call}: ${symbol.name}`,
                kind: 'member' as const,
                text: this.#said(symbol),
                at: placeOf(symbol),
              },
            ],
      );
    });
  }
  /** What an editor shows beside an option while it is chosen. @param before the text before it */
  shown(before: string, name: string): string {
    const text = this.#text;
    this.#text += before;
    const at = this.#text.length;
    this.#text += ' });\n';
    this.#version++;
    const entry = this.#service.getCompletionEntryDetails(
      this.#file,
      at,
      name,
      undefined,
      undefined,
      undefined,
      undefined,
    );
    this.#text = text;
    this.#version++;
    return ts.displayPartsToString(entry?.documentation);
  }
}

export type Kind = 'class' | 'function' | 'type' | 'value' | 'member';
/** A public symbol, what is said of it, and the file and line of its declaration. */
export interface Documented {
  readonly path: string;
  readonly kind: Kind;
  readonly text: string;
  readonly at: string;
}

const isOurs = (declaration: ts.Declaration): boolean => {
  const { fileName } = declaration.getSourceFile();
  return fileName.startsWith(`${root}packages/`) && !fileName.includes('/node_modules/');
};
const isOption = (declaration: ts.Declaration): boolean =>
  (ts.isPropertySignature(declaration) || ts.isMethodSignature(declaration)) && isOurs(declaration);

function placeOf(symbol: ts.Symbol): string {
  const declaration = symbol.declarations?.[0] as ts.Declaration;
  const file = declaration.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(declaration.getStart());
  return `${relative(root, file.fileName)}:${line + 1}`;
}

const objectsIn = (type: ts.Type): ts.Type[] =>
  (type.isUnion() ? type.types : [type]).filter(
    ({ flags }) => flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection),
  );

/** Whether an argument may be an object of options: a plain one, and no tensor, list or function. */
function takesOptions(checker: ts.TypeChecker, one: ts.Type): boolean {
  const symbol = (one.aliasSymbol ?? one.symbol) as ts.Symbol | undefined;
  const isClass = ((one.symbol as ts.Symbol | undefined)?.flags ?? 0) & ts.SymbolFlags.Class;
  if (isClass || one.getCallSignatures().length > 0 || one.getProperties().length === 0) return false;
  if (checker.isArrayType(one) || checker.isTupleType(one)) return false;
  return one.isIntersection() || /Options|Arguments|Config|Fields|__type/.test(symbol?.name ?? '');
}
