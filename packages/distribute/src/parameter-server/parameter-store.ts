// The variables of one parameter server, and what changes them.
import { FailedPreconditionError, InvalidArgumentError, NotFoundError } from '@eagre/backend';
import { IndexedSlices, scope, type Tensor, Variable } from '@eagre/core';
import type { Portable } from '@eagre/saved-model/internal';
import type { Answer } from './connection.ts';
import { type Received, receiveFunction } from './functions.ts';
import type { Message } from './messages.ts';

/** How a variable is changed. */
export const changeKinds = ['assign', 'assignAdd', 'assignSub'] as const;
export const scatterKinds = [
  'scatterAdd',
  'scatterSub',
  'scatterUpdate',
  'scatterMax',
  'scatterMin',
  'scatterMul',
  'scatterDiv',
] as const;
/** Changes of slices, by tuples of indices. */
export const sliceKinds = ['scatterNdAdd', 'scatterNdSub', 'scatterNdUpdate'] as const;
export type ChangeKind = (typeof changeKinds)[number];
export type ScatterKind = (typeof scatterKinds)[number];
export type SliceKind = (typeof sliceKinds)[number];

/** One change, for which the next `count` tensors of the message are. */
export interface Change {
  /** `'update'`: the update of an optimizer, whose number is `id`; else `id` is that of a variable. */
  readonly kind: ChangeKind | ScatterKind | SliceKind | 'update';
  readonly id: number;
  readonly count: number;
}

/** Holds variables. Each message is carried out as a whole, before the next one. */
export class ParameterStore {
  readonly #variables = new Map<number, Variable>();
  readonly #updates = new Map<number, Received>();
  readonly #portable: Portable;
  readonly #name: string;

  constructor(name: string, portable: Portable) {
    this.#name = name;
    this.#portable = portable;
  }

  /** Answers a question. @throws NotFoundError for a variable that is not here, and what a change throws */
  answer(message: Message): Answer {
    switch (message.kind) {
      case 'create':
        return this.#create(message);
      case 'read':
        // The values themselves, which are sent at once: with another hold on them the next update would copy the variable.
        return { tensors: this.#ids(message).map((id) => this.#variable(id).taken()) };
      case 'apply':
        return this.#apply(message);
      case 'define':
        this.#updates.set(
          Number(message.fields['id']),
          receiveFunction(message, this.#portable, (id) => this.#variable(id), 0),
        );
        return {};
      case 'drop':
        for (const id of this.#ids(message)) {
          this.#variables.get(id)?.dispose();
          this.#variables.delete(id);
        }
        return {};
      default:
        throw new FailedPreconditionError(`${this.#name} does not know what '${message.kind}' is`);
    }
  }

  /** Gives all memory back. */
  close(): void {
    for (const variable of this.#variables.values()) variable.dispose();
    this.#variables.clear();
    this.#updates.clear();
  }

  #create({ fields, tensors: [value] }: Message): Answer {
    if (value === undefined) throw new InvalidArgumentError('a variable came without its value');
    const name = String(fields['name']);
    this.#variables.set(
      Number(fields['id']),
      new Variable(value, { name, trainable: fields['trainable'] === true }),
    );
    value.dispose();
    return {};
  }

  #ids({ fields }: Message): readonly number[] {
    const { ids } = fields;
    if (!Array.isArray(ids)) throw new InvalidArgumentError('a question came without numbers of variables');
    return ids as number[];
  }

  #variable(id: number): Variable {
    const variable = this.#variables.get(id);
    if (variable === undefined)
      throw new NotFoundError(`${this.#name} has no variable ${id}: it was started again, or it was dropped`);
    return variable;
  }

  #apply({ fields, tensors }: Message): Answer {
    const changes = fields['changes'] as readonly Change[];
    if (!Array.isArray(changes)) throw new InvalidArgumentError('a message came without its changes');
    // Nothing is changed where one cannot be.
    for (const { kind, id } of changes)
      if (kind !== 'update') this.#variable(id);
      else if (!this.#updates.has(id))
        throw new NotFoundError(`${this.#name} does not know the update ${id}`);
    let next = 0;
    scope(() => {
      for (const change of changes) {
        this.#change(change, tensors.slice(next, next + change.count));
        next += change.count;
      }
    });
    for (const tensor of tensors) tensor.dispose();
    return {};
  }

  #change({ kind, id }: Change, tensors: readonly Tensor[]): void {
    if (kind === 'update') {
      const { run, given } = this.#updates.get(id) as Received;
      const inputs = tensors.slice(0, tensors.length - given.length);
      given.forEach((variable, i) => variable.assign(tensors[inputs.length + i] as Tensor));
      run(inputs);
      return;
    }
    const variable = this.#variable(id);
    const [first, second] = tensors as [Tensor, Tensor];
    if ((changeKinds as readonly string[]).includes(kind)) variable[kind as ChangeKind](first);
    else if ((scatterKinds as readonly string[]).includes(kind))
      variable[kind as ScatterKind](IndexedSlices.of(first, second, variable.shape));
    else if ((sliceKinds as readonly string[]).includes(kind)) variable[kind as SliceKind](first, second);
    else throw new InvalidArgumentError(`variables are not changed by '${String(kind)}'`);
  }
}
