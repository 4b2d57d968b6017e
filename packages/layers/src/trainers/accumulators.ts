// What the metrics of a model hold, for each run of it: several may go on at once.
import { scope, type Tensor, type Variable } from '@eagre/core';
import { keepAll } from '../layer/call.ts';
import type { Model } from '../models/model.ts';
import { readMetrics } from './compile.ts';

// The run whose values the metrics hold.
const current = new WeakMap<Model, Accumulators>();

/** The metrics of one run of a model (`fit`, a validation, `evaluate`), apart from those of other runs that go on meanwhile. */
export class Accumulators {
  readonly #model: Model;
  /** The values while another run goes on. */
  readonly #held = new Map<Variable, Tensor>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** Has the metrics hold the values of this run. To be called before each step. */
  enter(): void {
    const model = this.#model;
    const other = current.get(model);
    if (other === this) return;
    if (other !== undefined) other.#save();
    current.set(model, this);
    scope(() => {
      for (const metric of model.metrics) {
        const values = metric.variables.map((v) => this.#held.get(v));
        // Those of a run that begins, or that were made since.
        if (values.includes(undefined)) metric.resetState();
        else metric.variables.forEach((v, i) => v.assign(values[i] as Tensor));
      }
    });
    for (const value of this.#held.values()) value.dispose();
    this.#held.clear();
  }

  /** Starts anew. */
  reset(): void {
    this.enter();
    for (const metric of this.#model.metrics) metric.resetState();
  }

  /** Ends the run: the metrics keep its values until another one begins or goes on. */
  leave(): void {
    if (current.get(this.#model) === this) current.delete(this.#model);
    for (const value of this.#held.values()) value.dispose();
    this.#held.clear();
  }

  #save(): void {
    readMetrics(this.#model, () => {
      for (const metric of this.#model.metrics)
        for (const v of metric.variables) this.#held.set(v, keepAll(v.read()));
    });
  }
}
