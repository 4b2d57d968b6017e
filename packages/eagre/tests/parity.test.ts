// What of Keras is here: its public names, the members of its classes, and what all of them take, against ours. The result stands in
// docs/keras-parity.md. Write it anew with `vitest -u`; tools/parity/keras_names.py lists Keras's names.
import { readFileSync } from 'node:fs';
import { declared, parametersOf } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { objectOf } from './testing/keras-objects.ts';
import { leftOut, leftOutArguments, leftOutMembers } from './testing/left-out.ts';

interface KerasNames {
  readonly version: string;
  /** By namespace, `''` for `keras` itself. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** By class. */
  readonly members: Readonly<Record<string, readonly string[]>>;
  /** By namespace and class: the members of every other class, without those of the class above that it extends. */
  readonly classes: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /** The arguments of functions, classes and methods, as they are in these two. */
  readonly arguments: Readonly<Record<'names' | 'members', Readonly<Record<string, ArgumentNames>>>>;
}
type ArgumentNames = Readonly<Record<string, readonly string[]>>;
const {
  version,
  names,
  members,
  classes,
  arguments: taken,
} = JSON.parse(readFileSync(new URL('../golden/keras-names.json', import.meta.url), 'utf8')) as KerasNames;

/** Where the names of a namespace are here, if not in `tf.keras` under its name alone. */
const alsoIn: Readonly<Record<string, readonly object[]>> = {
  '': [tf],
  random: [tf.random],
  tree: [tf.nest],
};

const model = new tf.Sequential([tf.Input([2]), new tf.layers.Dense(1)]);
model.compile({ loss: 'mse' });
const objects: Readonly<Record<string, object>> = {
  Layer: model.layers[0],
  Model: model,
  Sequential: model,
  Loss: new tf.losses.MeanSquaredError(),
  Metric: new tf.metrics.Mean(),
  Optimizer: model.optimizer,
  Callback: new tf.keras.callbacks.Callback(),
  LearningRateSchedule: new tf.optimizers.schedules.CosineDecay(0.1, 10),
};

/** In camelCase, and without regard to case: `to_json` is `toJSON`, and a class may be a function here, `HeNormal` `heNormal`. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** What can be asked of an object, its class's own functions too. */
function namesIn(object: object): Set<string> {
  const found = new Set<string>();
  for (
    let at: object | null = object;
    at !== null && at !== Function.prototype && at !== Object.prototype;
  ) {
    for (const name of Object.getOwnPropertyNames(at)) found.add(plain(name));
    at = Object.getPrototypeOf(at) as object | null;
  }
  return found;
}

/** Whether a name is here; one of a namespace inside is looked for there, `vgg16.preprocess_input`. */
function isHere(spaces: readonly object[], name: string): boolean {
  const [first, ...rest] = name.split('.');
  if (rest.length === 0) return spaces.some((space) => namesIn(space).has(plain(first)));
  const inner = spaces.flatMap((space) =>
    Object.entries(space)
      .filter(([key, value]) => plain(key) === plain(first) && isObject(value))
      .map(([, value]) => value as object),
  );
  return isHere(inner, rest.join('.'));
}

function spacesOf(path: string): readonly object[] {
  const other = alsoIn[path] ?? [];
  let at: unknown = tf.keras;
  for (const part of path.split('.').filter((p) => p !== ''))
    at = isObject(at) ? Object.entries(at).find(([key]) => plain(key) === plain(part))?.[1] : undefined;
  return isObject(at) ? [at, ...other] : other;
}

