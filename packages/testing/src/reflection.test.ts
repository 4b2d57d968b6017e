import '@eagre/core';
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
      expect(op.grad !== undefined || op.notDifferentiable !== undefined || op.transparent).toBe(true);
      expect(op.grad !== undefined && op.notDifferentiable !== undefined).toBe(false);
    },
  );
});
