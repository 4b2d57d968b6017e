// Which strategy is current.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { defineFunction, distribution, kind, type NamedFunction, scoped, shown } from '@eagre/core/internal';
import type { ReplicaContext } from './replica-context.ts';
import { Strategy } from './strategy.ts';
import { ofReplica } from './values.ts';

/** What programs without a strategy run under: one replica, on the current device. */
class DefaultStrategy extends Strategy {
  constructor() {
    super({ devices: ['/cpu:0'] });
  }

  override runReplicas(fn: (...args: never[]) => unknown, args: readonly unknown[]): readonly unknown[] {
    return [fn(...(args.map((arg) => ofReplica(arg, 0, 'strategy.run')) as never[]))];
  }

  override scope<T>(fn: () => T): T;
  override scope(): Disposable;
  override scope<T>(fn?: () => T): T | Disposable {
    return scoped(() => () => {}, 'strategy.scope', fn);
  }
}

let ofNone: DefaultStrategy | undefined;

/** The strategy in whose scope or replica the code runs; one of a single replica outside of any. */
export const getStrategy: NamedFunction<[], [], unknown, Strategy> = /* @__PURE__ */ defineFunction(
  'tf.distribute.getStrategy',
  {},
  {},
  () => {
    const { strategy } = distribution;
    if (strategy instanceof Strategy) return strategy;
    ofNone ??= new DefaultStrategy();
    return ofNone;
  },
);

/** Whether a strategy's scope or replica is around the code. */
export const hasStrategy: NamedFunction<[], [], unknown, boolean> = /* @__PURE__ */ defineFunction(
  'tf.distribute.hasStrategy',
  {},
  {},
  () => distribution.strategy !== null,
);

/** Whether the code runs in a strategy's scope, and not in a replica. */
export const inCrossReplicaContext: NamedFunction<[], [], unknown, boolean> = /* @__PURE__ */ defineFunction(
  'tf.distribute.inCrossReplicaContext',
  {},
  {},
  () => distribution.strategy !== null && distribution.replica === null,
);

/** The replica that the code runs in; null in a strategy's scope, outside of `run`. Without a strategy it is the only one. */
export const getReplicaContext: NamedFunction<[], [], unknown, ReplicaContext | null> =
  /* @__PURE__ */ defineFunction('tf.distribute.getReplicaContext', {}, {}, () => {
    const { replica } = distribution;
    if (replica !== null) return replica as ReplicaContext;
    return distribution.strategy === null ? getStrategy().replicas[0] : null;
  });

let lasting: Strategy | null = null;

/**
 * Makes a strategy current for all code that follows, as if all of it were in its scope; with null, none.
 * @throws FailedPreconditionError in the scope of a strategy
 */
export const experimentalSetStrategy: NamedFunction<
  [strategy: Strategy | null],
  ['strategy'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'tf.distribute.experimentalSetStrategy',
  { strategy: kind.asIs },
  {},
  (strategy) => {
    const op = 'tf.distribute.experimentalSetStrategy';
    if (strategy !== null && !(strategy instanceof Strategy))
      throw new InvalidArgumentError(`expected a strategy or null, got ${shown(strategy)}`, op);
    if (distribution.strategy !== lasting || distribution.replica !== null)
      throw new FailedPreconditionError('it cannot be set in the scope of a strategy', op);
    lasting = strategy;
    distribution.strategy = strategy;
  },
);
