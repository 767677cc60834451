import type { GroupSettings } from '@parley/domain/access';
import {
  type DomainError,
  type GroupId,
  isSettingValue,
  type SettingDefinition,
  type SettingValue,
  type SettingValues,
  settingValues,
} from '@parley/domain/kernel';
import { StatementFailed } from './connection.js';
import type { Quarantine } from './quarantine.js';
import { memoize } from './text-cache.js';

/** Booleans are stored as 0 and 1, also where null is a value of its own. */
export type Flag = 0 | 1;

export const toFlag = (value: boolean): Flag => (value ? 1 : 0);
export const toFlagOrNull = (value: boolean | null): Flag | null => (value === null ? null : toFlag(value));
export const fromFlagOrNull = (flag: Flag | null): boolean | null => (flag === null ? null : flag === 1);

/** A set as one parameter, for `json_each`. */
export const jsonList = (values: Iterable<number | string>): string => JSON.stringify([...values]);

export const ascending = (a: number, b: number): number => a - b;

/** A set that SQLite put together with `json_group_array`, which leaves the order open. Ascending. */
export const idList = <Id extends number>(json: string): Id[] => (JSON.parse(json) as Id[]).sort(ascending);

/** @throws what `refusal` makes, where something that must be unique is taken. */
export function refusingTaken<T>(refusal: () => DomainError, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw isTaken(error) ? refusal() : error;
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof StatementFailed && error.code === 'SQLITE_CONSTRAINT_UNIQUE';

/** Rows side by side: of each column all values, in the same order. */
export type Columns<Row> = { readonly [Name in keyof Row]: readonly Row[Name][] };

/**
 * Reads rows side by side. SQLite makes a text of each column: a value of such a text costs a tenth of one that the driver hands
 * over. The statement answers one tuple.
 */
export class ColumnReader<Row> {
  readonly sql: string;

  /** `source`: a table, or a `SELECT` in parentheses. */
  constructor(
    private readonly names: readonly (keyof Row & string)[],
    source: string,
  ) {
    this.sql = `SELECT ${names.map((name) => `json_group_array(${name})`).join(', ')} FROM ${source}`;
  }

  parse(texts: readonly string[]): Columns<Row> {
    return Object.fromEntries(this.names.map((name, n) => [name, JSON.parse(texts[n]!)])) as unknown as Columns<Row>;
  }

  /** An object for each row, in a third of the time that the driver takes for hundreds; of a few rows they take the same. */
  rows(texts: readonly string[]): readonly Row[] {
    const { names } = this;
    const columns = texts.map((text) => JSON.parse(text) as readonly unknown[]);
    return columns[0]!.map((_, n) => {
      const row: Record<string, unknown> = {};
      for (let column = 0; column < names.length; column++) row[names[column]!] = columns[column]![n];
      return row as Row;
    });
  }
}

/** What was made of a text; and what is wrong with it, if anything. */
interface Parsed<T> {
  readonly value: T;
  readonly problem: string | null;
}

function parseObject(json: string): Parsed<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as Readonly<Record<string, unknown>>, problem: null }
      : { value: {}, problem: 'no JSON object' };
  } catch {
    return { value: {}, problem: 'no JSON' };
  }
}

export interface SettingsColumn<R> {
  toJson(values: SettingValues<R>): string;
  /** Of the row `id`. What is no value of a setting counts as its default. */
  fromJson(json: string, id: number, quarantine: Quarantine): SettingValues<R>;
}

