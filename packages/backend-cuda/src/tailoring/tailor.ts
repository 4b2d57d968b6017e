import type { Plan } from '@eagre/backend';
import { activateNorms } from './activated-norms.ts';
import { fillImages } from './filled-images.ts';
import { groupAlike } from './group-alike.ts';
import { readNarrowGradients } from './narrow-gradients.ts';
import { narrowNorms } from './narrow-norms.ts';
import { narrowPools } from './narrow-pools.ts';
import { packAttention } from './packed-attention.ts';
import { pitchLines } from './pitched-lines.ts';
import { type Gpu, type MakeOwn, type Tailoring, withoutDead } from './plans.ts';
import { sumColumns } from './sum-columns.ts';

const passes: readonly Tailoring[] = [
  readNarrowGradients,
  narrowNorms,
  narrowPools,
  activateNorms,
  packAttention,
  pitchLines,
  fillImages,
  sumColumns,
  groupAlike,
];

/** A plan, and those in its branches and loops, with calls that only this backend has: what they compute is what it was. */
export function tailored(plan: Plan, make: MakeOwn, gpu: Gpu): Plan {
  const inner = plan.calls.map((call) =>
    call.bodies === undefined
      ? call
      : { ...call, bodies: call.bodies.map((body) => tailored(body, make, gpu)) },
  );
  let made: Plan = { ...plan, calls: inner };
  for (const pass of passes) made = withoutDead(pass(made, make, gpu));
  return made;
}
