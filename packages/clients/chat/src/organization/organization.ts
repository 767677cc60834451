import type { GroupSetting, UserGroup } from '@parley/client';
import {
  type ChatState,
  type EventRules,
  type Fields,
  type StatePart,
  TABLE_FIELDS,
  union,
  without,
} from '../kernel/state.js';

const IN_TABLES: ReadonlySet<string> = new Set(TABLE_FIELDS);

/** Fields without a table, and user groups. */
export const ORGANIZATION_PART: StatePart = {
  begin(state, answer) {
    const { server_supported_permission_settings: kinds = {} } = answer;
    // A partial state leaves out usual values (extensions §18).
    for (const kind of Object.values(kinds) as Record<string, object>[])
      for (const name in kind) kind[name] = { ...answer.server_usual_permission_setting, ...kind[name] };
    const fields = Object.entries(answer).filter(([name]) => !IN_TABLES.has(name));
    state.fields.table.reset(fields as [keyof Fields, unknown][]);
    state.groups.reset(
      (answer.realm_user_groups ?? []).map((group) => [
        group.id,
        { ...answer.usual_group_permissions, ...group } as UserGroup,
      ]),
    );
  },
  present: (state) => ({
    ...Object.fromEntries(state.fields.table.all()),
    realm_user_groups: [...state.groups.all().values()],
  }),
};

type Names =
  | 'application_data'
  | 'realm'
  | 'realm_domains'
  | 'realm_emoji'
  | 'realm_export'
  | 'realm_export_consent'
  | 'realm_linkifiers';

export const ORGANIZATION_RULES: Pick<
  EventRules,
  | Names
  | 'realm_playgrounds'
  | 'realm_user_settings_defaults'
  | 'user_group'
  | 'invites_changed'
  | 'custom_profile_fields'
> = {
  realm(state, event) {
    if (event.op === 'update') changeRealm(state, event.property, event.value);
    if (event.op !== 'update_dict') return;
    for (const [property, value] of Object.entries(event.data)) changeRealm(state, property, value);
  },
  realm_domains(state, event) {
    state.fields.change('realm_domains', (domains) => {
      switch (event.op) {
        case 'add':
          return [...domains, event.realm_domain];
        case 'change':
          return domains.map((current) =>
            current.domain === event.realm_domain.domain ? event.realm_domain : current,
          );
        case 'remove':
          return domains.filter(({ domain }) => domain !== event.domain);
      }
    });
  },
  realm_emoji(state, event) {
    state.fields.change('realm_emoji', (emoji) => {
      if (event.op === 'add') return { ...emoji, [event.emoji.id]: event.emoji };
      const current = emoji[event.emoji_id];
      return current ? { ...emoji, [event.emoji_id]: { ...current, ...event.data } } : emoji;
    });
  },
  // Exports, invitations and data of the application are not part of the state; pages refetch them.
  application_data: (state, { object_type: type, object_id: id }) =>
    type !== 'message' && state.revise(`${type}:${id}`),
  realm_export: (state) => state.revise('exports'),
  realm_export_consent() {},
  invites_changed: (state) => state.revise('invites'),
  realm_linkifiers: (state, event) => state.fields.set('realm_linkifiers', event.realm_linkifiers),
  realm_playgrounds: (state, event) => state.fields.set('realm_playgrounds', event.realm_playgrounds),
  realm_user_settings_defaults: (state, { property, value }) =>
    state.fields.change('realm_user_settings_defaults', (defaults) => ({ ...defaults, [property]: value })),
  user_group(state, event) {
    const { groups } = state;
    switch (event.op) {
      case 'add':
        groups.set(event.group.id, event.group);
        return;
      case 'update':
        groups.change(event.group_id, (group) => ({ ...group, ...event.data }));
        break;
      default: {
        const change = event.op.includes('add') ? union : without;
        groups.change(event.group_id, (group) =>
          'user_ids' in event
            ? { ...group, members: [...change(group.members, event.user_ids)] }
            : { ...group, direct_subgroup_ids: [...change(group.direct_subgroup_ids, event.direct_subgroup_ids)] },
        );
      }
    }
    deriveOwnRights(state);
  },
  custom_profile_fields(state, { fields }) {
    state.fields.set('custom_profile_fields', fields);
    // Removes values of deleted fields and deleted options.
    const byId = new Map(fields.map((field) => [String(field.id), field]));
    const isLeft = ([id, { value }]: [string, { value: string }]) => {
      const field = byId.get(id);
      return field !== undefined && (field.type !== SELECT_FIELD || value in JSON.parse(field.field_data));
    };
    for (const [id, person] of state.people.all()) {
      const { profile_data: data } = person.user;
      if (!data || Object.entries(data).every(isLeft)) continue;
      const profile_data = Object.fromEntries(Object.entries(data).filter(isLeft));
      state.people.set(id, { ...person, user: { ...person.user, profile_data } });
    }
  },
};

/** Profile field type with a list of options (users §15). */
const SELECT_FIELD = 3;

/** Fields without a `realm_` prefix in the register response. */
const WITHOUT_PREFIX = new Set(['max_file_upload_size_mib']);
/** Properties missing from the register response. */
const NOT_KEPT = new Set(['rendered_description']);

