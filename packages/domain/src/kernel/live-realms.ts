import type { DeliveryFeatures, OnlineUser, QueueOwnerRights, RealmSnapshot } from './delivery-features.js';
import type { EventSeq, RealmId, UserId } from './ids.js';
import type { DueEvent, LiveQueue } from './live-queue.js';
import { type EventReference, LiveRealm } from './live-realm.js';
import type { LogFollower } from './log-follower.js';
import type { ReportProblem } from './problem-log.js';
import type { EventCatalogue } from './receiver.js';
import type { UnitOfWork } from './unit-of-work.js';

export interface LiveRealmsParts {
  readonly uow: UnitOfWork;
  readonly follower: LogFollower;
  readonly catalogue: EventCatalogue;
  readonly features: DeliveryFeatures;
  readonly report: ReportProblem;
  readonly onUnfit: (live: LiveQueue, what: EventReference, error: unknown) => void;
  readonly onSignedOut: (userId: UserId) => void;
}

/** The realms in which queues are up to date. */
export class LiveRealms {
  private readonly realms = new Map<RealmId, LiveRealm>();

  constructor(private readonly parts: LiveRealmsParts) {}

  get(realmId: RealmId): LiveRealm | undefined {
    return this.realms.get(realmId);
  }

  /**
   * Makes a queue get events as they are committed: it has read everything up to the end of its rights, and `due` is
   * what was due to it. False when that is no longer the end of what was distributed, or the realm has no projection.
   */
  join(live: LiveQueue, rights: QueueOwnerRights, snapshot: RealmSnapshot | null, due: readonly DueEvent[]): boolean {
    const { realmId } = live.queue;
    const present = this.realms.get(realmId);
    // Only where the rights are as new as what has been distributed: else an event would be lost, or come twice.
    if (this.parts.follower.lastSeqOf(realmId) !== rights.lastSeq || present?.isIdle === false) return false;
    if (!present && snapshot?.lastSeq !== rights.lastSeq) return false;
    // With so much left to acknowledge it goes on reading the log.
    if (!live.catchUp(due)) return true;
    const realm = present ?? this.add(realmId, snapshot!);
    const user = realm.users.get(live.queue.ownerId) ?? this.addUser(realm, rights);
    realm.addQueue(user, live);
    return true;
  }

  leave(live: LiveQueue): void {
    const { realmId } = live.queue;
    const realm = this.realms.get(realmId);
    realm?.removeQueue(live);
    if (realm?.users.size === 0) this.realms.delete(realmId);
  }

  /** From this event on receivers are unknown: every queue reads the log. */
  drop(realmId: RealmId, seq: EventSeq): void {
    const realm = this.realms.get(realmId);
    this.realms.delete(realmId);
    for (const user of realm?.users.values() ?? []) for (const live of user.queues) live.markLagging(seq);
  }

  private add(realmId: RealmId, snapshot: RealmSnapshot): LiveRealm {
    const { uow, catalogue, features, report, onUnfit, onSignedOut } = this.parts;
    const realm = new LiveRealm(realmId, snapshot, {
      features,
      wants: (live, type) => catalogue.wants(live.queue.presentation, type),
      lookUp: (questions, asked) =>
        uow.read((repositories) => features.findAnswers(repositories, realmId, questions, asked)),
      onUnfit,
      onBroken: ({ seq, event }, err) => {
        report('an event cannot be followed', { realmId, seq, eventType: event.type, err });
        this.drop(realmId, seq);
      },
      onLookUpFailed: (err) => report('looking up receivers failed', { realmId, err }),
      onSignedOut,
    });
    this.realms.set(realmId, realm);
    return realm;
  }

  private addUser(realm: LiveRealm, rights: QueueOwnerRights): OnlineUser {
    const user = this.parts.features.onlineUser(rights);
    realm.add(user);
    return user;
  }
}
