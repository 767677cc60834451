import {
  type GroupSettingDefinition,
  SYSTEM_GROUPS,
  type SystemGroupName,
  systemGroupTitle,
} from '@parley/domain/access';
import {
  type ChannelId,
  type GroupId,
  isSettingValue,
  type RealmId,
  type RecipientId,
  type Registry,
  recordOf,
  type SettingDefinition,
  type SettingValues,
  type UserId,
} from '@parley/domain/kernel';
import type { ColumnNames, SettingColumns } from '../message-rows.js';
import { id, list, object, orElse, record, type Shape, type Shaped, text, wrong } from '../parley-shapes.js';

/** Column types shared by many tables. */
export const NAME: Shape<string> = text(1000);
export const user: Shape<UserId> = id<UserId>();
export const channel: Shape<ChannelId> = id<ChannelId>();
export const recipient: Shape<RecipientId> = id<RecipientId>();
export const group: Shape<GroupId> = id<GroupId>();

export type Row = Readonly<Record<string, unknown>>;

/** Reads the tables of a Zulip server's `realm.json` with validation. */
export class TableReader {
  readonly realmId: RealmId;
  readonly realmRow: Row;
  readonly system: Readonly<Record<SystemGroupName, GroupId>>;
  private readonly read = new Set<string>();
  private readonly invalid = new Map<string, number>();

  constructor(
    private readonly tables: Row,
    readonly names: ColumnNames,
  ) {
    const [row] = this.rows('zerver_realm');
    if (!row) throw wrong('realm.json', 'has no organization');
    this.realmRow = row;
    this.realmId = id<RealmId>()(row.id, 'zerver_realm[0].id');
    this.system = this.systemGroups();
  }

  rows(table: string): readonly Row[] {
    return list(record)(this.take(table), table);
  }

  table<S extends Readonly<Record<string, Shape<unknown>>>>(
    table: string,
    shapes: S,
  ): { readonly [K in keyof S]: Shaped<S[K]> }[] {
    return list(object(shapes))(this.take(table), table);
  }

  /** Returns the numbers of rows of the tables that were not read. */
  unread(): ReadonlyMap<string, number> {
    return new Map(
      Object.entries(this.tables).flatMap(([name, rows]): [string, number][] =>
        this.read.has(name) || !Array.isArray(rows) || rows.length === 0 ? [] : [[name, rows.length]],
      ),
    );
  }

  private take(table: string): unknown {
    this.read.add(table);
    return this.tables[table] ?? [];
  }

  /** Reads permissions; a missing one gets its default. */
  permissionsOf<R extends Readonly<Record<string, GroupSettingDefinition>>>(
    registry: R,
    row: Row,
  ): { readonly [K in keyof R]: GroupId } {
    const values = Object.entries(registry).map(([name, definition]) => {
      const column = this.names.permission(name);
      const byDefault = definition.default === 'creator' ? this.system.nobody : this.system[definition.default];
      return [name, orElse(group, byDefault)(row[column], column)];
    });
    return Object.fromEntries(values) as { readonly [K in keyof R]: GroupId };
  }

  /** Reads settings from columns. Missing and invalid values get the default; invalid ones are reported. */
  settingsOf<R extends Registry>(registry: R, columns: SettingColumns, table: string, row: Row): SettingValues<R> {
    const read: Readonly<Record<string, unknown>> = columns.read(row);
    const values = Object.entries(registry).map(([name, definition]: [string, SettingDefinition]) => {
      const value = read[name];
      if (value !== undefined && isSettingValue(definition, value)) return [name, value];
      // Zulip's columns have -1 for none.
      const isAbsent = value === undefined || value === null || value === -1;
      if (!isAbsent && value !== definition.default) this.drop(table, name);
      return [name, definition.default];
    });
    return Object.fromEntries(values) as SettingValues<R>;
  }

  drop(table: string, setting: string): void {
    const name = `${setting} in ${table}`;
    this.invalid.set(name, (this.invalid.get(name) ?? 0) + 1);
  }

  /** Settings with invalid values, such as `emojiset in zerver_userprofile (2 rows)`. */
  get dropped(): readonly string[] {
    return [...this.invalid].map(([name, rows]) => (rows === 1 ? name : `${name} (${rows} rows)`));
  }

  private systemGroups(): Readonly<Record<SystemGroupName, GroupId>> {
    const ids = new Map(
      this.rows('zerver_namedusergroup').map((row, index) => [
        row.name,
        group(row.usergroup_ptr ?? row.id, `zerver_namedusergroup[${index}].usergroup_ptr`),
      ]),
    );
    const names = SYSTEM_GROUPS.map(({ name }) => name);
    return recordOf(names, (name) => {
      const found = ids.get(systemGroupTitle(name));
      if (found === undefined) throw wrong('realm.json', `has no group ${systemGroupTitle(name)}`);
      return found;
    });
  }
}

export function grouped<T, K>(rows: readonly T[], keyOf: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const existing = groups.get(key);
    if (existing) existing.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
