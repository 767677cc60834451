import type { UnixSeconds } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import { takeCodePoints, toSingleLine } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { Removal } from '../kernel/work.js';
import type { Email, Mailer } from './email.js';

/** Address permanently rejected by its mail server. */
export interface BouncedAddress {
  readonly email: string;
  readonly bouncedAt: UnixSeconds;
  /** Response of the mail server. */
  readonly reason: string;
}

/** Time after which email is sent to the address again, because the mailbox may exist by then. */
export const BOUNCE_SECONDS = 180 * 86_400;
const MAX_REASON_LENGTH = 300;

/** Bounced addresses, looked up case-insensitively. They are independent of organizations. */
export interface BouncedAddressReads {
  find(email: string): Promise<BouncedAddress | null>;
  /** Newest first. */
  list(limit: number): Promise<readonly BouncedAddress[]>;
}

/** Every implementation passes bounced-address-repository.contract.ts. */
export interface BouncedAddressRepository extends BouncedAddressReads {
  /** Replaces an earlier bounce of the address. */
  put(bounced: BouncedAddress): Promise<void>;
  /** Returns false if the address has not bounced. */
  remove(email: string): Promise<boolean>;
  /** Removes up to `limit` bounces from before `time`. Returns the number of removed bounces. */
  removeBefore(time: UnixSeconds, limit: number): Promise<number>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    bouncedAddresses: [reads: BouncedAddressReads, repository: BouncedAddressRepository];
  }
}

export const BOUNCE_FEATURE = {
  notExported: {
    bouncedAddresses: 'They belong to the mail servers of this installation.',
  },
};

/** The mail server permanently rejected the recipient. */
export class RecipientRefused extends Error {}

export function recordBounce(uow: UnitOfWork, email: string, reason: string, now: UnixSeconds): Promise<void> {
  const text = takeCodePoints(toSingleLine(reason), MAX_REASON_LENGTH);
  return uow.writeAcross((tx) => tx.bouncedAddresses.put({ email, bouncedAt: now, reason: text }));
}

/** True if emails to the address are dropped, also right after it was rejected. */
export const isBounced = async (uow: UnitOfWork, email: string): Promise<boolean> =>
  (await uow.readAcross(({ bouncedAddresses }) => bouncedAddresses.find(email))) !== null;

/** Sends no notifications to bounced addresses, and records new bounces. */
export class BounceAwareMailer implements Mailer {
  constructor(
    private readonly mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async send(email: Email): Promise<void> {
    // Requested links are sent nevertheless, since they are the only way to confirm the address.
    if (!email.isRequested && (await isBounced(this.uow, email.to))) return;
    try {
      await this.mailer.send(email);
    } catch (error) {
      if (!(error instanceof RecipientRefused)) throw error;
      await recordBounce(this.uow, email.to, error.message, this.clock.now());
    }
  }

  async removeTo(address: string): Promise<void> {
    await this.mailer.removeTo?.(address);
  }
}

/** Maximum number of addresses in a list. */
const MAX_LISTED = 1000;

export class ListBouncedAddresses {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(): Promise<readonly BouncedAddress[]> {
    return this.uow.readAcross(({ bouncedAddresses }) => bouncedAddresses.list(MAX_LISTED));
  }
}

/** Allows emails to a bounced address again. */
export class ForgetBouncedAddress {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns false if the address has not bounced. */
  execute(email: string): Promise<boolean> {
    return this.uow.writeAcross((tx) => tx.bouncedAddresses.remove(email));
  }
}

export class RemoveOldBounces extends Removal {
  protected remove(tx: Transaction, now: UnixSeconds, limit: number): Promise<number> {
    return tx.bouncedAddresses.removeBefore(now - BOUNCE_SECONDS, limit);
  }
}
