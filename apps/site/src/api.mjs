// Pages of the API: one for each namespace, and one for each class, of the declarations of the umbrella and their docstrings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, ReflectionKind, TSConfigReader } from 'typedoc';
import { apiExamples, escaped, runsInPage } from './guides.mjs';
import { namesElsewhere } from './origins.mjs';

const { Namespace, Class, Reference, Interface, TypeAlias } = ReflectionKind;
const isType = (one) => one.kind === Interface || one.kind === TypeAlias;

/**
 * @returns the files, by name, with their text; the sidebars, by path; and how many symbols there are, and have an example, with those that nothing is
 * said about, and the classes without an example
 * @throws Error for a name in a table of origins that has no page, and for an example of what has none
 */
export async function apiPages(root) {
  const app = await Application.bootstrap(
    {
      entryPoints: [join(root, 'packages/eagre/src/index.ts')],
      tsconfig: join(root, 'apps/site/tsconfig.json'),
      skipErrorChecking: true,
      excludePrivate: true,
      excludeProtected: true,
      excludeInternal: true,
      disableSources: true,
      readme: 'none',
      logLevel: 'Error',
    },
    [new TSConfigReader()],
  );
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc has read no declarations');
  const files = new Map();
  const entries = [];
  const counts = { all: 0, silent: [], shown: 0, classes: [] };
  const known = names(root);
  // What one symbol is called elsewhere leads there.
  const places = new Map();
  const others = new Map();
  const place = (one, path) => {
    places.set(one, path);
    const target = one.kind === Reference ? one.tryGetTargetReflectionDeep() : undefined;
    if (target !== undefined) others.set(target, [...(others.get(target) ?? []), path]);
    if (one.kind === Namespace || path.length === 0)
      for (const child of one.children ?? []) place(child, [...path, child.name]);
  };
  place(project, []);
  const elsewhereNames = new Map();
  for (const { origin, name, here } of namesElsewhere(root))
    elsewhereNames.set(here, [...(elsewhereNames.get(here) ?? []), { origin, name }]);
  const unused = new Set(elsewhereNames.keys());
  /** What Python, PyTorch and others call a symbol, under whatever name it is here. */
  const namesOf = (one, path) => {
    const found = new Map();
    for (const at of [path, ...(others.get(one) ?? [])]) {
      const title = titleOf(at);
      unused.delete(title);
      for (const name of [known.get(bare(title)), known.get(bare(titleOf(['keras', ...at])))])
        if (name !== undefined) {
          found.set('Python', [...(found.get('Python') ?? []), name]);
          const numpy = /^tf\.experimental\.numpy\.(.*)$/.exec(name);
          if (numpy) found.set('NumPy and JAX', [...(found.get('NumPy and JAX') ?? []), `np.${numpy[1]}`]);
        }
      for (const { origin, name } of elsewhereNames.get(title) ?? [])
        found.set(origin, [...(found.get(origin) ?? []), name]);
    }
    return found;
  };
  const examples = apiExamples(root);
  const shown = new Set();
  /** The example of a symbol, under whatever name it is here. */
  const exampleOf = (one, path) => {
    for (const at of [path, ...(others.get(one) ?? [])].map(titleOf))
      for (const title of [at, at.replace('tf.', 'tf.keras.')])
        if (examples.has(title)) {
          shown.add(title);
          return examples.get(title);
        }
    return undefined;
  };
  const context = { places, counts, namesOf, exampleOf };
  const visit = (one, path) => {
    const file = path.length === 0 ? 'index.md' : `${path.join('/')}/index.md`;
    files.set(file, namespacePage(one, path, context));
    entries.push({ path, text: titleOf(path), link: `/api/${path.map((part) => `${part}/`).join('')}` });
    for (const child of one.children ?? []) {
      if (child.kind === Namespace) visit(child, [...path, child.name]);
      if (child.kind === Class)
        files.set(`${[...path, `${child.name}.class`].join('/')}.md`, classPage(child, path, context));
    }
  };
  visit(project, []);
  const lost = [...examples.keys()].filter((title) => !shown.has(title));
  if (lost.length > 0) throw new Error(`Examples of what has no place: ${lost.join(', ')}`);
  if (unused.size > 0) throw new Error(`Tables of names lead to what has no page: ${[...unused].join(', ')}`);
  return { files, sidebars: sidebarsOf(entries), counts };
}

