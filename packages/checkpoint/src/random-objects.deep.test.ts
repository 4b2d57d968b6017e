import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataLossError, EagreError, Module, Variable } from '@eagre/core';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openBundle, writeBundle } from './bundle.ts';
import { Checkpoint } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-random-objects-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'ckpt');
const RUNS = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 60);

/** A shape of objects: a number is a variable of so many elements, -1 one that stands elsewhere too. */
type Plan =
  | number
  | { readonly kind: 'array' | 'map' | 'object' | 'module'; readonly inside: readonly [string, Plan][] };
const { plan } = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.integer({ min: -1, max: 3 }),
    fc.record({
      kind: fc.constantFrom('array', 'map', 'object', 'module'),
      inside: fc.uniqueArray(
        fc.tuple(
          fc
            .oneof(fc.constantFrom('w', 'a.b/c', '.', '/', 'ü', '.S', 'x y'), fc.string({ minLength: 1 }))
            .filter((s) => s !== '__proto__' && s !== 'name'),
          tie('plan') as fc.Arbitrary<Plan>,
        ),
        { maxLength: 4, selector: ([name]) => name },
      ),
    }) as fc.Arbitrary<Plan>,
  ),
})) as { plan: fc.Arbitrary<Plan> };

/** Makes the objects; `later` collects what puts things into objects where they are to exist later. */
function make(p: Plan, value: () => number, found: Variable[], later?: (() => void)[]): unknown {
  if (typeof p === 'number') {
    if (p === -1) return found[0];
    const v = new Variable(Array.from({ length: p }, value));
    found.push(v);
    return v;
  }
  const whole: unknown =
    p.kind === 'array' ? [] : p.kind === 'map' ? new Map() : p.kind === 'object' ? {} : new Module();
  for (const [name, inner] of p.inside) {
    const add = (): void => {
      const child = make(inner, value, found, later);
      if (whole instanceof Map) whole.set(name, child);
      else if (Array.isArray(whole)) whole.push(child);
      else (whole as Record<string, unknown>)[name] = child;
    };
    if (later === undefined) add();
    else later.push(add);
  }
  return whole;
}

test('any objects come back, whether they exist before or are made afterwards', () => {
  fc.assert(
    fc.property(plan, (p) => {
      let n = 0;
      const before = [new Variable(++n)];
      new Checkpoint({ root: { shared: before[0], whole: make(p, () => ++n, before) } }).write(file);
      const wanted = before.map((v) => v.array());

      const now = [new Variable(0)];
      new Checkpoint({ root: { shared: now[0], whole: make(p, () => 0, now) } }).read(file).assertConsumed();
      expect(now.map((v) => v.array())).toEqual(wanted);

      const then = [new Variable(0)];
      const later: (() => void)[] = [];
      const root: Record<string, unknown> = { shared: then[0] };
      const status = new Checkpoint({ root }).read(file);
      root['whole'] = make(p, () => 0, then, later);
      for (let i = 0; i < later.length; i++) (later[i] as () => void)();
      status.assertConsumed();
      // The same order: breadth first where things are made afterwards.
      const sorted = (vs: Variable[]): string[] => vs.map((v) => JSON.stringify(v.array())).sort();
      expect(sorted(then)).toEqual(wanted.map((w) => JSON.stringify(w)).sort());
    }),
    { numRuns: RUNS },
  );
});

test('with a damaged byte, one variable at most cannot be used, and none has the value that it was made with', () => {
  fc.assert(
    fc.property(
      plan,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.boolean(),
      (p, where, used) => {
        let n = 0;
        const before = [new Variable([++n])];
        new Checkpoint({ root: { shared: before[0], whole: make(p, () => ++n, before) } }).write(file);
        const wanted = new Set(before.map((v) => JSON.stringify(v.array())));
        const data = `${file}.data-00000-of-00001`;
        const bytes = readFileSync(data);
        // Of the values; the object graph behind them is read first.
        const at = Math.floor(where * 4 * n);
        bytes[at] = (bytes[at] as number) ^ 1;
        writeFileSync(data, bytes);

        const bystander = new Variable(5);
        const root: Record<string, unknown> = {};
        new Checkpoint({ root }).read(file).expectPartial();
        const then: Variable[] = [new Variable([0])];
        const later: (() => void)[] = [];
        const failed = (act: () => void): boolean => {
          try {
            act();
            return false;
          } catch (error) {
            expect(error).toBeInstanceOf(DataLossError);
            return true;
          }
        };
        if (used) (then[0] as Variable).array();
        failed(() => Object.assign(root, { shared: then[0] }));
        failed(() => Object.assign(root, { whole: make(p, () => 0, then, later) }));
        for (let i = 0; i < later.length; i++) failed(later[i] as () => void);
        for (let i = 0; i < 2; i++) {
          const bad = then.filter((v) => failed(() => expect(wanted).toContain(JSON.stringify(v.array()))));
          expect(bad.length).toBeLessThanOrEqual(1);
          expect(bystander.item()).toBe(5);
        }
      },
    ),
    { numRuns: RUNS },
  );
});

test('whatever the graph in a file says, nothing but a typed error comes of it', () => {
  const id = fc.integer({ min: -2, max: 6 });
  const name = fc.constantFrom('', 'a', 'b', 'w', '0', 'constructor', '__proto__', 'toString');
  const node = fc.record(
    {
      children: fc.array(fc.record({ node_id: id, local_name: name }), { maxLength: 4 }),
      attributes: fc.array(
        fc.record({
          name: fc.constantFrom('VARIABLE_VALUE', 'x'),
          checkpoint_key: fc.constantFrom('k', 'none', ''),
        }),
        { maxLength: 2 },
      ),
      slot_variables: fc.array(
        fc.record({ original_variable_node_id: id, slot_name: name, slot_variable_node_id: id }),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(node, { maxLength: 6 }), (nodes) => {
      const k = new Variable([1, 2]);
      writeBundle(file, { graph: { nodes }, tensors: [['k', k.read()]] });
      expect(openBundle(file).keys).toContain('k');
      const checkpoint = new Checkpoint<Record<string, unknown>>({
        a: new Module(),
        b: [new Variable([0, 0])],
        w: new Variable([3, 4]),
      });
      for (const act of [
        () => checkpoint.read(file).expectPartial().assertConsumed(),
        () => checkpoint.restore(file).expectPartial().assertNontrivialMatch(),
        () => Object.assign(checkpoint['a'] as object, { w: new Variable([0, 0]) }),
      ]) {
        try {
          act();
        } catch (error) {
          expect(error).toBeInstanceOf(EagreError);
        }
      }
    }),
    { numRuns: RUNS },
  );
});
