import type { Role } from '../access/roles.js';
import { type Audience, allOf, anyOf, except, type FeatureParts, users, users as usersNamed } from '../kernel/event.js';
import type { EventSeq, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { SettingValue } from '../kernel/settings.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { EmailVisibility, UserSettingName } from '../realms/user-settings.js';
import { isLimitedGuest, type Reach, visibleEmailSettings } from './accessible-users.js';
import type { User } from './user.js';
import { limitedGuests } from './user-delivery.js';

export interface UserEventTypes {
  /** Sent to the whole realm. */
  'user.created': { readonly user: User };
  /** Sent to everyone who may see the user. */
  'user.role_changed': { readonly userId: UserId; readonly role: Role };
  /** Sent to everyone who may see the user and their email. Contains the changed user. */
  'user.email_changed': { readonly user: User };
  /** Sent to everyone who may see the user. Contains the changed user. */
  'user.avatar_changed': { readonly user: User };
  /** Sent to a user after a role change, which may show or hide the emails of these users. `before`: previous role. */
  'user.addresses_seen': { readonly userIds: readonly UserId[]; readonly before: Role };
  /** Sent to everyone who may see the user. Deactivation closes the user's queues. */
  'user.activation_changed': { readonly userId: UserId; readonly isActive: boolean };
  /**
   * Sent to limited guests whose access to these users may have changed since the seq `before` (users §1.4). Names at
   * most `MAX_USERS_PER_ACCESS_CHANGE` users. `reach`: access to all users was gained or lost; absent if they had and
   * have limited access.
   */
  'user.access_changed': { readonly userIds: readonly UserId[]; readonly before: EventSeq; readonly reach?: Reach };
  /** Sent to everyone who may see the user. `externalId`: null if it was removed. */
  'user.external_id_assigned': { readonly userId: UserId; readonly externalId: string | null };
  /** Sent to administrators when consent to export private data changes, or a user is added or reactivated. */
  'user.export_consent_changed': { readonly userId: UserId; readonly isGiven: boolean };
  /** Sent to no user; ends sessions and queues opened with the old key. */
  'user.api_key_replaced': { readonly userId: UserId };
  /** Sent to no user; evicts the user's keys from caches. */
  'user.credentials_changed': { readonly userId: UserId };
  /** Sent to no user; some of the user's browser sessions have ended. */
  'user.sessions_ended': { readonly userId: UserId };
}

export const USER_FEATURE = {
  eventFormats: {
    'user.created': 2,
    'user.role_changed': 1,
    'user.email_changed': 1,
    'user.avatar_changed': 1,
    'user.addresses_seen': 1,
    'user.activation_changed': 1,
    'user.access_changed': 1,
    'user.external_id_assigned': 1,
    'user.export_consent_changed': 1,
    'user.api_key_replaced': 1,
    'user.credentials_changed': 1,
    'user.sessions_ended': 1,
  },
  notExported: {
    actors: 'They follow from users and groups.',
  },
} satisfies FeatureParts<UserEventTypes>;

/** Events for changes of users' settings and accounts (users §6.4). */
export interface UserSettingsEventTypes {
  /** Sent to the owner of the setting. */
  'user.setting_changed': { readonly setting: UserSettingName; readonly value: SettingValue };
  /** Sent to everyone who may see the user. Contains the changed user. */
  'user.time_zone_changed': { readonly user: User };
  /** Sent to everyone who may see the user. Contains the changed user; `before` is the previous visibility. */
  'user.email_visibility_changed': { readonly user: User; readonly before: EmailVisibility };
  /** Sent to everyone when a user shows or hides their presence. Contains the changed user. */
  'user.presence_switched': { readonly user: User; readonly at: UnixSeconds };
  /** Sent to everyone who may see the user. */
  'user.name_changed': { readonly userId: UserId; readonly fullName: string };
}

declare module '../kernel/feature-types.js' {
  interface DomainEventTypes extends UserEventTypes {}
  interface DomainEventTypes extends UserSettingsEventTypes {}
}

export const USER_SETTINGS_FEATURE = {
  eventFormats: {
    'user.setting_changed': 1,
    'user.time_zone_changed': 1,
    'user.email_visibility_changed': 1,
    'user.presence_switched': 1,
    'user.name_changed': 1,
  },
} satisfies FeatureParts<UserSettingsEventTypes>;

/** Maximum number of users per event, since each may cause two client events. */
const USERS_PER_EVENT = 200;

/**
 * Publishes email visibility changes to a user after a role change (users §1.2, §5). The affected emails depend on all
 * users' settings and are determined on delivery.
 */
export async function announceAddressesSeen(
  tx: Transaction,
  realmId: RealmId,
  userId: UserId,
  before: Role,
  after: Role,
): Promise<void> {
  if (visibleEmailSettings(before).length === visibleEmailSettings(after).length) return;
  const ids = (await tx.users.listEntries(realmId)).map(({ id }) => id);
  for (const userIds of slicesOf(ids, USERS_PER_EVENT)) {
    await tx.events.append(realmId, {
      event: { type: 'user.addresses_seen', userIds, before },
      audience: usersNamed([userId]),
    });
  }
}

/** Maximum number of users per event, since clients receive a separate event for each new user. */
export const MAX_USERS_PER_ACCESS_CHANGE = 200;

/** Users who joined or left a channel. */
export interface ChannelAccessChange {
  readonly subscribers: Audience;
  /** At least one user. */
  readonly changed: readonly UserId[];
  /** Other subscribers of the channel. */
  others(): Promise<readonly UserId[]>;
}

/** Publishes changes of user visibility to limited guests (users §1.4). */
export interface AccessAnnouncer {
  /** Publishes all changes together, so that no guest gets two events about a user in several shared channels. */
  announceChannels(changes: readonly ChannelAccessChange[]): Promise<void>;
  /** Publishes the first conversation between these users. */
  announceConversation(userIds: readonly UserId[]): Promise<void>;
}

/** Must be called before any change. Returns null if guests can see all users, which is the usual case. */
export async function accessAnnouncer(tx: Transaction, realm: Realm): Promise<AccessAnnouncer | null> {
  const { everyone } = await tx.groups.systemGroupIds(realm.id);
  if (realm.permissions.canAccessAllUsers === everyone) return null;
  const before = await tx.events.lastSeq(realm.id);
  const announce = (userIds: readonly UserId[], to: Audience) =>
    append(tx, realm, userIds, allOf(limitedGuests, to), before);
  return {
    async announceChannels(changes) {
      const changedIds = [...new Set(changes.flatMap(({ changed }) => changed))];
      if (changedIds.length === 0) return;
      const guests = await limitedGuestsAmong(tx, realm, changedIds);
      const affected = anyOf(...changes.map(({ subscribers }) => subscribers));
      await announce(changedIds, except(affected, users([...guests])));
      if (guests.size === 0) return;
      // Users who join together gain access to each other; users who leave together lose it.
      const userIds = new Set(changedIds);
      for (const { changed, others } of changes) {
        if (!changed.some((id) => guests.has(id))) continue;
        for (const id of await others()) userIds.add(id);
      }
      await announce([...userIds], users([...guests]));
    },
    announceConversation: (userIds) => announce(userIds, users(userIds)),
  };
}

async function limitedGuestsAmong(tx: Transaction, realm: Realm, ids: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  const guests = new Set<UserId>();
  for (const [id, actor] of await tx.actors.list(realm.id, ids)) if (isLimitedGuest(actor, realm)) guests.add(id);
  return guests;
}

/**
 * Publishes to all guests, or to one guest after a role change, that they can now see all users or no longer can (users
 * §1.4). `before`: last event seq before the change. Names all users, which is costly but rare.
 */
export async function announceReach(
  tx: Transaction,
  realm: Realm,
  reach: Reach,
  to: Audience,
  before: EventSeq,
): Promise<void> {
  const ids = (await tx.users.listEntries(realm.id)).map(({ id }) => id);
  await append(tx, realm, ids, to, before, reach);
}

/** Receivers are determined on delivery, at a cost that depends on online guests. */
async function append(
  tx: Transaction,
  realm: Realm,
  userIds: readonly UserId[],
  audience: Audience,
  before: EventSeq,
  reach?: Reach,
): Promise<void> {
  for (const named of slicesOf(userIds, MAX_USERS_PER_ACCESS_CHANGE)) {
    await tx.events.append(realm.id, {
      event: { type: 'user.access_changed', userIds: named, before, ...(reach && { reach }) },
      audience,
    });
  }
}
