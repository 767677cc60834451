import { createHash } from 'node:crypto';

/** One step of the schema. Its text is never edited once released: a later step mends what it got wrong. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** What a database remembers of the step, so that it is noticed when the text has changed since. */
export const checksumOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex');
