// Writes JSON as TensorFlow Serving's RapidJSON does: four spaces a level, arrays of values in one line where asked.
import { Decimal, isArray, isObject, type Json } from './json.ts';
import { doubleText } from './numbers.ts';

interface Level {
  readonly array: boolean;
  count: number;
}

/** A text that is written from its beginning to its end. */
export class JsonWriter {
  /** Whether what is written now has no line breaks between the elements of arrays. */
  singleLineArrays = false;
  readonly #limit: number;
  readonly #levels: Level[] = [];
  #text = '';

  /** @param limit when the text has so many characters, nothing more is written, as in messages. */
  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#text;
  }

  startObject(): void {
    this.raw('{');
    this.#levels.push({ array: false, count: 0 });
  }

  /** The name of the next value. */
  key(name: string): void {
    const level = this.#levels.at(-1) as Level;
    this.#write(level.count++ > 0 ? ',' : '');
    this.#break();
    this.#write(`${JSON.stringify(name)}: `);
  }

  endObject(): void {
    if ((this.#levels.pop() as Level).count > 0) this.#break();
    this.#write('}');
  }

  startArray(): void {
    this.raw('[');
    this.#levels.push({ array: true, count: 0 });
  }

  endArray(): void {
    if ((this.#levels.pop() as Level).count > 0 && !this.singleLineArrays) this.#break();
    this.#write(']');
  }

  /** A value that is JSON already. */
  raw(text: string): void {
    const level = this.#levels.at(-1);
    if (level?.array === true) {
      if (level.count++ > 0) this.#write(this.singleLineArrays ? ', ' : ',');
      if (!this.singleLineArrays) this.#break();
    }
    this.#write(text);
  }

  string(text: string): void {
    this.raw(JSON.stringify(text));
  }

  #break(): void {
    this.#write(`\n${'    '.repeat(this.#levels.length)}`);
  }

  #write(text: string): void {
    if (this.#text.length < this.#limit) this.#text += text;
  }
}

// As in TensorFlow Serving; one string alone may be longer.
const MESSAGE = 256;

/** A value as it is shown in messages: the beginning of it. */
export function describeJson(value: Json): string {
  const writer = new JsonWriter(MESSAGE);
  writer.singleLineArrays = true;
  write(writer, value);
  return writer.text.slice(0, 2 * MESSAGE);
}

function write(writer: JsonWriter, value: Json): void {
  if (writer.text.length >= MESSAGE) return;
  if (isArray(value)) {
    writer.startArray();
    for (const element of value) {
      if (writer.text.length >= MESSAGE) return;
      write(writer, element);
    }
    writer.endArray();
  } else if (isObject(value)) {
    writer.startObject();
    for (const [key, member] of value) {
      if (writer.text.length >= MESSAGE) return;
      writer.key(key.slice(0, MESSAGE));
      write(writer, member);
    }
    writer.endObject();
  } else if (typeof value === 'string') writer.string(value.slice(0, MESSAGE));
  else if (value instanceof Decimal) writer.raw(doubleText(value.value));
  else if (typeof value === 'number' && !Number.isInteger(value)) writer.raw(doubleText(value));
  else writer.raw(String(value));
}
