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
  /** To everybody. */
  'user.created': { readonly user: User };
  /** To everybody who may know the user. */
  'user.role_changed': { readonly userId: UserId; readonly role: Role };
  /** To everybody who may know the user; the user as they are afterwards. Sent only to those who see the address. */
  'user.email_changed': { readonly user: User };
  /** To everybody who may know the user; the user as they are afterwards. */
  'user.avatar_changed': { readonly user: User };
  /**
   * To somebody whose role changed: by that they came to see addresses of some of these users, or see them no longer.
   * `before`: what their role was.
   */
  'user.addresses_seen': { readonly userIds: readonly UserId[]; readonly before: Role };
  /** To everybody who may know the user; a deactivated user's queues end. */
  'user.activation_changed': { readonly userId: UserId; readonly isActive: boolean };
  /**
   * To guests who may not know everybody: whether they know these users was decided anew (users §1.4). What it was before
   * is what held at `before`, a seq. Names at most `MAX_USERS_PER_ACCESS_CHANGE` users. `reach`: they came to know everybody,
   * or know everybody no longer; absent: they do not, before and after.
   */
  'user.access_changed': { readonly userIds: readonly UserId[]; readonly before: EventSeq; readonly reach?: Reach };
  /** To administrators: whether exports may hold what is private to the user; of newcomers and those who come back, too. */
  'user.export_consent_changed': { readonly userId: UserId; readonly isGiven: boolean };
  /** To nobody: who had the key before is signed out, and their queues end. */
  'user.api_key_replaced': { readonly userId: UserId };
  /** To nobody: whoever keeps keys at hand forgets this user's. */
  'user.credentials_changed': { readonly userId: UserId };
  /** To nobody: some of the user's browser sessions are no more. */
  'user.sessions_ended': { readonly userId: UserId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends UserEventTypes {}
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
    'user.export_consent_changed': 1,
    'user.api_key_replaced': 1,
    'user.credentials_changed': 1,
    'user.sessions_ended': 1,
  },
  notExported: {
    actors: 'They follow from users and groups.',
  },
} satisfies FeatureParts<UserEventTypes>;

/** What follows from people changing their settings and their accounts (users §6.4). */
export interface UserSettingsEventTypes {
  /** To those whose setting it is. */
  'user.setting_changed': { readonly setting: UserSettingName; readonly value: SettingValue };
  /** To everybody who may know the user; the user as they are afterwards. */
  'user.time_zone_changed': { readonly user: User };
  /** The same; `before` says who could see their address. */
  'user.email_visibility_changed': { readonly user: User; readonly before: EmailVisibility };
  /** To everybody: from then on others see when the user is there, or they do not; the user as they are afterwards. */
  'user.presence_switched': { readonly user: User; readonly at: UnixSeconds };
  /** To everybody who may know the user. */
  'user.name_changed': { readonly userId: UserId; readonly fullName: string };
}

declare module '../kernel/event.js' {
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

/** So many users one event names at most: each may become two events for the client. */
const USERS_PER_EVENT = 200;

/**
 * Announces to somebody whose role changed whose addresses they see now, or see no more (users §1.2, §5). Whose these are is found
 * out where the event is delivered, since it is a matter of everybody's settings.
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
    await tx.yield();
  }
}

/** So many users one event names at most: each becomes an event of its own for a guest who comes to know them. */
export const MAX_USERS_PER_ACCESS_CHANGE = 200;

/** Whose rights are looked up in one go. */
const USERS_AT_A_TIME = 500;

/** Some have come to a channel, or gone. */
export interface ChannelAccessChange {
  readonly subscribers: Audience;
  /** At least one. */
  readonly changed: readonly UserId[];
  /** Who follows it beside them. */
  others(): Promise<readonly UserId[]>;
}

/** Announces to guests, who may not know everybody, whom they have come to know or know no longer (users §1.4). */
export interface AccessAnnouncer {
  /** All at once, so that nobody gets two events of somebody with whom they share several. */
  announceChannels(changes: readonly ChannelAccessChange[]): Promise<void>;
  /** These people talk to one another for the first time. */
  announceConversation(userIds: readonly UserId[]): Promise<void>;
}

/**
 * To be asked for before anything is changed. Null where guests may know everybody, as they mostly may: then there is
 * nothing to tell.
 */
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
      const followers = anyOf(...changes.map(({ subscribers }) => subscribers));
      await announce(changedIds, except(followers, users([...guests])));
      if (guests.size === 0) return;
      // Those who come together, or leave together, come to know one another, or lose one another.
      const known = new Set(changedIds);
      for (const { changed, others } of changes) {
        if (!changed.some((id) => guests.has(id))) continue;
        for (const id of await others()) known.add(id);
        await tx.yield();
      }
      await announce([...known], users([...guests]));
    },
    announceConversation: (userIds) => announce(userIds, users(userIds)),
  };
}

async function limitedGuestsAmong(tx: Transaction, realm: Realm, ids: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  const guests = new Set<UserId>();
  for (const some of slicesOf(ids, USERS_AT_A_TIME)) {
    for (const [id, actor] of await tx.actors.list(realm.id, some)) if (isLimitedGuest(actor, realm)) guests.add(id);
    await tx.yield();
  }
  return guests;
}

/**
 * Announces to guests whether they know everybody from now on, or no longer (users §1.4): all of them, or one whose role changed.
 * `before`: the end of the log before the change. Names everybody, and costs by that; it is asked for where an owner decides
 * anew about all guests, or a guest's role changes.
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

/** Who of them gets what is decided where the event is delivered: it costs by guests who are online. */
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
    await tx.yield();
  }
}
