import { readFileSync } from 'node:fs';
import { declared, parametersOf } from '@eagre/core/internal';
import { test } from 'vitest';
import * as tf from '../../src/index.ts';
const { arguments: args } = JSON.parse(readFileSync(new URL('../../golden/keras-names.json', import.meta.url), 'utf8'));
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
const isObject = (value: unknown): value is object => (typeof value === 'object' && value !== null) || typeof value === 'function';
function find(spaces: readonly object[], name: string): unknown {
  const [first, ...rest] = name.split('.') as [string, ...string[]];
  for (const space of spaces)
    for (let at: object | null = space; at !== null && at !== Object.prototype && at !== Function.prototype; at = Object.getPrototypeOf(at))
      for (const key of Object.getOwnPropertyNames(at)) {
        if (plain(key) !== plain(first)) continue;
        const v = (space as any)[key];
        if (rest.length === 0) return v;
        if (isObject(v)) return find([v], rest.join('.'));
      }
  return undefined;
}
function spacesOf(path: string): object[] {
  let at: any = tf.keras;
  for (const part of path.split('.').filter((p) => p !== '')) at = isObject(at) ? Object.entries(at).find(([k]) => plain(k) === plain(part))?.[1] : undefined;
  return [...(isObject(at) ? [at] : []), ...(path === '' ? [tf] : [])];
}
test('x', () => {
  const out: string[] = [];
  let undeclared = 0, all = 0, here = 0;
  for (const [path, names] of Object.entries(args.names) as any)
    for (const [name, list] of Object.entries(names) as any) {
      const v = find(spacesOf(path), name);
      if (v === undefined) continue;
      const d = declared(v as object), p = parametersOf(v as object);
      if (d === undefined && p === undefined) { undeclared++; out.push(`UNDECLARED ${path}.${name}`); continue; }
      const ours = new Set([...(d ? [...d.positional, ...Object.keys(d.options), d.rest ?? ''] : []), ...(p ? Object.keys(p.names) : [])].map(plain));
      const lacking = list.filter((a: string) => !ours.has(plain(a)));
      all += list.length; here += list.length - lacking.length;
      if (lacking.length) out.push(`${path}.${name}: ${lacking.join(', ')}   [ours: ${[...ours].join(' ')}]`);
    }
  const model = new tf.Sequential([tf.Input([2]), new tf.layers.Dense(1)]); model.compile({ loss: 'mse' });
  const objects: any = { Layer: model.layers[0], Model: model, Sequential: model, Loss: new tf.losses.MeanSquaredError(), Metric: new tf.metrics.Mean(), Optimizer: model.optimizer, Callback: new tf.callbacks.Callback(), LearningRateSchedule: new tf.optimizers.schedules.CosineDecay(0.1, 10) };
  for (const [cls, names] of Object.entries(args.members) as any)
    for (const [name, list] of Object.entries(names) as any) {
      let v = find([objects[cls]], name); if (v === undefined) v = find([objects[cls].constructor], name);
      if (v === undefined) continue;
      const d = isObject(v) ? declared(v) : undefined;
      if (d === undefined) { undeclared++; out.push(`UNDECLARED member ${cls}.${name} (${list})`); continue; }
      const ours = new Set([...d.positional, ...Object.keys(d.options), d.rest ?? ''].map(plain));
      const lacking = list.filter((a: string) => !ours.has(plain(a)));
      all += list.length; here += list.length - lacking.length;
      if (lacking.length) out.push(`member ${cls}.${name}: ${lacking.join(', ')}   [ours: ${[...ours].join(' ')}]`);
    }
  console.log(all, here, undeclared, '\n' + out.join('\n'));
});
