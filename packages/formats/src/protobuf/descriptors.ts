// Descriptors: messages that describe messages, as `protoc --descriptor_set_out` writes them.
import { errorsFor, type FormatError } from '../errors.ts';
import { bool, int32, type MessageType, message, nested, nestedList, text } from './protobuf.ts';
import { unescaped } from './text-strings.ts';

// ---- the messages of descriptor.proto, as far as they say how bytes are read

/** Settings of editions; those of the levels above hold where they are absent. */
interface Features {
  readonly field_presence?: number;
  readonly enum_type?: number;
  readonly repeated_field_encoding?: number;
  readonly utf8_validation?: number;
  readonly message_encoding?: number;
}
interface FieldProto {
  readonly name?: string;
  readonly extendee?: string;
  readonly number?: number;
  readonly label?: number;
  readonly type?: number;
  readonly type_name?: string;
  readonly default_value?: string;
  readonly options?: { readonly packed?: boolean; readonly features?: Features };
  readonly oneof_index?: number;
  readonly proto3_optional?: boolean;
}
interface EnumProto {
  readonly name?: string;
  readonly value?: readonly { readonly name?: string; readonly number?: number }[];
  readonly options?: { readonly features?: Features };
}
interface MessageProto {
  readonly name?: string;
  readonly field?: readonly FieldProto[];
  readonly nested_type?: readonly MessageProto[];
  readonly enum_type?: readonly EnumProto[];
  readonly extension?: readonly FieldProto[];
  readonly options?: { readonly map_entry?: boolean; readonly features?: Features };
}
interface FileProto {
  readonly name?: string;
  readonly package?: string;
  readonly message_type?: readonly MessageProto[];
  readonly enum_type?: readonly EnumProto[];
  readonly extension?: readonly FieldProto[];
  readonly options?: { readonly features?: Features };
  readonly syntax?: string;
}

const features: MessageType<Features> = /* @__PURE__ */ message<Features>(
  'google.protobuf.FeatureSet',
  () => ({
    field_presence: int32(1),
    enum_type: int32(2),
    repeated_field_encoding: int32(3),
    utf8_validation: int32(4),
    message_encoding: int32(5),
  }),
);
const optionsWith = (number: number): MessageType<{ readonly features?: Features }> =>
  message('options', () => ({ features: nested(number, () => features) }));
const fileOptions = /* @__PURE__ */ optionsWith(50);
const enumOptions = /* @__PURE__ */ optionsWith(7);
const fieldOptions = /* @__PURE__ */ message<NonNullable<FieldProto['options']>>(
  'google.protobuf.FieldOptions',
  () => ({ packed: bool(2), features: nested(21, () => features) }),
);
const messageOptions = /* @__PURE__ */ message<NonNullable<MessageProto['options']>>(
  'google.protobuf.MessageOptions',
  () => ({ map_entry: bool(7), features: nested(12, () => features) }),
);
const fieldProto: MessageType<FieldProto> = /* @__PURE__ */ message<FieldProto>(
  'google.protobuf.FieldDescriptorProto',
  () => ({
    name: text(1),
    extendee: text(2),
    number: int32(3),
    label: int32(4),
    type: int32(5),
    type_name: text(6),
    default_value: text(7),
    options: nested(8, () => fieldOptions),
    oneof_index: int32(9),
    proto3_optional: bool(17),
  }),
);
const enumValue = /* @__PURE__ */ message<{ readonly name?: string; readonly number?: number }>(
  'google.protobuf.EnumValueDescriptorProto',
  () => ({ name: text(1), number: int32(2) }),
);
const enumProto: MessageType<EnumProto> = /* @__PURE__ */ message<EnumProto>(
  'google.protobuf.EnumDescriptorProto',
  () => ({ name: text(1), value: nestedList(2, () => enumValue), options: nested(3, () => enumOptions) }),
);
const messageProto: MessageType<MessageProto> = /* @__PURE__ */ message<MessageProto>(
  'google.protobuf.DescriptorProto',
  () => ({
    name: text(1),
    field: nestedList(2, () => fieldProto),
    nested_type: nestedList(3, () => messageProto),
    enum_type: nestedList(4, () => enumProto),
    extension: nestedList(6, () => fieldProto),
    options: nested(7, () => messageOptions),
  }),
);
const fileProto = /* @__PURE__ */ message<FileProto>('google.protobuf.FileDescriptorProto', () => ({
  name: text(1),
  package: text(2),
  message_type: nestedList(4, () => messageProto),
  enum_type: nestedList(5, () => enumProto),
  extension: nestedList(7, () => fieldProto),
  options: nested(8, () => fileOptions),
  syntax: text(12),
}));
const fileSet = /* @__PURE__ */ message<{ readonly file?: readonly FileProto[] }>(
  'google.protobuf.FileDescriptorSet',
  () => ({ file: nestedList(1, () => fileProto) }),
);