/** How a registry's settings are stored: as JSON of what differs from the defaults. */
export function settingsColumn<R extends Readonly<Record<string, unknown>>>(
  registry: R,
  table: string,
  column: string,
): SettingsColumn<R> {
  const definitions = Object.entries(registry) as [keyof R & string, SettingDefinition<SettingValue>][];
  const parse = memoize((json): Parsed<SettingValues<R>> => {
    const stored = parseObject(json);
    const own: Record<string, SettingValue> = {};
    let { problem } = stored;
    for (const [name, definition] of definitions) {
      const value = stored.value[name];
      if (value === undefined) continue;
      if (isSettingValue(definition, value)) own[name] = value as SettingValue;
      else problem ??= `no value of ${name}`;
    }
    return { value: settingValues(registry, own), problem };
  });
  return {
    toJson: (values) => {
      const own: Record<string, SettingValue> = {};
      for (const [name, definition] of definitions) {
        const value = values[name] as SettingValue;
        if (value !== definition.default) own[name] = value;
      }
      return JSON.stringify(own);
    },
    fromJson: (json, id, quarantine) => {
      const { value, problem } = parse(json);
      if (problem !== null) quarantine.report({ table, id, column }, problem);
      return value;
    },
  };
}

export interface GroupSettingsColumn<R> {
  /** Of the row `id`. What is no group id is given to `nobody`. */
  fromJson(json: string, id: number, quarantine: Quarantine, nobody: () => GroupId): GroupSettings<R>;
}

/** How many rows' permissions are kept. */
const MAX_KEPT_PERMISSIONS = 20_000;

/** How permissions are stored: as JSON of a group id each. As long as a row holds the same text they are the same object. */
export function groupSettingsColumn<R extends object>(registry: R, table: string): GroupSettingsColumn<R> {
  type Stored = Parsed<Readonly<Record<string, unknown>>>;
  const names = Object.keys(registry);
  // By row, since each has groups of its own; comparing two texts takes less than looking one of them up.
  const kept = new Map<number, { readonly json: string; readonly stored: Stored }>();
  const parse = (json: string, id: number): Stored => {
    const before = kept.get(id);
    if (before?.json === json) return before.stored;
    const { value, problem } = parseObject(json);
    const wrong = names.find((name) => !Number.isSafeInteger(value[name]));
    const stored = { value, problem: problem ?? (wrong === undefined ? null : `no group for ${wrong}`) };
    if (kept.size >= MAX_KEPT_PERMISSIONS) kept.clear();
    kept.set(id, { json, stored });
    return stored;
  };
  return {
    fromJson: (json, id, quarantine, nobody) => {
      const { value, problem } = parse(json, id);
      if (problem === null) return value as GroupSettings<R>;
      quarantine.report({ table, id, column: 'permissions' }, problem);
      const standIn = nobody();
      const groupSettings: Record<string, GroupId> = {};
      for (const name of names)
        groupSettings[name] = Number.isSafeInteger(value[name]) ? (value[name] as GroupId) : standIn;
      return groupSettings as GroupSettings<R>;
    },
  };
}

/** A column that holds a JSON object whose members `isMember` knows; what is none counts as empty. */
export function objectColumn<T>(
  table: string,
  column: string,
  isMember: (value: unknown) => boolean,
): (json: string, id: number, quarantine: Quarantine) => Readonly<Record<string, T>> {
  return (json, id, quarantine) => {
    const { value, problem } = parseObject(json);
    const isKnown = problem === null && Object.values(value).every(isMember);
    if (isKnown) return value as Readonly<Record<string, T>>;
    quarantine.report({ table, id, column }, problem ?? 'no such object');
    return {};
  };
}

/** A column that holds a JSON list; what is none counts as empty. */
export function listColumn<T>(
  table: string,
  column: string,
  isElement: (value: unknown) => boolean,
): (json: string, id: number, quarantine: Quarantine) => readonly T[] {
  const parse = memoize((json): Parsed<readonly T[]> => {
    try {
      const list: unknown = JSON.parse(json);
      if (Array.isArray(list) && list.every(isElement)) return { value: list, problem: null };
      return { value: [], problem: 'no such list' };
    } catch {
      return { value: [], problem: 'no JSON' };
    }
  });
  return (json, id, quarantine) => {
    const { value, problem } = parse(json);
    if (problem !== null) quarantine.report({ table, id, column }, problem);
    return value;
  };
}
