// The parameter servers, as the coordinator sees them: it makes variables there, reads and changes them, and sends updates.
import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { constant, IndexedSlices, type Tensor, Variable } from '@eagre/core';
import { dims, inInitScope, isDrawSource, toShape, type VariableRequest, within } from '@eagre/core/internal';
import { type ConcreteFunction, TensorSpec, tfFunction } from '@eagre/graph';
import { type Capture, streamState } from '@eagre/graph/interchange';
import type { Portable } from '@eagre/saved-model/internal';
import type { Request } from './connection.ts';
import type { CaptureSpec } from './functions.ts';
import type { Change, ChangeKind, ScatterKind } from './parameter-store.ts';
import { type RecordedChange, recording } from './recording.ts';
import { ServedVariable, type VariableServers } from './served-variable.ts';
import type { SyncClient } from './sync-client.ts';

/** What a connected cluster offers. */
export interface Link {
  readonly client: SyncClient;
  readonly portable: Portable;
}

/** The update of one optimizer on one server. */
interface Update {
  readonly id: number;
  /** Variables of other servers that it reads, whose values come with each call. */
  readonly given: readonly ServedVariable[];
}

/** What is thrown before `connect`. */
export const notConnected = (): FailedPreconditionError =>
  new FailedPreconditionError(
    'the cluster is not connected: call `await strategy.connect()` after you make the strategy',
    'ParameterServerStrategy',
  );

export class ParameterServers implements VariableServers {
  readonly count: number;
  readonly #inScope: <T>(fn: () => T) => T;
  #link: Link | undefined;
  #nextVariable = 1;
  #nextUpdate = 1;
  #nextServer = 0;
  /** By the counter of the optimizer, and what is updated. */
  readonly #updates = new Map<Variable, Map<string, Update>>();

  constructor(count: number, inScope: <T>(fn: () => T) => T) {
    this.count = count;
    this.#inScope = inScope;
  }

  /** @throws FailedPreconditionError before the cluster is connected */
  get link(): Link {
    if (this.#link === undefined) throw notConnected();
    return this.#link;
  }
  set link(link: Link | undefined) {
    this.#link = link;
  }

  inScope<T>(fn: () => T): T {
    return this.#inScope(fn);
  }

  /** Makes a variable on the next server, or on that of `beside`. */
  create(request: VariableRequest, beside: ServedVariable | null): ServedVariable {
    const server = beside?.server ?? this.#nextServer++ % this.count;
    const id = this.#nextVariable++;
    const { value, name, trainable } = request;
    this.#ask(server, { kind: 'create', fields: { id, name, trainable }, tensors: [value] });
    return new ServedVariable(request, this, server, id);
  }

  #ask(server: number, request: Request): readonly Tensor[] {
    return this.link.client.ask(server, request).tensors;
  }

  read({ server, served }: ServedVariable): Tensor {
    return this.#ask(server, { kind: 'read', fields: { ids: [served] } })[0] as Tensor;
  }

  change(
    { server, served }: ServedVariable,
    kind: ChangeKind | ScatterKind,
    tensors: readonly Tensor[],
  ): void {
    const changes: Change[] = [{ kind, id: served, count: tensors.length }];
    this.#ask(server, { kind: 'apply', fields: { changes }, tensors });
  }

