import type { Emoji } from '../files/emoji.js';
import { emojiShape } from '../files/emoji.js';
import { declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import * as shape from '../kernel/shape.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { loadRealm } from '../realms/realm-loaders.js';
import { accessibleUserIds } from './accessible-users.js';
import type { User, UserStatus } from './user.js';
import { accessorsOf } from './user-delivery.js';
import { loadViewer } from './users.use-cases.js';

export const STATUS_ERRORS = declareErrors({
  /** The request contains no change. */
  STATUS_CHANGE_REQUIRED: 'invalid',
  /** An emoji code or type is given without a name. */
  EMOJI_NAME_REQUIRED: 'invalid',
});

type StatusErrors = typeof STATUS_ERRORS;

/** Status with the visibility of the user's presence. */
export interface ShownStatus extends UserStatus {
  readonly isAway: boolean;
}

export const NO_STATUS: UserStatus = { text: '', emoji: null };

/** In code points. */
export const MAX_STATUS_TEXT_LENGTH = 60;

export const shownStatus = (status: UserStatus, { settings }: Pick<User, 'settings'>): ShownStatus => ({
  ...status,
  isAway: !settings.presenceEnabled,
});

export interface StatusReads {
  /** Returns null if the user never set a status. */
  find(realmId: RealmId, userId: UserId): Promise<UserStatus | null>;
  /** Returns all statuses ever set, by ascending user id. */
  list(realmId: RealmId): Promise<ReadonlyMap<UserId, UserStatus>>;
}

/** Every implementation passes status-repository.contract.ts. */
export interface StatusRepository extends StatusReads {
  put(realmId: RealmId, userId: UserId, status: UserStatus): Promise<void>;
}

/** Requested changes; absent fields are unchanged. */
export interface StatusChange {
  readonly isAway?: boolean;
  readonly text?: string;
  /** Null removes the emoji. */
  readonly emoji?: Emoji | null;
}

export interface StatusEventTypes {
  /** Sent to everyone who may see the user. */
  'user.status_changed': { readonly userId: UserId; readonly change: StatusChange };
}

const loadStoredStatuses = (reads: Repositories, realmId: RealmId) => reads.statuses.list(realmId);

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends StatusErrors {}
  interface RepositoryMap {
    statuses: [reads: StatusReads, repository: StatusRepository];
  }
  interface DomainEventTypes extends StatusEventTypes {}
  interface PersonCopyParts {
    readonly status: UserStatus | null;
  }
}

const personPart: PersonPart<'status'> = {
  none: { status: null },
  isPublic: true,
  shapes: { status: shape.orNull(shape.object({ text: shape.name, emoji: shape.orNull(emojiShape) })) },
  async read(reads, { userId }, covered) {
    const statuses = await covered.once(reads, loadStoredStatuses);
    return { status: statuses.get(userId) ?? null };
  },
  async add(tx, { realmId, userId }, { status }, ids) {
    if (status) await tx.statuses.put(realmId, userId, { ...status, emoji: status.emoji && ids.emojiOf(status.emoji) });
  },
};

export const STATUS_FEATURE = {
  eventFormats: { 'user.status_changed': 1 },
  personPart: personPart,
} satisfies FeatureParts<StatusEventTypes>;

/** Returns the nonempty statuses of active users visible to the viewer. */
export async function loadStatuses(snapshot: Snapshot): Promise<ReadonlyMap<UserId, ShownStatus>> {
  const { repositories } = snapshot;
  const realm = await snapshot.load(loadRealm);
  const accessible = await accessibleUserIds(repositories, await snapshot.load(loadViewer), realm);
  const stored = await repositories.statuses.list(realm.id);
  const shown = new Map<UserId, ShownStatus>();
  for (const user of await repositories.users.list(realm.id, [...stored.keys()])) {
    const status = shownStatus(getOrThrow(stored, user.id), user);
    const isSet = status.isAway || status.text !== '' || status.emoji !== null;
    if (isSet && user.isActive && (!accessible || accessible.has(user.id))) shown.set(user.id, status);
  }
  return shown;
}

/** Publishes the status of a reactivated user, which clients that registered in between do not have (users §4.3). */
export async function announceStatus(tx: Transaction, { id: userId, realmId }: User): Promise<void> {
  const { text, emoji } = (await tx.statuses.find(realmId, userId)) ?? NO_STATUS;
  if (text === '' && emoji === null) return;
  const event = { type: 'user.status_changed', userId, change: { text, emoji } } as const;
  await tx.events.append(realmId, { event, audience: accessorsOf(userId) });
}

/** Stores and publishes changes. Checks no permissions. */
export async function storeStatusChange(
  tx: Transaction,
  { id: userId, realmId }: User,
  change: StatusChange,
): Promise<void> {
  const before = (await tx.statuses.find(realmId, userId)) ?? NO_STATUS;
  const { text = before.text, emoji = before.emoji } = change;
  await tx.statuses.put(realmId, userId, { text, emoji });
  await tx.events.append(realmId, {
    event: { type: 'user.status_changed', userId, change },
    audience: accessorsOf(userId),
  });
}