/** A list of the namespaces at the top; and one for each of these that has others inside. Pages of all would have the names of all. */
function sidebarsOf(entries) {
  const entry = ({ text, link }) => ({ text, link });
  const sidebars = {
    '/api/': [{ text: 'API', items: entries.filter(({ path }) => path.length < 2).map(entry) }],
  };
  for (const { path, text, link } of entries.filter(({ path }) => path.length === 1)) {
    const inside = entries.filter((one) => one.path[0] === path[0]);
    if (inside.length > 1)
      sidebars[link] = [{ text, items: [{ text: 'tf', link: '/api/' }, ...inside.map(entry)] }];
  }
  return sidebars;
}

/** The names of TensorFlow and Keras, by what they are without regard to case and underscores. */
function names(root) {
  const found = new Map();
  const read = (file, prefix) => {
    const { names } = JSON.parse(readFileSync(join(root, 'packages/eagre/golden', file), 'utf8'));
    for (const [module, list] of Object.entries(names))
      for (const name of list) {
        const full = [prefix, module, name].filter((part) => part !== '').join('.');
        found.set(bare(full), full);
      }
  };
  read('tensorflow-names.json', 'tf');
  read('keras-names.json', 'tf.keras');
  return found;
}
const bare = (name) => name.replaceAll('_', '').toLowerCase();

const titleOf = (path) => ['tf', ...path].join('.');
const linkOf = (path, one) =>
  one.kind === Namespace
    ? `/api/${path.map((part) => `${part}/`).join('')}`
    : one.kind === Class
      ? `/api/${[...path.slice(0, -1), `${path.at(-1)}.class`].join('/')}`
      : `/api/${path
          .slice(0, -1)
          .map((part) => `${part}/`)
          .join('')}#${anchorOf(path.at(-1))}`;
const anchorOf = (name) => `tf-${name.replace(/[^A-Za-z0-9]+/g, '-')}`;

function namespacePage(one, path, context) {
  const groups = { namespaces: [], classes: [], functions: [], others: [], elsewhere: [] };
  for (const child of one.children ?? []) {
    if (isType(child) || isType(child.tryGetTargetReflectionDeep?.() ?? child)) continue;
    if (child.kind === Namespace) groups.namespaces.push(child);
    else if (child.kind === Class) groups.classes.push(child);
    else if (child.kind === Reference) groups.elsewhere.push(child);
    else if (signaturesOf(child).length > 0) groups.functions.push(child);
    else groups.others.push(child);
  }
  const lines = [
    `# ${titleOf(path)}`,
    '',
    blocksOf(one.comment, context),
    '',
    ...elsewhere(one, path, context),
  ];
  const list = (title, children) => {
    if (children.length === 0) return;
    lines.push(`## ${title}`, '', '| name | what it is |', '| --- | --- |');
    for (const child of children) {
      const at = [...path, child.name];
      lines.push(`| [${titleOf(at)}](${linkOf(at, child)}) | ${firstSentence(child, context)} |`);
    }
    lines.push('');
  };
  list('Namespaces', groups.namespaces);
  list('Classes', groups.classes);
  if (groups.elsewhere.length > 0) {
    lines.push('## Also here', '');
    for (const child of groups.elsewhere) {
      const target = child.tryGetTargetReflectionDeep?.();
      const at = target && context.places.get(target);
      const name = titleOf([...path, child.name]);
      lines.push(
        at === undefined ? `- \`${name}\`` : `- \`${name}\` is [${titleOf(at)}](${linkOf(at, target)})`,
      );
    }
    lines.push('');
  }
  for (const [title, children] of [
    ['Functions', groups.functions],
    ['Values', groups.others],
  ]) {
    if (children.length === 0) continue;
    lines.push(`## ${title}`, '');
    for (const child of children) lines.push(...symbol(child, [...path, child.name], context), '');
  }
  return `${lines.join('\n')}\n`;
}

/** The part of a page about a function or value. */
function symbol(child, path, context) {
  const comment = commentOf(child);
  count(path, comment, context);
  const name = titleOf(path);
  const signatures = signaturesOf(child);
  return [
    `### ${name} {#${anchorOf(path.at(-1))}}`,
    '',
    ...code(
      signatures.length > 0
        ? signatures.map(({ text }) => `${name}${text}`)
        : [`${name}: ${typeText(child.type)}`],
    ),
    '',
    blocksOf(comment, context),
    '',
    ...example(child, path, context),
    ...parameters(comment, context),
    ...signatures.flatMap(({ options }) => optionTable(options, context)),
    ...elsewhere(child, path, context),
  ];
}

function count(path, comment, { counts }) {
  counts.all++;
  if (!comment?.summary.some(({ text }) => text.trim() !== '')) counts.silent.push(titleOf(path));
}

