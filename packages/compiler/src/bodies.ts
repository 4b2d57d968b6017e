import { type Plan, Uses } from '@eagre/backend';
import { simplifyCase } from './branches.ts';
import { constantsOf } from './constants.ts';
import { simplifyWhile } from './loop-simplification.ts';
import { Draft, hasBodies, type Surroundings } from './nested.ts';

/**
 * Simplifies Case and While together with their bodies: constants become part of the bodies; inputs that no body reads, and results
 * that nobody reads, are not passed on; what `simplifyCase` and `simplifyWhile` say.
 * @param simplify what is done to a body besides.
 */
export function simplifyBodies(plan: Plan, simplify: (body: Plan) => Plan): Plan {
  if (!plan.calls.some(hasBodies)) return plan;
  const uses = new Uses(plan);
  const around: Surroundings = {
    draft: new Draft(plan),
    constants: constantsOf(plan),
    needed: ({ value }) => !uses.isTemporary(value) || uses.readers[value].length > 0,
    simplify,
  };
  for (const call of plan.calls) {
    if (!hasBodies(call)) around.draft.calls.push(call);
    else if (call.kernel === 'Case') simplifyCase(call, around);
    else simplifyWhile(call, around);
  }
  return around.draft.finish();
}
