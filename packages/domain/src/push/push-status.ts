import { type FeatureParts, wholeRealm } from '../kernel/event.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/** Latest status of an organization reported by the push service (organization §15, §17). */
export interface PushStatus {
  readonly isEnabled: boolean;
  /** Time at which pushes are expected to end; null if they are not. */
  readonly endsAt: UnixSeconds | null;
}

export interface PushStatusReads {
  /** Returns null if the push service has not been queried yet. */
  find(realmId: RealmId): Promise<PushStatus | null>;
}

/** Every implementation passes push-repositories.contract.ts. */
export interface PushStatusRepository extends PushStatusReads {
  put(realmId: RealmId, status: PushStatus): Promise<void>;
}

export interface PushStatusEventTypes {
  /** Sent to all users. */
  'realm.push_status_changed': {
    readonly change:
      | { readonly name: 'isEnabled'; readonly value: boolean }
      | { readonly name: 'endsAt'; readonly value: UnixSeconds | null };
  };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    pushStatus: [reads: PushStatusReads, repository: PushStatusRepository];
  }
  interface DomainEventTypes extends PushStatusEventTypes {}
}

export const PUSH_STATUS_FEATURE = {
  eventFormats: { 'realm.push_status_changed': 1 },
  notExported: { pushStatus: 'Another server queries its own push service.' },
} satisfies FeatureParts<PushStatusEventTypes>;

/** Status of an organization unknown to the push service. */
export const UNKNOWN_PUSH_STATUS: PushStatus = { isEnabled: false, endsAt: null };

export const loadPushStatus = async ({ caller, repositories }: Snapshot): Promise<PushStatus> =>
  (await repositories.pushStatus.find(caller.realmId)) ?? UNKNOWN_PUSH_STATUS;

export const isSameStatus = (one: PushStatus, other: PushStatus): boolean =>
  one.isEnabled === other.isEnabled && one.endsAt === other.endsAt;

/** Stores the status and publishes any change. */
export async function setPushStatus(tx: Transaction, realmId: RealmId, status: PushStatus): Promise<void> {
  const before = (await tx.pushStatus.find(realmId)) ?? UNKNOWN_PUSH_STATUS;
  const { isEnabled, endsAt } = status;
  if (isSameStatus(before, status)) return;
  await tx.pushStatus.put(realmId, status);
  const publish = (change: PushStatusEventTypes['realm.push_status_changed']['change']) =>
    tx.events.append(realmId, { event: { type: 'realm.push_status_changed', change }, audience: wholeRealm });
  if (before.isEnabled !== isEnabled) await publish({ name: 'isEnabled', value: isEnabled });
  if (before.endsAt !== endsAt) await publish({ name: 'endsAt', value: endsAt });
}
