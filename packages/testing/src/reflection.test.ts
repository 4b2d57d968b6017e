import '@eagre/core';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOps } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';

describe('the op catalogue', () => {
  const ops = [...listOps().values()];

  it('has at least 120 ops', () => {
    expect(ops.length).toBeGreaterThanOrEqual(120);
  });

  it.each(ops.map((op) => [op.name, op] as const))('%s has samples, and a gradient or a reason', (_, op) => {
    expect(op.samples().length).toBeGreaterThan(0);
    expect(op.grad !== undefined || op.notDifferentiable !== undefined || op.isComposite).toBe(true);
    expect(op.grad !== undefined && op.notDifferentiable !== undefined).toBe(false);
  });

  it('says of each op in a comment what it does', () => {
    const folder = fileURLToPath(new URL('../../core/src/', import.meta.url));
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing'))
      .map((file) => readFileSync(join(folder, file), 'utf8'));
    const declared = (before: string): string[] =>
      sources.flatMap((source) =>
        [
          ...source.matchAll(
            new RegExp(`${before}^(?:export )?const (\\w+): (?:Op|\\w+Function) = \\w+\\(`, 'gm'),
          ),
        ].map(([, name]) => name),
      );
    expect(declared('').length).toBeGreaterThan(150);
    expect(declared('(?<!\\*/\\n)')).toEqual([]);
  });
});