function changeRealm(state: ChatState, property: string, value: unknown): void {
  if (NOT_KEPT.has(property)) return;
  state.fields.table.set((WITHOUT_PREFIX.has(property) ? property : `realm_${property}`) as keyof Fields, value);
  DERIVED[property]?.(state, value);
}

type Numbers = Readonly<Record<string, number>>;
/** Deprecated numbers of system groups (events §5.2). */
const CREATORS: Numbers = { 'role:administrators': 2, 'role:moderators': 4, 'role:fullmembers': 3, 'role:members': 1 };
const WEB_PUBLIC_CREATORS: Numbers = { 'role:administrators': 2, 'role:moderators': 4, 'role:nobody': 6 };
const MENTIONERS: Numbers = {
  'role:everyone': 1,
  'role:members': 2,
  'role:fullmembers': 3,
  'role:administrators': 5,
  'role:nobody': 6,
  'role:moderators': 7,
};

/** `other`: number of all other groups. */
function setNumber(state: ChatState, field: keyof Fields, numbers: Numbers, value: unknown, other: number) {
  state.fields.table.set(field, numbers[state.groups.peek(value as number)?.name ?? ''] ?? other);
}

/** Fields derived from an organization property (events §9 row 3). */
const DERIVED: Readonly<Record<string, (state: ChatState, value: unknown) => void>> = {
  authentication_methods(state, value) {
    const { Email, LDAP } = value as NonNullable<Fields['realm_authentication_methods']>;
    state.fields.set('realm_email_auth_enabled', Email?.enabled === true);
    state.fields.set('realm_password_auth_enabled', Email?.enabled === true || LDAP?.enabled === true);
  },
  can_create_public_channel_group(state, value) {
    setNumber(state, 'realm_create_public_stream_policy', CREATORS, value, 1);
    deriveOwnRights(state);
  },
  can_create_private_channel_group(state, value) {
    setNumber(state, 'realm_create_private_stream_policy', CREATORS, value, 1);
    deriveOwnRights(state);
  },
  can_create_web_public_channel_group(state, value) {
    setNumber(state, 'realm_create_web_public_stream_policy', WEB_PUBLIC_CREATORS, value, 7);
    deriveOwnRights(state);
  },
  can_invite_users_group: deriveOwnRights,
  enable_spectator_access: deriveOwnRights,
  can_mention_many_users_group: (state, value) =>
    setNumber(state, 'realm_wildcard_mention_policy', MENTIONERS, value, 5),
  jitsi_server_url: (state, value) =>
    state.fields.set(
      'jitsi_server_url',
      (value as string | null) ?? state.fields.peek('server_jitsi_server_url') ?? null,
    ),
  message_edit_history_visibility_policy: (state, value) =>
    state.fields.set('realm_allow_edit_history', value !== 'none'),
  plan_type: (state, value) => state.fields.set('zulip_plan_is_not_limited', value !== 2),
};

const OWN_RIGHTS = {
  can_create_public_streams: 'realm_can_create_public_channel_group',
  can_create_private_streams: 'realm_can_create_private_channel_group',
  can_create_web_public_streams: 'realm_can_create_web_public_channel_group',
  can_invite_others_to_realm: 'realm_can_invite_users_group',
} as const;

/** Fields that must be true before the user may create web-public channels. */
const WEB_PUBLIC_NEEDS = [
  'server_web_public_streams_enabled',
  'realm_enable_spectator_access',
  'can_create_public_streams',
] as const;

/** Recomputes the user's permissions after a group change. Guests never have them. */
export function deriveOwnRights(state: ChatState): void {
  const { fields } = state;
  for (const [right, setting] of Object.entries(OWN_RIGHTS) as [keyof typeof OWN_RIGHTS, keyof Fields][]) {
    const group = fields.peek(setting) as GroupSetting | undefined;
    if (group === undefined) continue;
    const isPossible = right !== 'can_create_web_public_streams' || WEB_PUBLIC_NEEDS.every((need) => fields.peek(need));
    fields.set(right, !fields.peek('is_guest') && isPossible && isMember(state, group));
  }
  const mayCreate = fields.peek('can_create_public_streams') || fields.peek('can_create_private_streams');
  if (mayCreate !== undefined) fields.set('can_create_streams', mayCreate);
}

/** True if a user belongs to the groups of a permission, directly or through subgroups. `role:everyone` lists no members. */
export function isMember(state: ChatState, setting: GroupSetting, userId = state.selfId): boolean {
  const seen = new Set<number>();
  const isIn = (members: readonly number[], subgroups: readonly number[]): boolean =>
    members.includes(userId) || subgroups.some(isInGroup);
  const isInGroup = (id: number): boolean => {
    const group = state.groups.get(id);
    if (!group || seen.has(id)) return false;
    seen.add(id);
    return group.name === 'role:everyone' || isIn(group.members, group.direct_subgroup_ids);
  };
  return typeof setting === 'number' ? isInGroup(setting) : isIn(setting.direct_members, setting.direct_subgroups);
}

/**
 * True if the user has a permission. Guests never have permissions that cannot be granted to everyone (users §12.1).
 * Observed inside computations.
 */
export function isPermitted(
  state: ChatState,
  setting: GroupSetting | undefined,
  definition?: { readonly allow_everyone_group: boolean },
): boolean {
  if (setting === undefined) return false;
  if (definition?.allow_everyone_group === false && state.fields.get('is_guest') === true) return false;
  return isMember(state, setting);
}
