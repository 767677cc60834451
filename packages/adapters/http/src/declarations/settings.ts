import {
  getOrThrow,
  type Registry,
  type SettingChanges,
  type SettingDefinition,
  type SettingValue,
} from '@parley/domain/kernel';
import {
  anyOf,
  boolean,
  integer,
  integerOneOf,
  MAX_TEXT_LENGTH,
  type NOT_LISTED,
  nullable,
  oneOf,
  type ParamType,
  text,
} from '../params/param-types.js';
import { type Dto, param } from '../params/params.js';
import { snakeCase, type WireError } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Wire form of a setting where it differs from the setting. */
export interface WireSetting {
  /** Default: the setting's name in snake case. */
  readonly name?: string;
  /** Numbers or words for the values of a choice; by default the values themselves. */
  readonly codes?: Readonly<Record<string, number | string>>;
  /** True if Zulip clients do not know the setting. State omits it while it has its default. */
  readonly isParleyOnly?: boolean;
  /** Wire value of null in responses and events, if not null itself. */
  readonly nullAs?: -1;
  /**
   * Custom error for an invalid value, in its wire format, found after all parameters are read. If absent, the
   * parameter itself is rejected.
   */
  readonly refusal?: (value: SettingValue, name: string) => WireError;
  /** Parameter type, if it does not follow from the setting's kind; see `fromWire`. */
  readonly type?: ParamType<unknown>;
  /** Converts a validated parameter to the setting's value. */
  readonly fromWire?: (value: unknown) => SettingValue;
}

/** Code for each text value. */
type CodesOf<D> = D extends { readonly default: infer T }
  ? Readonly<Record<Extract<T, string>, number | string>>
  : never;

/** Wire forms of a registry's settings: a name or more; absent for names in snake case with values as they are. */
export type WireTable<R> = { readonly [K in keyof R]?: string | (WireSetting & { readonly codes?: CodesOf<R[K]> }) };

type NamedWireSetting = WireSetting & { readonly name: string };

const UNLIMITED = 'unlimited';

/** Wire forms of a registry's settings: parameters, values in responses and events, and errors. */
export class WireSettings<R extends Registry> {
  private readonly rows: ReadonlyMap<keyof R & string, NamedWireSetting>;

  constructor(
    private readonly registry: R,
    table: WireTable<R>,
    /** Error for a value outside a setting's list, if not the short one. */
    private readonly notListed?: typeof NOT_LISTED,
  ) {
    const names = Object.keys(registry) as (keyof R & string)[];
    this.rows = new Map(
      names.map((name) => {
        const row = table[name] as string | WireSetting | undefined;
        return [name, typeof row === 'string' ? { name: row } : { name: snakeCase(name), ...row }];
      }),
    );
  }

  nameOf(setting: keyof R & string): string {
    return this.rowOf(setting).name;
  }

  /** Returns a value as shown in responses and events. */
  presentValue(setting: keyof R & string, value: SettingValue): SettingValue {
    const { codes, nullAs = null } = this.rowOf(setting);
    if (value === null) return nullAs;
    return codes?.[String(value)] ?? value;
  }

  /** Presents all settings in registry order. */
  present(values: { readonly [K in keyof R]: unknown }, prefix = ''): Record<string, SettingValue> {
    const fields: Record<string, SettingValue> = {};
    for (const [name, row] of this.rows)
      fields[prefix + row.name] = this.presentValue(name, values[name] as SettingValue);
    return fields;
  }

  /** Presents all settings but Parley-only ones with their default. */
  presentState(values: { readonly [K in keyof R]: unknown }, prefix = ''): Record<string, SettingValue> {
    const fields = this.present(values, prefix);
    for (const [name, row] of this.rows)
      if (row.isParleyOnly && values[name] === this.registry[name]!.default) delete fields[prefix + row.name];
    return fields;
  }

  /** Schemas of `presentState`. */
  stateSchemas(prefix = ''): wire.Shape {
    const isParleyOnly = (name: keyof R & string) => this.rowOf(name).isParleyOnly === true;
    return {
      ...this.schemas({ prefix, isWanted: (name) => !isParleyOnly(name) }),
      ...wire.optionalFields(this.schemas({ prefix, isWanted: isParleyOnly })),
    };
  }

  /** OpenAPI schemas of `present`. `text` is the schema for free text. */
  schemas({
    prefix = '',
    text,
    isWanted = () => true,
  }: {
    readonly prefix?: string;
    readonly text?: wire.WireSchema<string>;
    readonly isWanted?: (name: keyof R & string) => boolean;
  } = {}): Record<string, wire.WireSchema<SettingValue>> {
    const wanted = [...this.rows].filter(([name]) => isWanted(name));
    return Object.fromEntries(
      wanted.map(([name, row]) => [prefix + row.name, schemaOf(this.registry[name]!, row, text)]),
    );
  }

