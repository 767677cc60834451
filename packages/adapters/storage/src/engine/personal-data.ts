/** Data of people in a table, and the effect of erasing a person (docs/personal-data.md). */
export interface PersonalData {
  /** Description for operators, such as `Drafts`. Absent if the table holds nothing of people. */
  readonly data?: string;
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

/** Generates the table of docs/personal-data.md. */
export function renderPersonalData(persons: Readonly<Record<string, PersonalData>>): string {
  const rows = Object.entries(persons).flatMap(([table, declared]) => {
    const { data, erase, anonymise, mentions, keep = {} } = declared;
    if (data === undefined) return [];
    const effects = [
      ...(erase ? ['rows of the person are deleted'] : []),
      ...(anonymise ? [sentence('replaced', anonymise)] : []),
      ...(mentions ? [sentence('mentions become “Deleted user”', mentions)] : []),
      ...Object.entries(keep).map(([reason, columns]) => `${sentence('kept', columns)}: ${reason.replace(/\.$/, '')}`),
    ];
    return [`| ${data} | \`${table}\` | ${effects.join('; ')} |`];
  });
  return ['| Data | Table | Erasure |', '|---|---|---|', ...rows.sort()].join('\n');
}