// ---- what they mean

/** How the values of a field are written; the order is that of their numbers in descriptors, from 1. */
export const FIELD_TYPES = [
  'double',
  'float',
  'int64',
  'uint64',
  'int32',
  'fixed64',
  'fixed32',
  'bool',
  'string',
  'group',
  'message',
  'bytes',
  'uint32',
  'enum',
  'sfixed32',
  'sfixed64',
  'sint32',
  'sint64',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** The value of a field: of 64 bits a bigint, of text and bytes the bytes. */
export type ScalarValue = number | bigint | boolean | Uint8Array;

export interface EnumDescriptor {
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly known: ReadonlySet<number>;
  /** Whether a number that it does not name counts as an unknown field. */
  readonly isClosed: boolean;
}

export interface FieldDescriptor {
  readonly name: string;
  readonly fullName: string;
  readonly number: number;
  readonly type: FieldType;
  readonly isRepeated: boolean;
  readonly isRequired: boolean;
  /** Whether numbers of a repeated field are written in one piece. */
  readonly isPacked: boolean;
  /** Whether the default is written too, once it is set. */
  readonly hasPresence: boolean;
  readonly checksUtf8: boolean;
  /** The oneof of its message that it belongs to. */
  readonly oneof: number | undefined;
  /** Of messages and groups. */
  readonly message: MessageDescriptor | undefined;
  readonly enum: EnumDescriptor | undefined;
  /** What stands for a value that is missing; of messages and groups no bytes. */
  readonly defaultValue: ScalarValue;
}

export interface MessageDescriptor {
  readonly name: string;
  readonly fullName: string;
  readonly isMapEntry: boolean;
  readonly byName: ReadonlyMap<string, FieldDescriptor>;
  readonly byNumber: ReadonlyMap<number, FieldDescriptor>;
  /** Fields that other messages or files declare for it, by their full names. */
  readonly extensions: ReadonlyMap<string, FieldDescriptor>;
}

const FORMAT = 'protobuf descriptors';
const MOST_NUMBER = 2 ** 29 - 1;
const REPEATED = 3;
const REQUIRED = 2;
// Values of the settings.
const [EXPLICIT, IMPLICIT, LEGACY_REQUIRED] = [1, 2, 3];
const [OPEN, CLOSED] = [1, 2];
const [PACKED, EXPANDED] = [1, 2];
const [VERIFY, NONE] = [2, 3];
const DELIMITED = 2;

type Settings = Required<Features>;
function settingsOf(syntax: string | undefined): Settings {
  const isNew = syntax === 'proto3' || syntax === 'editions';
  return {
    field_presence: syntax === 'proto3' ? IMPLICIT : EXPLICIT,
    enum_type: isNew ? OPEN : CLOSED,
    repeated_field_encoding: isNew ? PACKED : EXPANDED,
    utf8_validation: isNew ? VERIFY : NONE,
    message_encoding: 1,
  };
}

interface MutableMessage extends MessageDescriptor {
  readonly byName: Map<string, FieldDescriptor>;
  readonly byNumber: Map<number, FieldDescriptor>;
  readonly extensions: Map<string, FieldDescriptor>;
}
/** A field, and where it stands. */
interface Declared {
  readonly proto: FieldProto;
  readonly scope: string;
  readonly settings: Settings;
  /** Undefined for extensions. */
  readonly owner: MutableMessage | undefined;
}

const isEmpty = (value: string | undefined): value is undefined | '' => value === undefined || value === '';
const within = (scope: string, name: string): string => (scope === '' ? name : `${scope}.${name}`);

/**
 * The messages that the bytes of a `FileDescriptorSet` describe, by their full names.
 * @throws FormatError for other bytes, for descriptors without sense, and for types that are not among them
 */
export function readDescriptors(bytes: Uint8Array): ReadonlyMap<string, MessageDescriptor> {
  return new DescriptorReader().read(fileSet.decode(bytes).file ?? []);
}

class DescriptorReader {
  readonly #messages = new Map<string, MutableMessage>();
  readonly #enums = new Map<string, EnumDescriptor>();
  readonly #fields: Declared[] = [];

  read(files: readonly FileProto[]): ReadonlyMap<string, MessageDescriptor> {
    if (files.length === 0) throw this.#fail('there is no file');
    for (const file of files) {
      const settings = { ...settingsOf(file.syntax), ...file.options?.features };
      const scope = file.package ?? '';
      for (const proto of file.message_type ?? []) this.#message(proto, scope, settings);
      for (const proto of file.enum_type ?? []) this.#enum(proto, scope, settings);
      for (const proto of file.extension ?? [])
        this.#fields.push({ proto, scope, settings, owner: undefined });
    }
    // Their types may stand behind them.
    for (const field of this.#fields) this.#field(field);
    return this.#messages;
  }

  #fail(what: string): FormatError {
    return errorsFor(FORMAT, undefined)(what);
  }

  #declare(name: string | undefined, scope: string): string {
    if (isEmpty(name)) throw this.#fail(`something in '${scope}' has no name`);
    const fullName = within(scope, name);
    if (this.#messages.has(fullName) || this.#enums.has(fullName))
      throw this.#fail(`'${fullName}' is there twice`);
    return fullName;
  }

  #message(proto: MessageProto, scope: string, above: Settings): void {
    const fullName = this.#declare(proto.name, scope);
    const owner: MutableMessage = {
      name: proto.name as string,
      fullName,
      isMapEntry: proto.options?.map_entry ?? false,
      byName: new Map(),
      byNumber: new Map(),
      extensions: new Map(),
    };
    this.#messages.set(fullName, owner);
    const settings = { ...above, ...proto.options?.features };
    for (const inner of proto.nested_type ?? []) this.#message(inner, fullName, settings);
    for (const inner of proto.enum_type ?? []) this.#enum(inner, fullName, settings);
    for (const inner of proto.field ?? [])
      this.#fields.push({ proto: inner, scope: fullName, settings, owner });
    for (const inner of proto.extension ?? [])
      this.#fields.push({ proto: inner, scope: fullName, settings, owner: undefined });
  }

  #enum(proto: EnumProto, scope: string, above: Settings): void {
    const name = this.#declare(proto.name, scope);
    const numbers = new Map<string, number>();
    for (const value of proto.value ?? []) numbers.set(value.name ?? '', value.number ?? 0);
    if (numbers.size === 0) throw this.#fail(`the enum '${name}' has no values`);
    const { enum_type } = { ...above, ...proto.options?.features };
    this.#enums.set(name, {
      name,
      numbers,
      known: new Set(numbers.values()),
      isClosed: enum_type === CLOSED,
    });
  }

  #field({ proto, scope, settings: above, owner: own }: Declared): void {
    const { name, number = 0 } = proto;
    if (isEmpty(name)) throw this.#fail(`a field in '${scope}' has no name`);
    const fullName = within(scope, name);
    if (number < 1 || number > MOST_NUMBER)
      throw this.#fail(`the field '${fullName}' has the number ${number}`);
    const owner = own ?? this.#find(this.#messages, proto.extendee, scope);
    if (owner === undefined)
      throw this.#fail(`'${fullName}' extends '${proto.extendee ?? ''}', which is not described`);
    const names = own === undefined ? owner.extensions : owner.byName;
    const key = own === undefined ? fullName : name;
    if (names.has(key) || owner.byNumber.has(number))
      throw this.#fail(`'${owner.fullName}' has two fields '${name}', or of number ${number}`);
    const settings = { ...above, ...proto.options?.features };
    const field = { ...this.#typed(proto, fullName, scope, settings), name, fullName, number };
    const isRepeated = proto.label === REPEATED;
    const isComposite = field.message !== undefined;
    const oneof = own === undefined || proto.proto3_optional === true ? undefined : proto.oneof_index;
    const canPack = isRepeated && !isComposite && field.type !== 'string' && field.type !== 'bytes';
    const descriptor: FieldDescriptor = {
      ...field,
      isRepeated,
      isRequired: proto.label === REQUIRED || settings.field_presence === LEGACY_REQUIRED,
      isPacked: canPack && (proto.options?.packed ?? settings.repeated_field_encoding === PACKED),
      hasPresence:
        own === undefined ||
        isComposite ||
        proto.oneof_index !== undefined ||
        settings.field_presence !== IMPLICIT,
      checksUtf8: field.type === 'string' && settings.utf8_validation === VERIFY,
      oneof,
    };
    names.set(key, descriptor);
    owner.byNumber.set(number, descriptor);
  }

  /** Its type, with that of what it holds. */
  #typed(
    proto: FieldProto,
    fullName: string,
    scope: string,
    settings: Settings,
  ): Pick<FieldDescriptor, 'type' | 'message' | 'enum' | 'defaultValue'> {
    const found = this.#find(this.#messages, proto.type_name, scope);
    const foundEnum = this.#find(this.#enums, proto.type_name, scope);
    // Where it is left out, the name says which it is.
    const given = FIELD_TYPES[(proto.type ?? 0) - 1] ?? (found && 'message') ?? (foundEnum && 'enum');
    if (given === undefined) throw this.#fail(`the type of the field '${fullName}' is not known`);
    const type = given === 'message' && settings.message_encoding === DELIMITED ? 'group' : given;
    const isComposite = type === 'message' || type === 'group';
    if ((isComposite && found === undefined) || (type === 'enum' && foundEnum === undefined))
      throw this.#fail(
        `the type '${proto.type_name ?? ''}' of '${fullName}' is not described: write the set with --include_imports`,
      );
    return {
      type,
      message: isComposite ? found : undefined,
      enum: type === 'enum' ? foundEnum : undefined,
      defaultValue: this.#defaultOf(type, proto.default_value, foundEnum, fullName),
    };
  }

  /** By a full name behind a dot, or a name in the scope or those around it. */
  #find<T>(all: ReadonlyMap<string, T>, name: string | undefined, scope: string): T | undefined {
    if (isEmpty(name)) return undefined;
    if (name.startsWith('.')) return all.get(name.slice(1));
    for (let around = scope; around !== ''; around = around.slice(0, Math.max(0, around.lastIndexOf('.')))) {
      const found = all.get(within(around, name));
      if (found !== undefined) return found;
    }
    return all.get(name);
  }

  #defaultOf(
    type: FieldType,
    given: string | undefined,
    ofEnum: EnumDescriptor | undefined,
    fullName: string,
  ): ScalarValue {
    const value = given === undefined ? zeroOf(type, ofEnum) : parsedDefault(type, given, ofEnum);
    if (value === undefined) throw this.#fail(`the default '${given}' of '${fullName}' is no ${type}`);
    return value;
  }
}

function zeroOf(type: FieldType, ofEnum: EnumDescriptor | undefined): ScalarValue {
  if (type === 'enum') return ofEnum?.numbers.values().next().value ?? 0;
  if (type === 'bool') return false;
  if (type === 'string' || type === 'bytes' || type === 'message' || type === 'group')
    return new Uint8Array(0);
  return type.endsWith('64') ? 0n : 0;
}

function parsedDefault(
  type: FieldType,
  given: string,
  ofEnum: EnumDescriptor | undefined,
): ScalarValue | undefined {
  if (type === 'enum') return ofEnum?.numbers.get(given);
  if (type === 'bool') return given === 'true' ? true : given === 'false' ? false : undefined;
  if (type === 'string') return new TextEncoder().encode(given);
  if (type === 'bytes') return unescaped(given);
  if (type === 'message' || type === 'group') return undefined;
  if (type === 'float' || type === 'double') {
    const value = /^-?inf$/.test(given) ? Number(given.replace('inf', 'Infinity')) : Number(given);
    return Number.isNaN(value) && given !== 'nan' ? undefined : value;
  }
  if (!/^-?\d{1,20}$/.test(given)) return undefined;
  return type.endsWith('64') ? BigInt(given) : Number(given);
}