  drop({ server, served }: ServedVariable): void {
    // What is gone needs not be dropped.
    if (this.#link !== undefined) this.#ask(server, { kind: 'drop', fields: { ids: [served] } });
  }

  /** See `VariableHome`. */
  update(
    gradients: readonly (Tensor | IndexedSlices)[],
    variables: readonly Variable[],
    counter: Variable,
    apply: (gradients: readonly unknown[], variables: readonly Variable[]) => void,
  ): void {
    const op = 'applyGradients';
    if (!this.#owns(counter))
      throw new InvalidArgumentError('the optimizer was not made in strategy.scope(…)', op);
    const own = variables.map((variable): ServedVariable => {
      if (this.#owns(variable)) return variable;
      throw new InvalidArgumentError(
        `the variable '${variable.path}' was not made in strategy.scope(…), as others of the list were`,
        op,
      );
    });
    const changes: RecordedChange[] = [];
    const places = [...new Set(own.map(({ server }) => server))];
    for (const server of places) {
      const at = own.flatMap((variable, i) => (variable.server === server ? [i] : []));
      const some = at.map((i) => gradients[i] as Tensor | IndexedSlices);
      const there = at.map((i) => own[i] as ServedVariable);
      const { id, given } = this.#defined(server, some, there, counter, apply);
      const tensors = [...some.flatMap(tensorsOf), ...given.map((variable) => variable.taken())];
      changes.push({ server, kind: 'update', id, tensors });
    }
    if (!places.includes(counter.server)) {
      const one = constant(1, counter.dtype);
      changes.push({ server: counter.server, kind: 'assignAdd', id: counter.served, tensors: [one] });
    }
    const { current } = recording;
    if (current === null) {
      this.#send(changes);
      return;
    }
    current.changes.push(...changes);
    // What the function reads of it from here on.
    within(recording, { inUpdate: true }, () => counter.assignAdd(1));
  }

  #owns(variable: Variable): variable is ServedVariable {
    return variable instanceof ServedVariable && variable.home === this;
  }

  #send(changes: readonly RecordedChange[]): void {
    for (const { server, kind, id, tensors } of changes)
      this.#ask(server, {
        kind: 'apply',
        fields: { changes: [{ kind, id, count: tensors.length }] },
        tensors,
      });
  }

  /** The update of some variables on their server, which gets it where it does not know it yet. */
  #defined(
    server: number,
    gradients: readonly (Tensor | IndexedSlices)[],
    variables: readonly ServedVariable[],
    counter: ServedVariable,
    apply: (gradients: readonly unknown[], variables: readonly Variable[]) => void,
  ): Update {
    const tensors = gradients.flatMap(tensorsOf);
    const key = JSON.stringify([
      variables.map(({ served }) => served),
      gradients.map((gradient) => gradient instanceof IndexedSlices),
      tensors.map((x) => [x.dtype, toShape(dims(x))]),
    ]);
    let known = this.#updates.get(counter);
    if (known === undefined) this.#updates.set(counter, (known = new Map()));
    let update = known.get(key);
    if (update === undefined)
      known.set(key, (update = this.#define(server, gradients, variables, counter, apply)));
    return update;
  }

  #define(
    server: number,
    gradients: readonly (Tensor | IndexedSlices)[],
    variables: readonly ServedVariable[],
    counter: ServedVariable,
    apply: (gradients: readonly unknown[], variables: readonly Variable[]) => void,
  ): Update {
    const traced = tfFunction(
      ((...flat: Tensor[]): Tensor[] => {
        let next = 0;
        const given = gradients.map((gradient, i) => {
          const first = flat[next++] as Tensor;
          if (!(gradient instanceof IndexedSlices)) return first;
          return IndexedSlices.of(first, flat[next++] as Tensor, (variables[i] as ServedVariable).shape);
        });
        within(recording, { current: null, inUpdate: true }, () => apply(given, variables));
        return [];
      }) as (...args: never[]) => Tensor[],
      { name: 'update' },
    );
    const specs = gradients
      .flatMap(tensorsOf)
      .map((x) => new TensorSpec(toShape(dims(x)) as number[], x.dtype));
    return inInitScope(() => {
      const concrete = traced.getConcreteFunction(...(specs as never[]));
      this.#checkWritten(concrete, server, counter);
      const { graph, captures } = this.link.portable.writePortable(concrete);
      const given: ServedVariable[] = [];
      const { specs: captureSpecs, tensors } = this.captureSpecs(captures, (variable) => {
        if (variable.server === server) return { variable: variable.served };
        given.push(variable);
        return { given: given.length - 1, dtype: variable.dtype, shape: variable.shape };
      });
      const id = this.#nextUpdate++;
      this.#ask(server, { kind: 'define', fields: { id, captures: captureSpecs }, tensors, blobs: [graph] });
      return { id, given };
    });
  }

  /** An update changes what is on its server; and the counter, which another one may have. */
  #checkWritten(concrete: ConcreteFunction, server: number, counter: ServedVariable): void {
    for (const variable of writtenIn(concrete)) {
      if (variable === counter || !(variable instanceof ServedVariable) || variable.server === server)
        continue;
      throw new UnimplementedError(
        `the optimizer changes '${variable.path}' with each of several parameter servers: use one parameter server, or another optimizer`,
        'applyGradients',
      );
    }
  }

  /** What a function gets in the places of what it captures. @throws InvalidArgumentError for a variable of this process */
  captureSpecs(
    captures: readonly Capture[],
    ofVariable: (variable: ServedVariable) => CaptureSpec,
  ): { readonly specs: readonly CaptureSpec[]; readonly tensors: readonly Tensor[] } {
    const tensors: Tensor[] = [];
    const specs = captures.map((capture): CaptureSpec => {
      if (capture instanceof Variable) {
        if (capture instanceof ServedVariable) return ofVariable(capture);
        throw new InvalidArgumentError(
          `the function uses the variable '${capture.path}', which is in this process: make it in strategy.scope(…)`,
        );
      }
      if (isDrawSource(capture)) {
        tensors.push(streamState(capture));
        return 'stream';
      }
      tensors.push(capture as Tensor);
      return 'tensor';
    });
    return { specs, tensors };
  }
}

const tensorsOf = (gradient: Tensor | IndexedSlices): readonly Tensor[] =>
  gradient instanceof IndexedSlices ? [gradient.values, gradient.indices] : [gradient];

/** The variables that a trace changes. */
function writtenIn(concrete: ConcreteFunction): ReadonlySet<Variable> {
  const { graph } = concrete;
  const written = new Set<Variable>(graph.assignments.map(({ variable }) => variable));
  for (const node of graph.nodes)
    if (node.what.kind === 'update') for (const variable of node.what.written) written.add(variable);
  return written;
}
