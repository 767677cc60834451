import type { SystemGroupName } from '@parley/domain/access';
import { GROUP_PERMISSIONS, type Group } from '@parley/domain/groups';
import { foldCase, type GroupId, type RealmId, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import type { FeatureTables } from '../engine/feature.js';
import { OF_ACCOUNT, OF_REALM } from '../engine/personal-data.js';
import { type Flag, groupSettingsColumn, toFlag } from '../engine/rows.js';

/** Column values from `is_deactivated` to `permissions`, in the order of both statements. */
export const fromGroup = (group: Omit<Group, 'id'>) => [
  toFlag(group.isDeactivated),
  group.name,
  group.name === null ? null : foldCase(group.name),
  group.description,
  group.systemName,
  group.creatorId,
  group.createdAt,
  group.permissions && JSON.stringify(group.permissions),
];

export const groupPermissions = groupSettingsColumn(GROUP_PERMISSIONS, 'user_group');

export interface GroupRow {
  readonly id: GroupId;
  readonly realm_id: RealmId;
  readonly is_deactivated: Flag;
  readonly name: string | null;
  readonly description: string;
  readonly system_name: SystemGroupName | null;
  readonly creator_id: UserId | null;
  readonly created_at: UnixSeconds | null;
  readonly permissions: string | null;
}

/** @param permissions parsed from the row; null for an anonymous group */
export const toGroup = (row: GroupRow, permissions: Group['permissions']): Group => ({
  id: row.id,
  realmId: row.realm_id,
  name: row.name,
  description: row.description,
  systemName: row.system_name,
  isDeactivated: row.is_deactivated === 1,
  creatorId: row.creator_id,
  createdAt: row.created_at,
  permissions,
});

const GROUPS_OF_ONE = `
-- expand: the previous release creates another group for each value with only one person.
ALTER TABLE user_group ADD COLUMN sole_member_id {int};
CREATE UNIQUE INDEX user_group_of_one ON user_group (realm_id, sole_member_id) WHERE sole_member_id IS NOT NULL;
`;

const MEMBER_CHANGES = `
-- expand: the previous release counts a change of members in groups_version only, which invalidates every cached actor.
-- Number of the changes in groups_version that concern only the groups of users whose own groups_version changed too.
ALTER TABLE realm ADD COLUMN member_changes {int} NOT NULL DEFAULT 0;
-- Increases when the user joins or leaves a group directly.
ALTER TABLE {user} ADD COLUMN groups_version {int} NOT NULL DEFAULT 0;
`;

/** Group tables in both databases. */
export const GROUP_TABLES = {
  schema: 'groups',
  steps: {
    1: `
-- User groups: named groups, and anonymous groups that are the value of one permission.

CREATE TABLE user_group (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  is_deactivated {flag} NOT NULL,
  name {text},
  -- Case-folded; null for anonymous groups.
  name_key {text},
  description {text} NOT NULL,
  system_name {text},
  creator_id {int},
  created_at {int},
  -- JSON: a group id for each permission; null for anonymous groups.
  permissions {text}
) {strict};
CREATE UNIQUE INDEX user_group_by_name ON user_group (realm_id, name_key) WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX user_group_system ON user_group (realm_id, system_name) WHERE system_name IS NOT NULL;
CREATE INDEX user_group_deactivated ON user_group (realm_id, id) WHERE is_deactivated = 1;
CREATE INDEX user_group_anonymous ON user_group (realm_id, id) WHERE name_key IS NULL;

CREATE TABLE group_member (
  group_id {int} NOT NULL REFERENCES user_group (id),
  user_id {int} NOT NULL REFERENCES {user} (id),
  realm_id {int} NOT NULL,
  PRIMARY KEY (group_id, user_id)
) {withoutRowId};
CREATE INDEX group_member_by_user ON group_member (user_id, group_id);

CREATE TABLE group_subgroup (
  group_id {int} NOT NULL REFERENCES user_group (id),
  subgroup_id {int} NOT NULL REFERENCES user_group (id),
  realm_id {int} NOT NULL,
  PRIMARY KEY (group_id, subgroup_id)
) {withoutRowId};
CREATE INDEX group_subgroup_by_subgroup ON group_subgroup (subgroup_id, group_id);
CREATE INDEX group_subgroup_by_realm ON group_subgroup (realm_id);
`,
    41: GROUPS_OF_ONE,
    47: MEMBER_CHANGES,
  },
  realmTables: ['group_subgroup', 'group_member', 'user_group'],
  persons: {
    group_subgroup: {},
    group_member: { data: 'Members of groups', fate: OF_ACCOUNT, keep: { 'Ids without text.': ['user_id'] } },
    user_group: {
      data: 'Groups',
      fate: OF_REALM,
      keep: { 'Ids without text.': ['creator_id'] },
      other: ['name', 'name_key', 'description', 'system_name', 'permissions'],
    },
  },
} satisfies FeatureTables;

export interface ViewRow extends GroupRow {
  readonly member_ids: string;
  readonly subgroup_ids: string;
}

export interface ValueRow {
  readonly id: GroupId;
  /** Comma-separated in any order; null for named groups. */
  readonly member_ids: string | null;
  readonly subgroup_ids: string | null;
}
