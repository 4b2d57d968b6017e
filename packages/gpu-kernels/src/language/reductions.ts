// Reductions within a workgroup, which kernels write as two calls:
//
//   workgroupReduce(part, start, t, ACROSS, mine, combine)
//     reduces what each of ACROSS threads has in `mine`, a power of 2 of them, to one. The threads have the numbers `t`, from 0 on, and their words of the
//     workgroup's memory `part` begin at `start`. `combine` is an expression of `left` and `right`, in which these may change places. All threads of the
//     workgroup come there.
//   workgroupResult(part, start)
//     is what the last one before it made, for all of its threads, until they pass a barrier and write to `part` again.
//
// Without subgroups they are a tree with a barrier for each of its levels. With subgroups the upper levels are the same, and the lower ones are made by
// each subgroup in its registers. The tree is the same, so results have the same bits, whatever the size of subgroups.
import { InternalError } from '@eagre/backend';
import { type Call, substituted, substitutedIn } from './substitute.ts';
import type { Expression, FunctionDeclaration, KernelModule, Statement } from './syntax.ts';

const REDUCE = 'workgroupReduce';
const RESULT = 'workgroupResult';

const TREE = `part[start + t] = mine; workgroupBarrier();
  for (var half = across / 2u; half > LEAST; half = half / 2u) {
    if (t < half) { part[start + t] = combine(part[start + t], part[start + t + half]); }
    workgroupBarrier();
  }`;

/**
 * Behind the upper levels `rest` numbers are left, up to four for each lane of a subgroup. Which threads are a subgroup's lanes is up to the GPU, so a
 * lane takes the numbers for its own place.
 */
const LANES = `${TREE.replace('LEAST', '2u * subgroupLanes')}
  let width = min(subgroupLanes, across); let rest = min(4u * subgroupLanes, across);
  let lane = subgroupLane & (width - 1u); let place = start + lane;
  var made = part[place];
  if (rest > 2u * width) { made = combine(made, part[place + 2u * width]); }
  if (rest > width) {
    var other = part[place + width];
    if (rest > 2u * width) { other = combine(other, part[place + 3u * width]); }
    made = combine(made, other);
  }
  for (var step = width / 2u; step > 0u; step = step / 2u) {
    let beside = subgroupShuffleXor(made, step);
    made = combine(made, beside);
  }`;

/**
 * Where a workgroup reduces several times `ACROSS` at once, lanes beside each other might be of several. No GPU is known to mix them so: each thread would
 * reduce all that is left, in its order.
 */
const LANES_OF_SEVERAL = `${LANES}
  let isMixed = subgroupAny(subgroupShuffle(start, subgroupLane - lane) != start);
  if (isMixed) {
    made = part[start];
    for (var k = 1u; k < rest; k++) { made = combine(made, part[start + k]); }
  }`;

const LANES_PARAMETERS = (['subgroup_size', 'subgroup_invocation_id'] as const).map((builtin, i) => ({
  name: ['subgroupLanes', 'subgroupLane'][i],
  type: { kind: 'name', name: 'u32' } as const,
  builtin,
}));

type Unexpanded = Omit<KernelModule, 'entryOfSubgroups'>;

/** A module whose entry point has its reductions as statements, in both ways. @param parse reads statements. */
export function withReductions(
  module: Unexpanded,
  parse: (text: string) => readonly Statement[],
): KernelModule {
  const { entry, constants, workgroup } = module;
  const threads = workgroup[0] * workgroup[1] * workgroup[2];
  let count = 0;
  const expanded = (
    text: (isWhole: boolean) => string,
    result: (number: number, part: Expression, start: Expression) => Expression,
  ): Statement[] => {
    count = 0;
    return substituted(entry.body, {
      name: () => undefined,
      call: ({ name, args: [part, start] }) => (name === RESULT ? result(count, part, start) : undefined),
      statement: (call) => {
        if (call.name !== REDUCE) return undefined;
        const across = call.args[3];
        const known = constants.find((c) => across.kind === 'name' && c.name === across.name)?.value;
        const isWhole = known?.kind === 'number' && Number.parseInt(known.text, 10) === threads;
        return filled(parse(text(isWhole)), call, ++count);
      },
    });
  };
  const body = expanded(
    () => TREE.replace('LEAST', '0u'),
    (_, of, at) => ({ kind: 'index', of, at }),
  );
  if (count === 0) return { ...module, entryOfSubgroups: undefined };
  const ofSubgroups: FunctionDeclaration = {
    ...entry,
    parameters: [...entry.parameters, ...LANES_PARAMETERS],
    body: expanded(
      (isWhole) => (isWhole ? LANES : LANES_OF_SEVERAL),
      (number) => ({ kind: 'name', name: nameOf('made', number) }),
    ),
  };
  return { ...module, entry: { ...entry, body }, entryOfSubgroups: ofSubgroups };
}

const nameOf = (name: string, number: number): string => `${name}Of${number}`;
/** What the statements of a reduction declare where others see it too. */
const DECLARED = ['width', 'rest', 'lane', 'place', 'made', 'isMixed'];

/** The statements of a reduction with the arguments of a call, and names of their own. */
function filled(list: readonly Statement[], { args }: Call, number: number): Statement[] {
  const [part, start, t, across, mine, combine] = args;
  if (combine === undefined || args.length > 6) throw new InternalError(`${REDUCE} has six arguments`);
  const given: Readonly<Record<string, Expression>> = { part, start, t, across, mine };
  const own = new Map<string, Expression>(
    DECLARED.map((name) => [name, { kind: 'name', name: nameOf(name, number) }]),
  );
  const name = (text: string): Expression | undefined => given[text] ?? own.get(text);
  return substituted(list, {
    name,
    call: (call) => {
      if (call.name !== 'combine') return undefined;
      const [left, right] = call.args.map((arg) => substitutedIn(arg, { name, call: () => undefined }));
      return substitutedIn(combine, {
        name: (text) => (text === 'left' ? left : text === 'right' ? right : undefined),
        call: () => undefined,
      });
    },
  });
}
