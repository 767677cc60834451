import { DomainError } from '../kernel/errors.js';
import type { ChannelId, DraftId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES } from '../kernel/kept-text.js';
import { type Decision, denyIf } from '../kernel/permission.js';
import type { UserSettings } from '../realms/user-settings.js';

/** What somebody has begun to write. */
export interface Draft {
  readonly id: DraftId;
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly to:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
    /** Ascending, without the user unless they are alone. */
    | { readonly kind: 'direct'; readonly userIds: readonly UserId[] }
    /** Not known yet. */
    | { readonly kind: 'nobody' };
  /** Markdown. */
  readonly content: string;
  /** May have a fraction. */
  readonly editedAt: UnixSeconds;
}

export type NewDraft = Omit<Draft, 'id'>;

/** Of one user. */
export const MAX_DRAFTS = 2000;
/** How many clients get when they register, the last edited ones (protocol §14). */
export const MAX_REGISTERED_DRAFTS = 1000;

/** Users §17: before anything else is looked at. */
export const mustSynchronizeDrafts = ({
  settings,
}: {
  readonly settings: Pick<UserSettings, 'enableDraftsSynchronization'>;
}): Decision =>
  denyIf(!settings.enableDraftsSynchronization, 'DRAFTS_NOT_SYNCHRONIZED', 'User has disabled synchronizing drafts.');

/** @throws DomainError TOO_MANY_DRAFTS */
export function requireRoomForDrafts(count: number): void {
  if (count <= MAX_DRAFTS) return;
  throw new DomainError('TOO_MANY_DRAFTS', `Too many drafts (limit: ${MAX_DRAFTS}).`);
}

/** See `keepsTooMuchText`. @throws DomainError TOO_MANY_DRAFTS */
export function requireRoomForDraftText(
  present: number,
  added: readonly string[],
  removed: readonly string[] = [],
): void {
  if (!keepsTooMuchText(present, added, removed)) return;
  throw new DomainError('TOO_MANY_DRAFTS', `Too much text in drafts (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`);
}

export interface DraftReads {
  /** Null for those of other realms and users. */
  find(realmId: RealmId, userId: UserId, id: DraftId): Promise<Draft | null>;
  /** The user's, the last edited first; of those edited at the same time the newest. At most `limit`. */
  list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Draft[]>;
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** Of the contents of all of the user's, in UTF-8. */
  countBytes(realmId: RealmId, userId: UserId): Promise<number>;
}

/** Every implementation passes draft-repository.contract.ts. */
export interface DraftRepository extends DraftReads {
  add(draft: NewDraft): Promise<Draft>;
  /** Without effect where there is none. */
  update(draft: Draft): Promise<void>;
  /** Without effect where there is none. */
  remove(realmId: RealmId, userId: UserId, id: DraftId): Promise<void>;
  /** All of the user's. */
  removeAll(realmId: RealmId, userId: UserId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    drafts: [reads: DraftReads, repository: DraftRepository];
  }
}
