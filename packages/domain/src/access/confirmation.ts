import './confirmation-errors.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';

/** What somebody does by a link that was sent to an address: only whoever reads its mail has the link. */
export type ConfirmationPurpose = 'signUp' | 'emailChange' | 'passwordReset';

/** Something that waits for whoever reads the mail of an address. Its key is derived from the id, and kept nowhere: see `LinkKeys`. */
export interface Confirmation {
  /** No other one on the server has had it. */
  readonly id: number;
  readonly realmId: RealmId;
  readonly purpose: ConfirmationPurpose;
  /** Where the link was sent: the new address, where somebody changes theirs. */
  readonly email: string;
  /** Whose account it is about; null: whoever signs up has none yet. */
  readonly userId: UserId | null;
  /** The invitation link by which somebody signs up; null: by none. */
  readonly invitationId: number | null;
  readonly expiresAt: UnixSeconds;
  /** Ended by being used, or because another one took its place. */
  readonly status: 'open' | 'ended';
}

/** How long links are good for (organization §10.1). */
export const CONFIRMATION_SECONDS = 86_400;
/** For so long whoever comes too late gets an answer that says so; then the key is unknown. */
export const KEEP_ENDED_CONFIRMATION_SECONDS = 86_400;
/** Of those who sign up with an organization, ended ones that are still kept included. Users have one of each purpose. */
export const MAX_SIGN_UPS = 10_000;

/** @throws DomainError TOO_MANY_SIGN_UPS */
export function requireRoomForSignUp(present: number): void {
  if (present < MAX_SIGN_UPS) return;
  throw new DomainError('TOO_MANY_SIGN_UPS', 'Too many people are signing up at the moment. Try again tomorrow.');
}

/** What an organization has one open confirmation of each purpose for: a user, or the address of somebody who is none yet. */
export const subjectOf = ({ userId, email }: Pick<Confirmation, 'userId' | 'email'>): string =>
  userId === null ? foldCase(email) : String(userId);

export interface ConfirmationReads {
  /** Of another organization: null. */
  find(realmId: RealmId, id: number): Promise<Confirmation | null>;
  /** The open one, whether or not its time is over. `subject`: see `subjectOf`. */
  findOpen(realmId: RealmId, purpose: ConfirmationPurpose, subject: string): Promise<Confirmation | null>;
  /** Open and ended ones. */
  count(realmId: RealmId, purpose: ConfirmationPurpose): Promise<number>;
}

/** Every implementation passes confirmation-repository.contract.ts. */
export interface ConfirmationRepository extends ConfirmationReads {
  /** There is no other open one of its purpose and subject. */
  add(confirmation: Omit<Confirmation, 'id'>): Promise<Confirmation>;
  /** `expiresAt` and `status` alone. */
  update(confirmation: Confirmation): Promise<void>;
  remove(realmId: RealmId, id: number): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    confirmations: [reads: ConfirmationReads, repository: ConfirmationRepository];
  }
}

export const CONFIRMATION_FEATURE = {
  notExported: {
    confirmations: 'Their links are secrets.',
  },
};
