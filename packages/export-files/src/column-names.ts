/** Settings of a registry under the names, and with the values, that they have in Zulip's tables. */
export interface SettingColumns {
  present(values: object): Readonly<Record<string, unknown>>;
  /** Those that are there; values of any kind. */
  read(columns: object): Readonly<Record<string, unknown>>;
}

/** Names of columns that are also names of the API, which has a table of them. */
export interface ColumnNames {
  readonly realm: SettingColumns;
  readonly user: SettingColumns;
  /** `canSubscribe`: `can_subscribe_group`. */
  permission(name: string): string;
}
