import { InvalidArgumentError, type Plan } from '@eagre/backend';
import { simplifyBodies } from './bodies.ts';
import { compactValues } from './compact.ts';
import { foldConstants } from './constants.ts';
import { shareCommonCalls } from './cse.ts';
import { removeDeadCalls } from './dce.ts';
import { repeatCheapCalls } from './duplicates.ts';
import { fuseScalarCalls } from './fusion.ts';
import { carryConditions } from './loop-rotation.ts';
import { foldMovement } from './movement.ts';
import { hasBodies, liftStates, mapBodies } from './nested.ts';
import { overwriteLast } from './overwrites.ts';
import { addRowsInPlace } from './patterns/accumulation.ts';
import { fuseEpilogues } from './patterns/epilogues.ts';
import { fuseReductions } from './patterns/reductions.ts';
import { recogniseRows } from './patterns/rows.ts';
import { sinkSums } from './patterns/sinking.ts';
import { recomputeCheapResults } from './rematerialize.ts';
import { selectResults } from './selections.ts';
import { removeDeadStacks } from './stacks.ts';
import { sinkStores } from './store-forwarding.ts';
import { planToString } from './text.ts';

/** @param inside whether the plan is a body of a loop or branch. */
type Pass = (plan: Plan, inside: boolean) => Plan;

const passes = {
  constants: foldConstants,
  movement: foldMovement,
  common: shareCommonCalls,
  sinking: sinkSums,
  accumulation: addRowsInPlace,
  dead: removeDeadCalls,
  rows: recogniseRows,
  epilogues: fuseEpilogues,
  stores: sinkStores,
  duplicates: repeatCheapCalls,
  fusion: fuseScalarCalls,
  recompute: recomputeCheapResults,
  reductions: fuseReductions,
  overwrites: overwriteLast,
} satisfies Record<string, Pass>;

type PassName = keyof typeof passes;

// Each finds more after those before it: constants show which moves are copies, moved values which calls are the same.
const simplifying: readonly PassName[] = [
  'constants',
  'movement',
  'common',
  'movement',
  'sinking',
  'accumulation',
  'dead',
];

// Rows, epilogues and stores come before fusion, which would take their patterns apart, and reductions after it, into programs that are
// whole; removing dead calls leaves values with fewer readers.
const joining: readonly PassName[] = [
  'rows',
  'epilogues',
  'stores',
  'duplicates',
  'fusion',
  'recompute',
  'reductions',
  'stores',
  'dead',
  'overwrites',
];

/** The names of the passes that `optimizePlan` can run. */
export const planPasses: readonly string[] = [
  ...Object.keys(passes),
  'bodies',
  'selections',
  'stacks',
  'inversion',
];

/** Options of `optimizePlan`. */
export interface OptimizeOptions {
  /** Only these passes, in their usual order; all of `planPasses` by default. */
  readonly passes?: readonly string[];
}

/**
 * A plan that computes the same with fewer calls and less memory. Results keep every bit, but for what `foldMovement` and `fuseEpilogues`
 * say of the rounding of products, `addRowsInPlace` and `sinkSums` of sums, and the last bit of native powers of 2 and −1.
 *
 * With the environment variable `EAGRE_GRAPH_DUMP` each stage is written to standard error as `planToString` shows it: `1` for all
 * stages, or the names of some, separated by commas: `input`, passes, `result`.
 *
 * @throws InvalidArgumentError for a pass of another name.
 */
export function optimizePlan(plan: Plan, options: OptimizeOptions = {}): Plan {
  const wanted = options.passes ?? planPasses;
  for (const name of wanted) {
    if (!planPasses.includes(name)) {
      throw new InvalidArgumentError(
        `no pass is called '${name}', expected some of ${planPasses.join(', ')}`,
        'optimizePlan',
      );
    }
  }
  const dump = dumper();
  const run = (plan: Plan, order: readonly PassName[], show: typeof dump, inside = false): Plan => {
    let current = plan;
    for (const name of order) {
      if (!wanted.includes(name)) continue;
      current = passes[name](current, inside);
      show(name, current);
    }
    return current;
  };
  const simplify = (plan: Plan, show: typeof dump, inside = false): Plan => {
    const once = run(plan, simplifying, show, inside);
    const body = (plan: Plan): Plan => simplify(plan, () => {}, true);
    if (!once.calls.some(hasBodies)) return once;
    let bodies = once;
    if (wanted.includes('bodies')) {
      bodies = simplifyBodies(bodies, body);
      show('bodies', bodies);
    } else bodies = mapBodies(bodies, body);
    if (wanted.includes('selections')) {
      bodies = selectResults(bodies);
      show('selections', bodies);
    }
    // What came out of the bodies, and what they no longer need.
    return run(bodies, simplifying, show, inside);
  };
  const join = (plan: Plan, show: typeof dump = () => {}): Plan =>
    compactValues(
      run(
        mapBodies(plan, (body) => join(body)),
        joining,
        show,
      ),
    );
  dump('input', plan);
  let simple = simplify(liftStates(plan), dump);
  if (wanted.includes('stacks')) {
    // What is no longer pushed may show others that nobody needs.
    for (let next = removeDeadStacks(simple); next !== simple; next = removeDeadStacks(simple)) {
      dump('stacks', next);
      simple = simplify(next, dump);
    }
  }
  if (wanted.includes('inversion')) {
    simple = carryConditions(simple);
    dump('inversion', simple);
  }
  const result = join(simple, dump);
  dump('result', result);
  return result;
}

function dumper(): (stage: string, plan: Plan) => void {
  // Browsers have no environment.
  const setting = typeof process === 'object' ? process.env?.['EAGRE_GRAPH_DUMP'] : undefined;
  if (setting === undefined || setting === '') return () => {};
  const stages = setting.split(',').map((stage) => stage.trim());
  return (stage, plan) => {
    if (setting === '1' || stages.includes(stage)) console.error(`--- plan: ${stage}\n${planToString(plan)}`);
  };
}
