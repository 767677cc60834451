import type { GroupSettings } from '@parley/domain/access';
import {
  firstOf,
  foldCase,
  type GroupId,
  isSettingValue,
  type SettingDefinition,
  type SettingValue,
  type SettingValues,
  settingValues,
} from '@parley/domain/kernel';
import type { Quarantine } from './quarantine.js';
import type { Parameter, Statements } from './statements.js';
import { memoize } from './text-cache.js';

/** Booleans are stored as 0 and 1, including nullable columns. */
export type Flag = 0 | 1;

export const toFlag = (value: boolean): Flag => (value ? 1 : 0);
export const toFlagOrNull = (value: boolean | null): Flag | null => (value === null ? null : toFlag(value));
export const fromFlagOrNull = (flag: Flag | null): boolean | null => (flag === null ? null : flag === 1);

/** Encodes a set as one text. */
export const jsonList = (values: Iterable<number | string | null>): string => JSON.stringify([...values]);

/** Converts a domain name to the name of a table or column. */
export const snakeCase = (name: string): Lowercase<string> =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as Lowercase<string>;

/** Pattern of `LIKE … ESCAPE '\\'` for folded texts that contain `text`. */
export const containing = (text: string): string => `%${foldCase(text).replace(/[\\%_]/g, '\\$&')}%`;

export const ascending = (a: number, b: number): number => a - b;

/** Parses a set whose order is unspecified. Returns it ascending. */
export const idList = <Id extends number>(json: string): Id[] => (JSON.parse(json) as Id[]).sort(ascending);

/** Groups rows by a key, in order. */
export function grouped<Key, Row>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const existing = groups.get(key);
    if (existing) existing.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

/** Rows in columnar form: one array of values per column. */
export type Columns<Row> = { readonly [Name in keyof Row]: readonly Row[Name][] };

/** Query that returns each column as one JSON text, which is much cheaper than single values through the drivers. */
export class ColumnQuery<Row> {
  private readonly query;

  /** @param source statement that returns at least these columns */
  constructor(
    statements: Statements,
    private readonly names: readonly (keyof Row & string)[],
    source: string,
  ) {
    const columns = names.map((name) => statements.dialect.list(name)).join(', ');
    this.query = statements.tuples<string[]>(`SELECT ${columns} FROM (${source}) AS listed`);
  }

  async columns(...parameters: Parameter[]): Promise<Columns<Row>> {
    const texts = await this.query.one(...parameters);
    return Object.fromEntries(this.names.map((name, n) => [name, JSON.parse(texts[n]!)])) as unknown as Columns<Row>;
  }

  /** Converts columns to row objects; faster than the drivers for hundreds of rows and equal for a few. */
  async rows(...parameters: Parameter[]): Promise<readonly Row[]> {
    const { names } = this;
    const columns = (await this.query.one(...parameters)).map((text) => JSON.parse(text) as readonly unknown[]);
    return firstOf(columns).map((_, n) => {
      const row: Record<string, unknown> = {};
      for (let column = 0; column < names.length; column++) row[names[column]!] = columns[column]![n];
      return row as Row;
    });
  }
}

/** Parsed value with the problem found, if any. */
interface Parsed<T> {
  readonly value: T;
  readonly problem: string | null;
}

export function parseObject(json: string): Parsed<Readonly<Record<string, unknown>>> {
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
  /** Reads the settings of row `id`; invalid values become the default. */
  fromJson(json: string, id: number, quarantine: Quarantine): SettingValues<R>;
}

/** Stores a registry's settings as JSON of the values that differ from the defaults. */
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
  /** Reads the permissions of row `id`; missing and invalid group ids become `nobody`. */
  fromJson(json: string, id: number, quarantine: Quarantine, nobody: () => GroupId): GroupSettings<R>;
}

/** Maximum number of rows with cached permissions. */
const MAX_KEPT_PERMISSIONS = 20_000;

/** Permissions of an organization until its groups exist, such as during an import. */
const NOT_SET = '{}';

/** Stores permissions as JSON of group ids. Returns the same object until the row's text changes. */
export function groupSettingsColumn<R extends object>(registry: R, table: string): GroupSettingsColumn<R> {
  type Stored = Parsed<Readonly<Record<string, unknown>>>;
  const names = Object.keys(registry);
  // Cached by row, because most rows have their own groups; comparing two texts is faster than hashing one.
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
      if (json !== NOT_SET) quarantine.report({ table, id, column: 'permissions' }, problem);
      const standIn = nobody();
      const groupSettings: Record<string, GroupId> = {};
      for (const name of names)
        groupSettings[name] = Number.isSafeInteger(value[name]) ? (value[name] as GroupId) : standIn;
      return groupSettings as GroupSettings<R>;
    },
  };
}

/** Reads permissions, replacing invalid groups by `nobody`, which is looked up only if needed. */
export async function withNobody<T>(read: (nobody: () => GroupId) => T, nobodyOf: () => Promise<GroupId>): Promise<T> {
  let isNeeded = false;
  const result = read(() => {
    isNeeded = true;
    return 0 as GroupId;
  });
  if (!isNeeded) return result;
  const nobody = await nobodyOf();
  return read(() => nobody);
}

/** Column with a JSON object validated by `isMember`; invalid values count as empty. */
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

/** Column with a JSON list; invalid values count as empty. */
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
