import type { UserId } from '@parley/domain/kernel';
import type { Avatar, AvatarSource } from '@parley/domain/users';
import type { Quarantine } from '../engine/quarantine.js';

/** Columns of `user`. */
export interface AvatarColumns {
  readonly id: UserId;
  readonly avatar_source: AvatarSource;
  readonly avatar_version: number;
  /** Of an uploaded avatar. */
  readonly avatar_key: string | null;
}

const SOURCES: readonly AvatarSource[] = ['gravatar', 'uploaded', 'generated'];

/** What makes no sense counts as generated. */
export function toAvatar(row: AvatarColumns, quarantine: Quarantine): Avatar {
  const { avatar_version: version, avatar_key: key } = row;
  const source = quarantine.word(row.avatar_source, SOURCES, 'generated', 'user', row.id, 'avatar_source');
  if (source !== 'uploaded') return { source, version };
  return key === null ? { source: 'generated', version } : { source, version, key };
}
