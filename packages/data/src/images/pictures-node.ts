// Batches of pictures that threads of the addon read, decode and resize while the program goes on.
import { constant, type Tensor } from '@eagre/core';
import { emptyTensor, spaceOf, uploaded, viewOf, whenDropped } from '@eagre/core/internal';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import {
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { list, UnaryIterator } from '../pipeline/node.ts';
import { MapNode, type MapOptions } from '../transformations/map.ts';
import { threads } from './codecs.ts';

/** What becomes of each picture. */
export interface Recipe {
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3 | 4;
  readonly bilinear: boolean;
  readonly cropToAspectRatio: boolean;
  readonly padToAspectRatio: boolean;
}

/** How files become elements. */
interface Files {
  readonly paths: readonly string[];
  readonly recipe: Recipe;
  /** What else is in a batch of files with these numbers; null where pictures are all. */
  readonly labels: ((numbers: readonly number[]) => Tensor) | null;
}

/** Files by their numbers as pictures: by the function of `map` one by one, or as batches by threads of the addon, where there is one. */
export class PicturesNode extends MapNode {
  readonly #files: Files;

  constructor(
    input: DatasetNode,
    fn: (number: Tensor) => Awaitable<Element>,
    options: MapOptions,
    files: Files,
  ) {
    super(input, fn as (...args: never[]) => unknown, options);
    this.#files = files;
  }

  /** The element of the file with this number. */
  one(number: number): Awaitable<Element> {
    return this.fn.call([constant(number, 'int32')]) as Awaitable<Element>;
  }

  override iterate(context: IterationContext): ElementIterator {
    if (threads()?.beginPictures === undefined) return super.iterate(context);
    return new PicturesIterator(this.input.iterate(context), this, this.#files);
  }
}

/** Files that are being read. */
interface Reading {
  readonly numbers: readonly number[];
  readonly pictures: Tensor;
  /** Its memory, which threads write into. */
  readonly space: Float32Array;
  readonly handle: unknown;
}

/** Ends what an iterator has begun. Threads write into the memory of these tensors until then, also when the iterator has been forgotten. */
function stop(readings: Reading[]): void {
  for (const { handle, pictures } of readings.splice(0)) {
    threads()?.finishPictures?.(handle, false);
    pictures.dispose();
  }
}

class PicturesIterator extends UnaryIterator<PicturesNode> {
  override readonly ownsElements = true;
  override readonly hasRows = true;
  readonly #files: Files;
  /** The batch that is asked for, and the one that is read meanwhile. */
  readonly #readings: Reading[] = [];
  /** Files that come before those of the input: another one of their batch failed, or they were under way when the state was saved. */
  #first: number[] = [];
  /** A file whose error is thrown behind the pictures before it. */
  #failed: { readonly number: number; readonly cause: unknown } | null = null;
  #ended = false;

  constructor(input: ElementIterator, node: PicturesNode, files: Files) {
    super(input, node);
    this.#files = files;
    const readings = this.#readings;
    whenDropped(this, () => stop(readings));
  }

  next(): Awaitable<Step> {
    const [number] = this.#numbers(1);
    return number === undefined ? END : this.node.one(number);
  }

  override nextRows(count: number): Step {
    this.#throwFailed();
    if ((this.#readings[0]?.numbers.length ?? 0) > count) this.#first.unshift(...this.#takenBack());
    while (this.#readings.length < 2 && this.#begin(count));
    const reading = this.#readings.shift();
    return reading === undefined ? END : this.#finish(reading);
  }

  #throwFailed(): void {
    const failed = this.#failed;
    this.#failed = null;
    if (failed !== null) throw failed.cause;
  }

  /** So many numbers of files, or what is left. */
  #numbers(count: number): number[] {
    const numbers = this.#first.splice(0, count);
    while (numbers.length < count && !this.#ended) {
      // A list of numbers never waits.
      const step = this.input.next() as Step;
      if (step === END) this.#ended = true;
      else {
        numbers.push((step as Tensor).item() as number);
        (step as Tensor).dispose();
      }
    }
    return numbers;
  }

  /** Has threads read the next batch; false where nothing is left. */
  #begin(count: number): boolean {
    const { paths, recipe } = this.#files;
    const numbers = this.#numbers(count);
    if (numbers.length === 0) return false;
    const { height, width, channels, bilinear, cropToAspectRatio, padToAspectRatio } = recipe;
    const pictures = emptyTensor('float32', [numbers.length, height, width, channels]);
    const space = spaceOf(pictures) as Float32Array;
    const handle = threads()?.beginPictures?.(
      numbers.map((i) => paths[i]),
      Int32Array.from([height, width, channels, bilinear, cropToAspectRatio, padToAspectRatio], Number),
      space,
    );
    this.#readings.push({ numbers, pictures, space, handle });
    return true;
  }

  /** The pictures before the first file that fails; all of them where none does. */
  #finish({ numbers, pictures, space, handle }: Reading): Step {
    const failed = threads()?.finishPictures?.(handle, true) ?? new Int32Array(0);
    const size = space.length / numbers.length;
    let good = numbers.length;
    for (const place of failed) {
      try {
        // Other formats are decoded here, and errors are those of the decoders.
        const element = this.node.one(numbers[place]) as Element;
        const picture = (Array.isArray(element) ? element[0] : element) as Tensor;
        space.set(viewOf(picture) as Float32Array, place * size);
      } catch (cause) {
        good = place;
        this.#failed = { number: numbers[place], cause };
        this.#first.unshift(...numbers.slice(place + 1), ...this.#takenBack());
        break;
      }
    }
    if (good === 0) {
      pictures.dispose();
      this.#throwFailed();
    }
    let images = uploaded(pictures, space);
    if (good < numbers.length) {
      images = pictures.slice([0, 0, 0, 0], [good, -1, -1, -1]);
      pictures.dispose();
    }
    return this.#files.labels === null ? images : [images, this.#files.labels(numbers.slice(0, good))];
  }

  /** The files of batches that are under way, which nobody reads any more. */
  #takenBack(): readonly number[] {
    const numbers = this.#readings.flatMap((reading) => reading.numbers);
    stop(this.#readings);
    return numbers;
  }

  protected override save(): State {
    const failed = this.#failed === null ? [] : [this.#failed.number];
    const numbers = [...failed, ...this.#readings.flatMap((reading) => reading.numbers), ...this.#first];
    return numbers.map((number) => saveElement(constant(number, 'int32')));
  }
  protected override restore(state: State): void {
    this.#first = list(state).map((number) => (loadElement(number) as Tensor).item() as number);
  }

  override close(): Awaitable<void> {
    stop(this.#readings);
    this.#first = [];
    this.#ended = true;
    return super.close();
  }
}
