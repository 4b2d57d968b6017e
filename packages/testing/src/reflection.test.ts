import '@eagre/core';
import { readdirSync, readFileSync } from 'node:fs';
import { listOps } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';

describe('the op catalogue', () => {
  const ops = [...listOps().values()];

  it('has at least 120 ops', () => {
    expect(ops.length).toBeGreaterThanOrEqual(120);
  });

  it.each(ops.map((op) => [op.name, op] as const))(
    '%s is documented, has samples, and a gradient or a reason',
    (_, op) => {
      expect(op.doc).toMatch(/\S.{9,}\.$/s);
      expect(op.samples().length).toBeGreaterThan(0);
      expect(op.grad !== undefined || op.notDifferentiable !== undefined || op.isComposite).toBe(true);
      expect(op.grad !== undefined && op.notDifferentiable !== undefined).toBe(false);
    },
  );

  // Editors show comments, not the field `doc`.
  it('elementwise functions, and so methods, have a comment', () => {
    const folder = new URL('../../core/src/ops/', import.meta.url);
    const bare = readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...readFileSync(new URL(file, folder), 'utf8').matchAll(
          /(?<!\*\/\n)^export const (\w+): (?:Unary|Binary)Function = define(?:Unary|Binary)\(/gm,
        ),
      ])
      .map(([, name]) => name);
    expect(bare).toEqual([]);
  });
});
