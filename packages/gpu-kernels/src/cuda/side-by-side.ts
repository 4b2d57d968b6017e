// One dispatch for several of one program, whose workgroups follow each other: GPUs of NVIDIA bind any number of buffers.
import { type Dispatch, type GpuProgram, programOf, groups as workgroupsOf } from '../kernels/kernel.ts';

/** How many dispatches become one at most. */
export const MOST_SIDE_BY_SIDE = 16;

/** What tells a workgroup of `perWord` its number. */
const NUMBER = 'group.y * all.x + group.x';
const PARTS = /^struct Params \{([^}]*)\}\n((?:@group[^\n]*\n)+)\s*(@compute[^{]*\{)(.*)\}$/s;

const known = new WeakMap<GpuProgram, GpuProgram | null>();

/** A program for several tensors, or null for one whose workgroups share memory or look at their number elsewhere. */
function joined({ text }: GpuProgram): GpuProgram | null {
  const [, fields, bindings, entry, body] = PARTS.exec(text.trim()) ?? [];
  if (body === undefined || body.split(NUMBER).length !== 2) return null;
  if (/\b(group|all)\b/.test(body.replace(NUMBER, '')) || /workgroup/.test(body)) return null;
  const lines = bindings.trim().split('\n').slice(0, -1);
  const names = lines.map((line) => /> (\w+): /.exec(line)?.[1]).join('|');
  const params = fields.split(',').map((field) => field.trim());
  const of = (part: string, k: number): string =>
    part
      .replace(NUMBER, `serial - begin${k}`)
      .replaceAll(new RegExp(`\\b(${names})\\[`, 'g'), `$1_${k}[`)
      .replaceAll(new RegExp(`&(${names})\\[`, 'g'), `&$1_${k}[`)
      .replaceAll(/\bp\.(\w+)/g, `p.$1_${k}`);
  const all = Array.from({ length: MOST_SIDE_BY_SIDE }, (_, k) => k);
  const blocks = all.map((k) => {
    const begin = k === 0 ? '0u' : `p.end_${k - 1}`;
    return `if (serial < p.end_${k}) { let begin${k} = ${begin}; ${of(body, k)} }`;
  });
  const own = all.flatMap((k) => [`end_${k}: u32`, ...params.map((field) => field.replace(':', `_${k}:`))]);
  const bound = all.flatMap((k) =>
    lines.map((line, i) =>
      line
        .replace(/@binding\(\d+\)/, `@binding(${k * lines.length + i})`)
        .replace(/> (\w+): /, `> $1_${k}: `),
    ),
  );
  return programOf(`struct Params { ${own.join(', ')} }
${bound.join('\n')}
@group(0) @binding(${bound.length}) var<uniform> p: Params;
${entry} let serial = ${NUMBER}; ${blocks.join(' else ')} }`);
}

/** Fewer are not worth a program of their own. */
export const LEAST_SIDE_BY_SIDE = 3;

/** Dispatches that need nothing of each other, as fewer, of the same operands. */
export function sideBySide(dispatches: readonly Dispatch[]): readonly Dispatch[] {
  const alike = new Map<GpuProgram, Dispatch[]>();
  for (const dispatch of dispatches)
    alike.set(dispatch.program, [...(alike.get(dispatch.program) ?? []), dispatch]);
  return [...alike].flatMap(([program, list]) => {
    let made = known.get(program);
    if (made === undefined) known.set(program, (made = joined(program)));
    if (made === null) return list;
    const groups: (readonly Dispatch[])[] = [];
    for (let at = 0; at < list.length; at += MOST_SIDE_BY_SIDE)
      groups.push(list.slice(at, at + MOST_SIDE_BY_SIDE));
    return groups.flatMap((group) => (group.length < LEAST_SIDE_BY_SIDE ? group : [together(made, group)]));
  });
}

function together(program: GpuProgram, dispatches: readonly Dispatch[]): Dispatch {
  let end = 0;
  const last = dispatches[dispatches.length - 1];
  const missing = Array.from({ length: MOST_SIDE_BY_SIDE - dispatches.length }, () => last);
  const params = dispatches.flatMap(({ workgroups: [x, y], params }) => [(end += x * y), ...params]);
  return {
    program,
    // The last one fills the places that are left, without workgroups.
    operands: [...dispatches, ...missing].flatMap(({ operands }) => operands),
    params: [...params, ...missing.flatMap(({ params }) => [end, ...params])],
    workgroups: workgroupsOf(end),
  };
}
