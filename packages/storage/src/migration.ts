import { createHash } from 'node:crypto';

/** One step of the schema. Its statements are never edited: a later step corrects them. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** True if servers of the former release fail after it, so that it waits for the end of an upgrade on PostgreSQL. */
  readonly isContract?: boolean;
}

/** SQL without comments and blanks. */
export const normalizeSql = (sql: string): string => sql.replace(/--.*|\s+/g, '');

const checksums = new WeakMap<Migration, string>();

/** Databases store it for each step, so that an edited step is noticed. Comments may be reworded. */
export function checksumOf(step: Migration): string {
  const checksum = checksums.get(step) ?? createHash('sha256').update(normalizeSql(step.sql)).digest('hex');
  checksums.set(step, checksum);
  return checksum;
}

/**
 * Returns the baseline, which is made of the texts `<feature>.sql` in the order of the features, and the later steps
 * `<feature>.002.sql`, `<feature>.003.sql` … in the order of their numbers, which count across features.
 * @throws Error when a text belongs to no feature, or a number is missing or used twice
 */
export function migrationsOf(
  features: readonly string[],
  texts: Readonly<Record<string, string>>,
): readonly Migration[] {
  const baseline = features.map((feature) => texts[`${feature}.sql`] ?? '').join('\n');
  const later = Object.keys(texts)
    .filter((file) => !features.includes(file.slice(0, -'.sql'.length)))
    .map((file) => ({ file, ...parseStep(file) }))
    .sort((a, b) => a.number - b.number);
  for (const [index, { file, feature, number }] of later.entries()) {
    if (!features.includes(feature)) throw new Error(`${file} belongs to no feature of features.ts`);
    if (number !== index + 2) throw new Error(`${file} should have the number ${index + 2}`);
  }
  return [
    { name: 'baseline', sql: baseline },
    ...later.map(({ file }) => stepOf(file.slice(0, -'.sql'.length), texts[file]!)),
  ];
}

const stepOf = (name: string, sql: string): Migration => ({
  ...{ name, sql },
  ...(/^-- contract\b/.test(sql) && { isContract: true }),
});

function parseStep(file: string): { readonly feature: string; readonly number: number } {
  const [, feature = '', digits = ''] = /^(.+)\.(\d{3})\.sql$/.exec(file) ?? [];
  return { feature, number: Number(digits) };
}
