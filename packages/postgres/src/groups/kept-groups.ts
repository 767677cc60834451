import type { SystemGroupName } from '@parley/domain/access';
import type { GroupView } from '@parley/domain/groups';
import type { GroupId } from '@parley/domain/kernel';
import { VersionedCache } from '@parley/storage';
import { KnownVersions } from '../engine/known-versions.js';

export type SystemGroupIds = Readonly<Record<SystemGroupName, GroupId>>;

/** Caches of all connections, by realm. */
export interface KeptGroups {
  /** Ids of system groups, by version of the groups. */
  readonly systemGroups: VersionedCache<number, SystemGroupIds>;
  /** All named groups, by their version. */
  readonly views: VersionedCache<number, readonly GroupView[]>;
  readonly versions: KnownVersions<number>;
}

export const newKeptGroups = (): KeptGroups => ({
  systemGroups: new VersionedCache(10_000),
  views: new VersionedCache(20),
  versions: new KnownVersions(10_000),
});
