import { createHash } from 'node:crypto';
import type { ChannelRecord, GroupRecord } from '@parley/transfer/records';
import type { MessageChanges } from './staging.js';

/** Digest of texts, 22 characters long. */
export function digestOf(...texts: readonly string[]): string {
  return createHash('sha256')
    .update(texts.map((text) => `${text.length}:${text}`).join(''))
    .digest('base64url')
    .slice(0, 22);
}

/** Digest of a message with its reactions and edits. `json`: its record. */
export const messageDigest = (json: string, { reactions, edits }: MessageChanges): string =>
  digestOf(json, ...[...reactions, ...edits].map((detail) => detail.json).sort());

/** Digest of a channel's readers. Begins with the privacy. */
export const membersDigest = ({ privacy, members }: Pick<ChannelRecord, 'privacy' | 'members'>): string =>
  `${privacy} ${groupDigest({ members })}`;

export const isPublicDigest = (hash: string): boolean => hash.startsWith('public ');

/** Digest of a group's members. */
export const groupDigest = ({ members }: Pick<GroupRecord, 'members'>): string =>
  digestOf(...[...new Set(members)].sort());
