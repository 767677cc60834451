import type { Wire } from './expectations.js';

/** Updates derived fields of the register response when properties of the organization change. */

type Derive = (response: Wire, value: Wire) => void;

/** Deprecated numbers for groups (events §5.2), which represent system groups only. */
const numbered =
  (field: string, numbers: Readonly<Record<string, number>>): Derive =>
  (response, value) => {
    const group = response.realm_user_groups.find(({ id }: Wire) => id === value);
    const number = numbers[group?.name];
    if (number === undefined) throw new Error(`${field} has no number for ${JSON.stringify(value)}`);
    response[field] = number;
  };

const CREATORS = {
  'role:members': 1,
  'role:administrators': 2,
  'role:fullmembers': 3,
  'role:moderators': 4,
  'role:nobody': 6,
  'role:owners': 7,
};
const MENTIONERS = {
  'role:everyone': 1,
  'role:members': 2,
  'role:fullmembers': 3,
  'role:administrators': 5,
  'role:nobody': 6,
  'role:moderators': 7,
};

/** Permission that guests never have, regardless of their groups. */
const ownRight =
  (field: string): Derive =>
  (response, value) => {
    response[field] = !response.is_guest && isMember(response, value);
  };

const OWN_RIGHTS: Readonly<Record<string, Derive>> = {
  can_create_public_channel_group: ownRight('can_create_public_streams'),
  can_create_private_channel_group: ownRight('can_create_private_streams'),
  can_create_web_public_channel_group: ownRight('can_create_web_public_streams'),
  can_invite_users_group: ownRight('can_invite_others_to_realm'),
};

/** Recomputes the user's own permissions after a change of group membership. */
export function deriveOwnRights(response: Wire): void {
  for (const [property, derive] of Object.entries(OWN_RIGHTS)) derive(response, response[`realm_${property}`]);
  ownsAnyChannelRight(response);
}

/** Fields that depend on a property of the organization (events §9 row 3). */
const DERIVED: Readonly<Record<string, readonly Derive[]>> = {
  authentication_methods: [
    (response, { Email, LDAP }) => {
      response.realm_email_auth_enabled = Email?.enabled === true;
      response.realm_password_auth_enabled = Email?.enabled === true || LDAP?.enabled === true;
    },
  ],
  can_create_public_channel_group: [
    numbered('realm_create_public_stream_policy', CREATORS),
    OWN_RIGHTS.can_create_public_channel_group!,
    ownsAnyChannelRight,
  ],
  can_create_private_channel_group: [
    numbered('realm_create_private_stream_policy', CREATORS),
    OWN_RIGHTS.can_create_private_channel_group!,
    ownsAnyChannelRight,
  ],
  can_create_web_public_channel_group: [
    numbered('realm_create_web_public_stream_policy', CREATORS),
    OWN_RIGHTS.can_create_web_public_channel_group!,
  ],
  can_invite_users_group: [OWN_RIGHTS.can_invite_users_group!],
  can_mention_many_users_group: [numbered('realm_wildcard_mention_policy', MENTIONERS)],
  jitsi_server_url: [
    (response, value) => {
      response.jitsi_server_url = value ?? response.server_jitsi_server_url;
    },
  ],
  message_edit_history_visibility_policy: [
    (response, value) => {
      response.realm_allow_edit_history = value !== 'none';
    },
  ],
  plan_type: [
    (response, value) => {
      response.zulip_plan_is_not_limited = value !== 2;
    },
  ],
};

function ownsAnyChannelRight(response: Wire): void {
  response.can_create_streams = response.can_create_public_streams || response.can_create_private_streams;
}

/** True if the client's user belongs to a group setting value, directly or through subgroups. */
function isMember(response: Wire, value: Wire): boolean {
  const { direct_members: members, direct_subgroups: subgroups } =
    typeof value === 'number' ? { direct_members: [], direct_subgroups: [value] } : value;
  const groups = response.realm_user_groups.filter(({ id }: Wire) => subgroups.includes(id));
  return (
    members.includes(response.user_id) ||
    groups.some((group: Wire) =>
      isMember(response, { direct_members: group.members, direct_subgroups: group.direct_subgroup_ids }),
    )
  );
}

const WITHOUT_PREFIX = new Set(['max_file_upload_size_mib']);
const NOT_KEPT = new Set(['rendered_description']);

/** Applies `realm/update` and `realm/update_dict`. */
export function changeRealm(response: Wire, property: string, value: unknown): void {
  if (NOT_KEPT.has(property)) return;
  response[WITHOUT_PREFIX.has(property) ? property : `realm_${property}`] = value;
  for (const derive of DERIVED[property] ?? []) derive(response, value);
}