/** The docstring of a symbol, or of the first form of its call that has one. */
function commentOf(one) {
  const forms = [one.signatures, one.type?.declaration?.signatures, one.type?.reflection?.signatures];
  return (
    one.comment ?? forms.flatMap((list) => list ?? []).find(({ comment }) => comment !== undefined)?.comment
  );
}

/** A program that shows it. */
function example(one, path, { exampleOf, counts }) {
  const program = exampleOf(one, path);
  if (program === undefined) return [];
  counts.shown++;
  return [`\`\`\`ts${runsInPage(program) ? ' run' : ''}`, program, '```', ''];
}

/** What others call it. */
function elsewhere(one, path, { namesOf }) {
  return [...namesOf(one, path)].flatMap(([origin, names]) => [
    `In ${origin}: ${[...new Set(names)].map((name) => `\`${name}\``).join(', ')}`,
    '',
  ]);
}

const code = (lines) => ['```ts', ...lines, '```'];

/** How a function is called, as texts that follow its name, and the interfaces of its options. */
function signaturesOf(one) {
  if (one.signatures) return one.signatures.map(signatureText);
  const { type } = one;
  if (type?.type === 'reflection' && type.declaration.signatures)
    return type.declaration.signatures.map(signatureText);
  if (type?.type === 'intersection') return type.types.flatMap((part) => signaturesOf({ type: part }));
  // An interface of the forms of a call.
  if (type?.type === 'reference' && type.reflection?.signatures)
    return type.reflection.signatures.map(signatureText);
  if (type?.type !== 'reference' || type.typeArguments === undefined) return [];
  const [positional, , options, result] = type.typeArguments;
  if (positional?.type !== 'tuple' || !/Function/.test(type.name)) return [];
  const named = positional.elements.map(argumentText);
  const hasOptions = options !== undefined && !['unknown', 'never'].includes(options.name);
  const all = hasOptions ? [...named, `options?: ${typeText(options)}`] : named;
  return [
    {
      text: `(${all.join(', ')}): ${result === undefined ? 'Tensor' : typeText(result)}`,
      options: hasOptions ? options : undefined,
    },
  ];
}

/** An element of a tuple of arguments. */
const argumentText = (element) =>
  element.type === 'namedTupleMember'
    ? `${element.name}${element.isOptional ? '?' : ''}: ${typeText(element.element)}`
    : typeText(element);

function signatureText(signature) {
  const parameters = (signature.parameters ?? []).map(({ name, type, flags, defaultValue }) => {
    const own = name === '__namedParameters' ? 'options' : name;
    return `${flags.isRest ? '...' : ''}${own}${flags.isOptional || defaultValue !== undefined ? '?' : ''}: ${typeText(type)}`;
  });
  const last = signature.parameters?.at(-1)?.type;
  return { text: `(${parameters.join(', ')}): ${typeText(signature.type)}`, options: last };
}

const typeText = (type) => (type === undefined ? 'unknown' : String(type).replace(/\s+/g, ' '));

/** A table of what an interface of options has. */
function optionTable(type, context) {
  const found = interfaceOf(type);
  const children = (found?.children ?? []).filter(({ kind }) => kind !== ReflectionKind.Method);
  if (found?.kind !== Interface || !/Options|Arguments|Config/.test(found.name) || children.length === 0)
    return [];
  const rows = children.map((child) => {
    const text = cell(textOf(child.comment ?? child.getSignature?.comment, context));
    return `| \`${child.name}\` | ${typeCell(child.type)} | ${text} |`;
  });
  return ['| option | type | what it does |', '| --- | --- | --- |', ...rows, ''];
}

function interfaceOf(type) {
  if (type === undefined) return undefined;
  if (type.type === 'union' || type.type === 'intersection')
    return type.types.map(interfaceOf).find((one) => one !== undefined);
  if (type.type !== 'reference') return undefined;
  if (['Readonly', 'Partial', 'Omit', 'Pick'].includes(type.name))
    return interfaceOf(type.typeArguments?.[0]);
  return type.reflection;
}

const cell = (text) =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim();

