// Writes the module by which Node loads the umbrella's larger namespaces: each comes when something of it is first read, at once, by `require`.
// Its names are known beforehand. Bundlers, which leave out what is not used, read the plain module instead (`imports` in package.json).
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

const parse = (file) => parseAst(readFileSync(file, 'utf8')).body;

/** The built module that one of ours imports by a name. */
function find(name, from) {
  const file = name.startsWith('.') ? resolve(dirname(from), name) : createRequire(from).resolve(name);
  if (!existsSync(file)) throw new Error(`${from} needs ${name}, which is not built`);
  return file;
}

/** The names that a built module exports. */
function namesOf(file) {
  return parse(file).flatMap(({ type, source, specifiers, exported }) => {
    if (type === 'ExportAllDeclaration')
      return exported ? [exported.name] : namesOf(find(source.value, file));
    return type === 'ExportNamedDeclaration' ? specifiers.map(({ exported }) => exported.name) : [];
  });
}

// What runs TypeScript, such as tsx, has `require` make CommonJS of all modules, which would load everything a second time: another class Tensor,
// whose tensors no op takes. That shows in what `require` gives for a module that has nothing. Then Node itself compiles the module, as it does
// where nobody has changed `require`. A program that is CommonJS there has all of the library as CommonJS, this module too.
const head = `import Module, { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { types as nodeTypes } from "node:util";
const load = createRequire(import.meta.url);
let plain = typeof require === "function" && typeof module === "object";
function isPlain() {
try {
return nodeTypes.isModuleNamespaceObject(load("./late-probe.js"));
} catch (cause) {
throw new Error("eagre: tf.keras, tf.data and other namespaces are loaded when they are first used, by a require that this test runner or loader does not let load modules. In Jest, set testEnvironmentOptions: { customExportConditions: ['node'] }: then they are loaded at once.", { cause });
}
}
function loadedPlainly(file) {
try {
return load(file);
} catch (cause) {
if (cause?.code !== "ERR_MODULE_NOT_FOUND" || process.versions.pnp === undefined) throw cause;
throw new Error("eagre: tf.keras, tf.data and other namespaces are loaded when they are first used, by a require that finds no modules in the packed packages of Yarn's Plug'n'Play. Set NODE_OPTIONS=--no-experimental-require-module: then they are loaded at once. Or set nodeLinker: node-modules in .yarnrc.yml.", { cause });
}
}
function loaded(file) {
plain ||= isPlain();
if (plain) return loadedPlainly(file);
const path = load.resolve(file);
const made = new Module(path);
made.filename = path;
made._compile(readFileSync(path, "utf8"), path, "module");
return made.exports;
}
function late(file, names) {
const space = Object.create(null, { [Symbol.toStringTag]: { value: "Module" } });
const settle = () => {
const own = loaded(file);
for (const name of names) Object.defineProperty(space, name, { value: own[name], configurable: false });
return own;
};
for (const name of names) Object.defineProperty(space, name, { get: () => settle()[name], enumerable: true, configurable: true });
return Object.preventExtensions(space);
}
`;

/** A module that has nothing. */
export const lateProbe = 'export {};\n';

/** @param source a module that has nothing but lines \`export * as name from 'module'\`. @param dist the folder of what is built. */
export function lateNamespaces(source, dist) {
  const lines = [...readFileSync(source, 'utf8').matchAll(/^export \* as (\w+) from '(.*)';$/gm)];
  return `${head}${lines
    .map(([, name, module]) => {
      const path = module.replace(/\.ts$/, '.js');
      const names = namesOf(find(path, resolve(dist, 'late.js')));
      return `export const ${name} = /*@__PURE__*/late(${JSON.stringify(path)}, ${JSON.stringify([...new Set(names)].sort())});\n`;
    })
    .join('')}`;
}