  /** Returns the parameter that changes the setting. */
  parameterOf(setting: keyof R & string): { readonly name: string; readonly type: ParamType<unknown> } {
    const row = this.rowOf(setting);
    return { name: row.name, type: row.type ?? typeOf(this.registry[setting]!, row, this.notListed) };
  }

  /** Reads the requested changes; the domain validates the values. */
  read(dto: object): SettingChanges<R> {
    const changes: Partial<Record<keyof R, SettingValue>> = {};
    for (const [setting, row] of this.rows) {
      const value = (dto as Readonly<Record<string, unknown>>)[row.name];
      if (value !== undefined) changes[setting] = this.fromWire(setting, row, value);
    }
    return changes as SettingChanges<R>;
  }

  /** Returns the error for an invalid value; see `WireSetting.refusal`. */
  refusalOf(setting: string, value: SettingValue): WireError {
    const row = this.rows.get(setting);
    return row?.refusal?.(value, row.name) ?? { text: `Invalid ${row?.name ?? setting}` };
  }

  private fromWire(setting: keyof R & string, row: WireSetting, value: unknown): SettingValue {
    if (row.fromWire) return row.fromWire(value);
    const definition = this.registry[setting]!;
    if (definition.kind === 'limit' && value === UNLIMITED) return null;
    if (definition.kind === 'channel') return (value as number) < 0 ? null : (value as number);
    if (row.codes) {
      const existing = Object.entries(row.codes).find(([, code]) => code === value);
      return existing ? existing[0] : (value as SettingValue);
    }
    return value as SettingValue;
  }

  private rowOf(setting: keyof R & string): NamedWireSetting {
    return getOrThrow(this.rows, setting);
  }
}

/** Returns the schema of a value in responses. */
function schemaOf(
  definition: SettingDefinition,
  { codes, nullAs }: WireSetting,
  text: wire.WireSchema<string> | undefined,
): wire.WireSchema<SettingValue> {
  const value = valueSchemaOf(definition, codes, text);
  const mayBeNull = definition.nullable || definition.kind === 'limit' || definition.kind === 'channel';
  return mayBeNull && nullAs === undefined ? wire.nullable(value) : value;
}

function valueSchemaOf(
  definition: SettingDefinition,
  codes: WireSetting['codes'],
  text: wire.WireSchema<string> | undefined,
): wire.WireSchema<boolean | number | string> {
  switch (definition.kind) {
    case 'boolean':
      return wire.boolean();
    case 'text':
      return text ?? wire.text();
    case 'choice': {
      const values = codes ? Object.values(codes) : (definition.values as readonly (number | string)[]);
      return text && values.some((value) => typeof value === 'string') ? text : wire.oneOf(...values);
    }
    case 'integer':
    case 'limit':
    case 'channel':
      return wire.integer();
  }
}

/** Returns the parameter type. If the setting has a custom error, checks only the basic type. */
function typeOf(
  definition: SettingDefinition,
  { codes, refusal }: WireSetting,
  notListed?: typeof NOT_LISTED,
): ParamType<unknown> {
  const isJudgedLater = refusal !== undefined;
  switch (definition.kind) {
    case 'boolean':
      return definition.nullable ? nullable(boolean()) : boolean();
    case 'integer':
      return isJudgedLater ? integer() : integer(definition);
    case 'text':
      return text({ max: isJudgedLater ? MAX_TEXT_LENGTH : definition.max });
    case 'choice': {
      const values = codes ? Object.values(codes) : definition.values;
      const areNumbers = values.every((value) => typeof value === 'number');
      if (areNumbers) return isJudgedLater ? integer() : integerOneOf(values, notListed);
      return isJudgedLater ? text({ max: MAX_TEXT_LENGTH }) : oneOf(values.map(String), notListed);
    }
    case 'limit':
      return anyOf([integer(), text({ max: MAX_TEXT_LENGTH })]);
    case 'channel':
      return integer();
  }
}

/** Declares optional parameters for the named settings, after the existing members. `forms.read` reads them. */
export function declareSettings<R extends Registry>(
  dto: Dto,
  forms: WireSettings<R>,
  names: readonly (keyof R & string)[],
): void {
  for (const setting of names) {
    const { name, type } = forms.parameterOf(setting);
    param(type, { optional: true })(dto.prototype as object, name);
  }
}
