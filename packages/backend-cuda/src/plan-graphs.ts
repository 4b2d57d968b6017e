import { isCode, type NativeDevice, typed } from './addon.ts';

/** How often a graph may be made anew because the launches have changed, before its plan does without. */
const MOST_CHANGES = 4;

/**
 * The graphs of a plan: one for each part of its launches, between which the host writes or reads. A part is made a graph when it comes for the
 * second time, and takes the arguments of each run.
 */
export class PlanGraphs {
  readonly #device: NativeDevice;
  /** Their numbers on the device, by part. */
  readonly numbers: number[] = [];
  #part = 0;
  #runs = 0;
  #changes = 0;

  constructor(device: NativeDevice) {
    this.#device = device;
  }

  /** A run of the plan begins. */
  start(): void {
    this.#part = 0;
    this.#runs++;
  }

  /** Launches the next part. */
  launch(list: Uint8Array): void {
    const part = this.#part++;
    const device = this.#device;
    const known = this.numbers[part];
    if (known !== undefined) {
      if (device.launchGraph(known, list)) return;
      this.#drop(part);
      this.#changes++;
    }
    const made = this.#runs === 1 || this.#changes > MOST_CHANGES ? 0 : device.makeGraph(list);
    if (made === 0) {
      device.launchAll(list);
      return;
    }
    this.numbers[part] = made;
    device.launchGraph(made, list);
  }

  #drop(part: number): void {
    const graph = this.numbers[part];
    delete this.numbers[part];
    this.#device.dropGraph(graph);
  }
}

/** Gives graphs back. What was launched runs to its end. @returns what went wrong. */
export function dropGraphs(device: NativeDevice, numbers: number[]): Error | undefined {
  try {
    for (const graph of numbers.splice(0)) if (graph !== undefined) device.dropGraph(graph);
    return undefined;
  } catch (error) {
    // Those of a GPU that is lost or closed are gone.
    return isCode(error, 'UNAVAILABLE') || isCode(error, 'FAILED_PRECONDITION') ? undefined : typed(error);
  }
}
