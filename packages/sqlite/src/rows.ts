import { type SettingDefinition, type SettingValue, type SettingValues, settingValues } from '@parley/domain';
import { StatementFailed } from './connection.js';
import { remembering } from './versioned-cache.js';

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

/** Whether a statement failed because something that must be unique is taken. */
export function isTaken(error: unknown): boolean {
  return error instanceof StatementFailed && error.code === 'SQLITE_CONSTRAINT_UNIQUE';
}

/** How a registry's settings are stored: as JSON of what differs from the defaults. */
export function settingsColumn<R extends Readonly<Record<string, unknown>>>(
  registry: R,
): { readonly toJson: (values: SettingValues<R>) => string; readonly fromJson: (json: string) => SettingValues<R> } {
  const definitions = Object.entries(registry) as [keyof R & string, SettingDefinition<SettingValue>][];
  return {
    toJson: (values) => {
      const own: Record<string, SettingValue> = {};
      for (const [name, definition] of definitions) {
        const value = values[name] as SettingValue;
        if (value !== definition.default) own[name] = value;
      }
      return JSON.stringify(own);
    },
    fromJson: remembering((json) => settingValues(registry, JSON.parse(json) as Record<string, SettingValue>)),
  };
}
