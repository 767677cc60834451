import { createHash } from 'node:crypto';
import type { ChannelRecord } from '@parley/domain/imports';
import type { MessageKey, Staging } from './staging.js';

/** Digest of texts, 22 characters long. */
export function digestOf(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  return hash.digest('base64url').slice(0, 22);
}

/** Digest of a message with its reactions and edits. `json`: its record. */
export function messageDigest(staging: Staging, message: MessageKey, json: string): string {
  const details = (['reaction', 'edit'] as const).flatMap((kind) =>
    staging.details(kind, message).map(({ record }) => JSON.stringify(record)),
  );
  return digestOf(json, ...details.sort());
}

/** Digest of a channel's readers. Begins with the privacy. */
export const membersDigest = ({ privacy, members }: Pick<ChannelRecord, 'privacy' | 'members'>): string =>
  `${privacy} ${digestOf(...[...new Set(members)].sort())}`;

export const isPublicDigest = (hash: string): boolean => hash.startsWith('public ');
