/** Occasions before an erasure that change who uses an account, and their names in docs/personal-data.md. */
export const OCCASIONS = {
  /** The account of a visitor becomes that of a new customer. */
  become: 'become',
  /** A visitor turns out to be a customer with another account, who gets what the visitor has. */
  inherit: 'inherit',
  /** An imported person is merged into a user. */
  merge: 'merge',
  deactivation: 'deactivation',
  signOut: 'log-out everywhere',
  password: 'change of password',
  realmDeactivation: 'deactivation of the organization',
} as const;

export type Occasion = keyof typeof OCCASIONS;

/** Effects of occasions on the rows of a person. The rows stay with the account at the others. */
export interface Fate {
  /** Occasions that delete the rows or take away their effect. */
  readonly ends?: readonly Occasion[];
  /** Occasions at which the other account gets the rows, or the same access. */
  readonly follows?: readonly Occasion[];
  /** Reason why they stay at the others, as explained in docs/personal-data.md. */
  readonly stays: string;
}

/** Acts for the account, or notifies whoever uses it. */
export const KEY = {
  ends: ['become', 'signOut'],
  stays: 'refused',
} as const satisfies Fate;
/** Proves that a person may log in. Only people with a password or an address of their own have it; visitors have none. */
export const LOG_IN: Fate = { stays: 'log-in' };
export const OF_ACCOUNT: Fate = { stays: 'account' };
export const WRITTEN: Fate = { follows: ['inherit', 'merge'], stays: 'account' };
export const OF_REALM: Fate = { stays: 'organization' };
export const PAST: Fate = { stays: 'record' };
export const EXPIRES: Fate = { stays: 'expires' };

interface PersonalColumns {
  /** SQL condition for the rows that are deleted; with `{id}` and `{email}` of the person, and `{realm}`. */
  readonly erase?: string;
  /** Columns that are replaced. */
  readonly anonymise?: readonly string[];
  /** Columns with texts of others, in which mentions of the person are replaced. */
  readonly mentions?: readonly string[];
  /** Columns that remain, by reason. */
  readonly keep?: Readonly<Record<string, readonly string[]>>;
  /** Text columns without data of people. */
  readonly other?: readonly string[];
}

/**
 * Data of people in a table, and its end (docs/personal-data.md). `data`: description for operators, such as `Drafts`;
 * absent if the table holds nothing of people, and then nothing happens to its rows.
 */
export type PersonalData =
  | (PersonalColumns & { readonly data: string; readonly fate: Fate })
  | { readonly [K in keyof PersonalColumns | 'data' | 'fate']?: K extends 'other' ? PersonalColumns[K] : never };

/** Column of a database's schema. */
export interface SchemaColumn {
  readonly table: string;
  readonly name: string;
  /** True if it can hold text or bytes. */
  readonly isText: boolean;
}

/** Personal data of all tables, by name. */
export const personsOf = (
  features: readonly { readonly persons?: Readonly<Record<string, PersonalData>> }[],
): Readonly<Record<string, PersonalData>> => Object.assign({}, ...features.map(({ persons }) => persons));

/** Columns with the id of a user. */
const USER_ID = /(^|_)(bot|user|owner|creator|sender|author|inviter|requester|person)_id$|^deleted_by$/;

const listed = ({ other = [], anonymise = [], mentions = [], keep = {} }: PersonalData): readonly string[] => [
  ...other,
  ...anonymise,
  ...mentions,
  ...Object.values(keep).flat(),
];

/** Returns the columns that may hold data of a person, but have no declaration. */
export function undeclared(
  columns: readonly SchemaColumn[],
  persons: Readonly<Record<string, PersonalData>>,
): readonly string[] {
  const isPersonal = ({ name, isText }: SchemaColumn) => isText || USER_ID.test(name);
  return columns
    .filter((column) => {
      const declared = persons[column.table];
      if (!declared) return true;
      return isPersonal(column) && !declared.erase && !listed(declared).includes(column.name);
    })
    .map(({ table, name }) => `${table}.${name}`);
}

/** Returns the declared columns that do not exist. */
export function nonexistent(
  columns: readonly SchemaColumn[],
  persons: Readonly<Record<string, PersonalData>>,
): readonly string[] {
  const existing = new Set(columns.map(({ table, name }) => `${table}.${name}`));
  return Object.entries(persons)
    .flatMap(([table, declared]) => listed(declared).map((name) => `${table}.${name}`))
    .filter((name) => !existing.has(name));
}

const sentence = (action: string, columns: readonly string[]): string => `${action} (${columns.join(', ')})`;

const occasions = (names: readonly Occasion[]): string => names.map((name) => OCCASIONS[name]).join(', ');

const renderFate = ({ ends = [], follows = [], stays }: Fate): string =>
  [
    ...(ends.length > 0 ? [`ends: ${occasions(ends)}`] : []),
    ...(follows.length > 0 ? [`follows: ${occasions(follows)}`] : []),
    `stays: ${stays}`,
  ].join('; ');

/** Generates the table of docs/personal-data.md. */
export function renderPersonalData(persons: Readonly<Record<string, PersonalData>>): string {
  const rows = Object.entries(persons).flatMap(([table, declared]) => {
    const { data, fate, erase, anonymise, mentions, keep = {} } = declared;
    if (data === undefined) return [];
    const effects = [
      ...(erase ? ['deleted'] : []),
      ...(anonymise ? [sentence('replaced', anonymise)] : []),
      ...(mentions ? [sentence('mentions', mentions)] : []),
      ...Object.entries(keep).map(([reason, columns]) => `${sentence('kept', columns)}: ${reason.replace(/\.$/, '')}`),
    ];
    return [`| ${data} | \`${table}\` | ${renderFate(fate)} | ${effects.join('; ')} |`];
  });
  return ['| Data | Table | Before an erasure | Erasure |', '|---|---|---|---|', ...rows.sort()].join('\n');
}