const typeCell = (type) => cell(`\`${typeText(type).replaceAll('`', '')}\``);

function parameters(comment, context) {
  const lines = [];
  for (const { tag, name, content } of comment?.blockTags ?? []) {
    const text = said(content, context).replace(/\n+/g, ' ').trim();
    if (tag === '@param') lines.push(`- \`${name}\`: ${text.replace(/^[-–] /, '')}`);
    if (tag === '@returns') lines.push(`- returns ${text}`);
    if (tag === '@throws') lines.push(`- throws ${text}`);
  }
  return lines.length === 0 ? [] : [...lines, ''];
}

function textOf(comment, context) {
  return comment === undefined ? '' : said(comment.summary, context).trim();
}

/** The same for a page by itself: its programs, which are indented in docstrings, are those of guides. */
function blocksOf(comment, context) {
  return textOf(comment, context).replace(
    /(^|\n\n)((?: {4}.*|\n(?= {4}))(?:\n(?: {4}.*|(?=\n+ {4})))*)/g,
    (_, before, program) => `${before}\`\`\`ts\n${program.replace(/^ {4}/gm, '')}\n\`\`\``,
  );
}

function said(parts, { places }) {
  const text = parts
    .map((part) => {
      if (part.kind !== 'inline-tag') return part.text;
      const target = typeof part.target === 'object' ? part.target : undefined;
      const at = places.get(target);
      // Types have no place of their own.
      const isPlace = at !== undefined && !isType(target.tryGetTargetReflectionDeep?.() ?? target);
      return isPlace ? `[${part.text}](${linkOf(at, target)})` : `\`${part.text}\``;
    })
    .join('');
  return escaped(text);
}

function firstSentence(child, context) {
  const [first = ''] = textOf(commentOf(child), context).split(/(?<=[.:])\s|\n\n/);
  return cell(first);
}

function classPage(one, path, context) {
  const at = [...path, one.name];
  count(at, one.comment, context);
  const maker = one.children?.find(({ kind }) => kind === ReflectionKind.Constructor)?.signatures ?? [];
  const isOwn = (child) => child.inheritedFrom === undefined && child.kind !== ReflectionKind.Constructor;
  const own = (one.children ?? []).filter(isOwn);
  const methods = own.filter(({ kind }) => kind === ReflectionKind.Method);
  const fields = own.filter(({ kind }) => kind !== ReflectionKind.Method);
  const lines = [`# ${titleOf(at)}`, '', blocksOf(one.comment, context), ''];
  const program = example(one, at, context);
  if (program.length === 0) context.counts.classes.push(titleOf(at));
  if (maker.length > 0) {
    const made = maker.map((signature) => {
      // A tuple of arguments is what they are; `Arguments` has those by position, and the options that follow.
      const [first] = signature.parameters ?? [];
      const type = first?.flags.isRest ? first.type : undefined;
      const named = type?.type === 'reference' && type.name === 'Arguments' ? type.typeArguments : undefined;
      const tuple = type?.type === 'tuple' ? type : named?.[0];
      if (tuple?.type !== 'tuple') return { ...signatureText(signature), comment: signature.comment };
      const last = named === undefined ? tuple.elements.at(-1) : named[2];
      const all = tuple.elements.map(argumentText);
      if (named?.[2] !== undefined) all.push(`options?: ${typeText(last)}`);
      return { text: `(${all.join(', ')})`, options: last?.element ?? last, comment: signature.comment };
    });
    lines.push(
      ...code(made.map(({ text }) => `new ${titleOf(at)}${text.replace(/\): [^)]*$/, ')')}`)),
      '',
      ...program,
    );
    for (const { comment, options } of made)
      lines.push(...parameters(comment, context), ...optionTable(options, context));
  } else lines.push(...program);
  lines.push(...parameters(one.comment, context), ...elsewhere(one, at, context));
  const bases = (one.extendedTypes ?? []).filter(
    (type) => type.type === 'reference' && type.reflection !== undefined && !isType(type.reflection),
  );
  for (const base of bases) {
    const where = context.places.get(base.reflection);
    if (where !== undefined)
      lines.push(`It has what [${titleOf(where)}](${linkOf(where, base.reflection)}) has.`, '');
  }
  if (fields.length > 0) {
    lines.push('## Properties', '', '| name | type | what it is |', '| --- | --- | --- |');
    for (const child of fields) {
      const comment = child.comment ?? child.getSignature?.comment;
      lines.push(
        `| \`${child.name}\` | ${typeCell(child.type ?? child.getSignature?.type)} | ${cell(textOf(comment, context))} |`,
      );
    }
    lines.push('');
  }
  if (methods.length > 0) {
    lines.push('## Methods', '');
    for (const child of methods) {
      const comment = commentOf(child);
      lines.push(
        `### ${child.name} {#${anchorOf(child.name)}}`,
        '',
        ...code(signaturesOf(child).map(({ text }) => `${child.name}${text}`)),
        '',
        blocksOf(comment, context),
        '',
        ...parameters(comment, context),
      );
    }
  }
  return `${lines.join('\n')}\n`;
}