/** What stands under a name, first under the very name in camelCase: classes and functions differ in their first letter. */
function findIn(spaces: readonly object[], name: string): unknown {
  const [first, ...rest] = name.split('.') as [string, ...string[]];
  const exact = first.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
  const found = spaces.flatMap((space) => {
    const keys = [exact, ...keysOf(space).filter((key) => plain(key) === plain(first))];
    return keys.filter((key) => key in space).map((key) => (space as Record<string, unknown>)[key]);
  });
  return rest.length === 0 ? found[0] : findIn(found.filter(isObject), rest.join('.'));
}
function keysOf(object: object): string[] {
  const found: string[] = [];
  for (
    let at: object | null = object;
    at !== null && at !== Function.prototype && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    found.push(...Object.getOwnPropertyNames(at));
  return found;
}

/** The names of what a function, a class or a method takes; null where it does not say so, as methods that users write. */
function argumentsOf(value: unknown): Set<string> | null {
  if (!isObject(value)) return null;
  const [asFunction, asClass] = [declared(value), parametersOf(value)];
  if (asFunction === undefined && asClass === undefined) return null;
  const found = [
    ...(asFunction?.positional ?? []),
    ...Object.keys(asFunction?.options ?? {}),
    asFunction?.rest ?? '',
    ...Object.keys(asClass?.names ?? {}),
  ];
  return new Set(found.map(plain));
}

/** Arguments as areas have names: `Dense(units)`. */
function argumentArea(title: string, all: ArgumentNames, find: (name: string) => unknown): Area {
  const asked: string[] = [];
  const lacking = new Set<string>();
  for (const [name, list] of Object.entries(all)) {
    const ours = argumentsOf(find(name));
    if (ours === null) continue;
    for (const argument of list) {
      asked.push(`${name}(${argument})`);
      if (!ours.has(plain(argument))) lacking.add(`${name}(${argument})`);
    }
  }
  return areaOf(title, asked, (name) => !lacking.has(name), leftOutArguments);
}

/** Classes of which no object can be made here: theirs come from files, or they are functions that run a piece of code. */
const notMade =
  /^(name_scope|CustomObjectScope|KerasFileEditor|TFSMLayer|LayoutMap|ModelParallel|Operation|Function)$/;

interface Area {
  readonly title: string;
  readonly all: readonly string[];
  readonly lacking: readonly string[];
  readonly leftOut: ReadonlyMap<string, string>;
}

function areaOf(
  title: string,
  all: readonly string[],
  here: (name: string) => boolean,
  meanings: typeof leftOut = leftOut,
): Area {
  const not = all.filter((name) => !here(name));
  const meant = new Map<string, string>();
  for (const name of not) {
    const found = meanings.find(({ what }) => what.test(`${title}.${name}`));
    if (found !== undefined) meant.set(name, found.why);
  }
  return { title, all, lacking: not.filter((name) => !meant.has(name)), leftOut: meant };
}

const areas: readonly Area[] = [
  ...Object.entries(names).map(([path, all]) => {
    const spaces = spacesOf(path);
    return areaOf(path === '' ? 'keras' : `keras.${path}`, all, (name) => isHere(spaces, name));
  }),
  ...Object.entries(members).map(([name, all]) => {
    const here = namesIn(objects[name]);
    for (const own of namesIn(objects[name].constructor)) here.add(own);
    return areaOf(`members of ${name}`, all, (member) => here.has(plain(member)));
  }),
];

/** What a class, and an object of it, have. @throws what its constructor throws */
function membersOf(name: string, made: unknown): Set<string> {
  const here = namesIn(made as object);
  const { prototype } = made as { readonly prototype?: object };
  for (const object of [prototype, objectOf(name, made)])
    for (const own of object === undefined ? [] : namesIn(object)) here.add(own);
  return here;
}

/** The members of the classes of each namespace; of classes that are not here, their names say enough. */
const memberAreas: readonly Area[] = Object.entries(classes).map(([path, all]) => {
  const spaces = spacesOf(path);
  const asked: string[] = [];
  const here = new Set<string>();
  for (const [name, list] of Object.entries(all)) {
    const found = findIn(spaces, name);
    if (found === undefined || notMade.test(name)) continue;
    const own = membersOf(name, found);
    for (const member of list) {
      asked.push(`${name}.${member}`);
      if (own.has(plain(member))) here.add(`${name}.${member}`);
    }
  }
  const title = path === '' ? 'keras' : `keras.${path}`;
  return areaOf(title, asked, (name) => here.has(name), leftOutMembers);
});

const argumentAreas: readonly Area[] = [
  ...Object.entries(taken.names).map(([path, all]) => {
    const spaces = spacesOf(path);
    return argumentArea(path === '' ? 'keras' : `keras.${path}`, all, (name) => findIn(spaces, name));
  }),
  ...Object.entries(taken.members).map(([name, all]) => {
    const spaces = [objects[name] as object, (objects[name] as object).constructor];
    return argumentArea(`members of ${name}`, all, (member) => findIn(spaces, member));
  }),
];

/** Options of layers that no signature of Keras's class names, and why they are here. */
const beyondKeras: readonly (readonly [what: RegExp, why: string])[] = [
  [
    /^(Conv(olution)?\dD\(lora(Rank|Alpha)|AdditiveAttention\(seed|ReversibleEmbedding\((loraRank|loraAlpha|quantizationConfig))/,
    'of the class that the layer extends, in Keras too',
  ],
  [
    /^(ConvLSTM\dD|GRU|LSTM|SimpleRNN)\((zeroOutputForMask|unroll)\)/,
    'of the class that the layer extends, in Keras too',
  ],
  [/\((dataFormat|boundingBoxFormat)\)/, 'of the class that the layer extends, in Keras too'],
  [/^StringLookup\(oovMethod\)/, 'of the class that the layer extends, in Keras too'],
  [/^ReversibleEmbedding\(weights\)/, 'as of `Embedding`; Keras fails there'],
  [/^TFSMLayer\(loaded\)/, 'what `await TFSMLayer.load(filepath)` has read'],
];
/** Those of every layer, which Keras's classes take as `**kwargs`. */
const ofEveryLayer = new Set(
  ['name', 'trainable', 'dtype', 'autocast', 'inputShape', 'activityRegularizer'].map(plain),
);
const more: readonly string[] = Object.entries(taken.names['layers'] as ArgumentNames).flatMap(
  ([name, list]) => {
    const theirs = new Set(list.map(plain));
    const found = findIn(spacesOf('layers'), name);
    const ours = isObject(found) ? (parametersOf(found)?.names ?? {}) : {};
    const extra = Object.keys(ours).filter((n) => !theirs.has(plain(n)) && !ofEveryLayer.has(plain(n)));
    return extra.map((n) => `${name}(${n})`);
  },
);

test('options of layers that Keras does not name have a reason', () => {
  expect(more.filter((name) => !beyondKeras.some(([what]) => what.test(name)))).toEqual([]);
  expect(beyondKeras.filter(([what]) => !more.some((name) => what.test(name)))).toEqual([]);
});

test.each([
  ['names', areas, leftOut],
  ['members', memberAreas, leftOutMembers],
  ['arguments', argumentAreas, leftOutArguments],
] as const)('what is left out of %s lacks indeed', (_, of, reasons) => {
  const found = of.flatMap((area) => [...area.leftOut.keys()].map((name) => `${area.title}.${name}`));
  expect(
    reasons.filter(({ what }) => !found.some((name) => what.test(name))).map(({ what }) => what),
  ).toEqual([]);
});

test('every member of a class of Keras is here, or has a reason not to be', () => {
  expect(memberAreas.flatMap((area) => area.lacking.map((name) => `${area.title}.${name}`))).toEqual([]);
});

test('the page of what is here', async () => {
  const row = (title: string, of: readonly Area[]): string => {
    const sum = (count: (area: Area) => number): number => of.reduce((n, area) => n + count(area), 0);
    const all = sum((area) => area.all.length);
    const out = sum((area) => area.leftOut.size);
    const lacking = sum((area) => area.lacking.length);
    const here = all - out - lacking;
    const share = all === out ? '–' : `${Math.floor((100 * here) / (all - out))} %`;
    return `| ${title} | ${all} | ${here} | ${lacking} | ${out} | ${share} |`;
  };
  const code = (all: readonly string[]): string => all.map((name) => `\`${name}\``).join(', ');
  const lacking = (of: readonly Area[]): string =>
    of
      .filter((area) => area.lacking.length > 0)
      .map((area) => `- ${area.title}: ${code(area.lacking)}`)
      .join('\n') || 'Nothing.';
  // Many classes have the same members: `convert_weight` of `AugMix` and so on.
  const together = (list: readonly string[]): string => {
    const by = new Map<string, string[]>();
    for (const [name, member] of list.map((whole) => whole.split('.') as [string, string]))
      by.set(member, [...(by.get(member) ?? []), name]);
    const ofAll = [...by].map(([member, names]) => ({ member, names: names.join(', ') }));
    return [...new Set(ofAll.map(({ names }) => names))]
      .map((names) => {
        const which = ofAll.filter((one) => one.names === names).map(({ member }) => member);
        return `${code(which)} (${names})`;
      })
      .join('; ');
  };
  const meant = (all: readonly Area[], ofClasses = false): string =>
    [...new Set(all.flatMap((area) => [...area.leftOut.values()]))]
      .map((why) => {
        const of = all
          .map(
            (area) =>
              [area.title, [...area.leftOut].filter(([, w]) => w === why).map(([name]) => name)] as const,
          )
          .filter(([, list]) => list.length > 0);
        if (ofClasses) return `- ${why}: ${of.map(([, list]) => together(list)).join('; ')}`;
        return `- ${why}: ${of.map(([title, list]) => `${code(list)} of ${title.replace('members of ', '')}`).join('; ')}`;
      })
      .join('\n');
  const heads = (what: string): string =>
    `| area | ${what} | here | lacking | left out | share of what is not left out |\n| --- | --- | --- | --- | --- | --- |`;
  const asked = argumentAreas.filter((area) => area.all.length > 0);
  const counted = memberAreas.filter((area) => area.all.length > 0);
  const text = `# Names of Keras that are here

The public names of Keras ${version} and the public members of its main classes, compared with those here: in camelCase, without regard to
case, since \`to_json\` is \`toJSON\`, and classes of initializers are functions. What they take is compared below.
\`packages/eagre/tests/parity.test.ts\` compares them and writes this page.

${heads('names')}
${areas.map((area) => row(area.title, [area])).join('\n')}
${row('all', areas)}

## Lacking

${lacking(areas)}

## Left out on purpose

${meant(areas)}

## Members of classes

The methods and properties of every other class that is here, and what Keras's constructors set. Those that a class has of \`Layer\`, \`Model\`, \`Loss\`,
\`Metric\`, \`Optimizer\`, \`Callback\` or \`LearningRateSchedule\` are counted above.

${heads('members')}
${counted.map((area) => row(area.title, [area])).join('\n')}
${row('all', counted)}

### Lacking

${lacking(counted)}

### Left out on purpose

${meant(counted, true)}

## What they take

The arguments of the functions, classes and methods that are here. Methods that users write, such as \`call\`, and callbacks are not counted.

${heads('arguments')}
${asked.map((area) => row(area.title, [area])).join('\n')}
${row('all', asked)}

### Lacking

${lacking(asked)}

### Left out on purpose

${meant(asked)}

### Options of layers that Keras's signatures do not name

Every layer takes \`name\`, \`trainable\`, \`dtype\`, \`autocast\`, \`inputShape\` and \`activityRegularizer\`.
Where Keras refuses \`None\`, \`null\` means the default here. Text, lists and numbers in the place of a flag or of a count are refused here, which Keras often takes.

${[...new Set(beyondKeras.map(([, why]) => why))].map((why) => `- ${why}: ${code(more.filter((name) => beyondKeras.find(([what]) => what.test(name))?.[1] === why))}`).join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../../docs/keras-parity.md');
});
