import {
  type DeliveryFeatures,
  type FeatureAudienceKind,
  LiveCandidate,
  mergeQuestions,
  type RealmProjection,
  type SignedOut,
} from './delivery.js';
import type { AnyEventType, Audience, EphemeralAnnouncement } from './event.js';
import type { EventCatalogue, StoredEvent } from './event-log.js';
import type {
  AudienceQuestions,
  AudienceResults,
  LookupUsers,
  Membership,
  OnlineUser,
  QueueOwner,
  QueueOwnerRights,
  RealmSnapshot,
} from './feature-types.js';
import type { EventSeq, RealmId, UnixSeconds, UserId } from './ids.js';
import { type DueEvent, dueEvent, type LiveQueue } from './live-queue.js';
import type { LogFollower } from './log-follower.js';
import type { ReportProblem } from './ports.js';
import type { UnitOfWork } from './unit-of-work.js';

export interface RealmFanOutParts {
  readonly features: DeliveryFeatures;
  /** True if the queue's client wants events of this type. */
  readonly wants: (queue: LiveQueue, type: AnyEventType) => boolean;
  /** Answers all questions in one look-up. */
  readonly lookUp: (questions: AudienceQuestions, asked: LookupUsers) => Promise<AudienceResults>;
  /** Called if an event cannot be decided for this queue. */
  readonly onUnfit: (queue: LiveQueue, what: EventReference, error: unknown) => void;
  /** Called if the projection of the realm is invalid from this event on. */
  readonly onBroken: (stored: StoredEvent, error: unknown) => void;
  /** Called if a look-up fails and the affected queues read the log instead. */
  readonly onLookUpFailed: (error: unknown) => void;
  readonly onSignedOut: (signedOut: SignedOut) => void;
}

/** Event as identified in reports. */
export interface EventReference {
  readonly type: string;
  /** Null if the event is not logged. */
  readonly seq: EventSeq | null;
}

type Announced =
  | { readonly stored: StoredEvent; readonly ephemeral?: never }
  | { readonly ephemeral: EphemeralAnnouncement; readonly at: UnixSeconds; readonly stored?: never };

/**
 * Distributes the events of one realm to its caught-up queues, which are indexed by owner and subscription. The cost
 * depends on the number of online users, not on channel size. Features maintain its projection from the log.
 */
export class RealmFanOut {
  readonly users = new Map<UserId, OnlineUser>();
  /** Last event that reached the queues. */
  lastSeq: EventSeq;
  /** Queues that receive public events regardless of their audience. */
  private readonly openQueues = new Map<LiveQueue, OnlineUser>();
  private readonly projection: RealmProjection;
  private readonly candidate: LiveCandidate;
  private readonly member: Membership;
  /** Events that arrived during a look-up and will be distributed together after it. */
  private waiting: Announced[] = [];
  private lookingUp: Promise<void> | null = null;
  private isOver = false;

  constructor(
    readonly realmId: RealmId,
    snapshot: RealmSnapshot,
    private readonly parts: RealmFanOutParts,
  ) {
    this.lastSeq = snapshot.lastSeq;
    this.projection = parts.features.projectionOf(snapshot, this.users);
    const candidate = new LiveCandidate(parts.features.noResults);
    this.candidate = candidate;
    this.member = {
      ...this.projection.membershipOf(candidate),
      isAmong: (ids) => ids.includes(candidate.user.userId),
      hasQueue: (id) => [...candidate.user.queues].some((live) => live.queue.id === id),
    };
  }

  /** True if every accepted event has reached its queues. */
  get isIdle(): boolean {
    return this.lookingUp === null;
  }

  settled(): Promise<void> {
    return this.lookingUp ?? Promise.resolve();
  }

  ownerOf(user: OnlineUser): QueueOwner {
    return this.projection.ownerOf(user);
  }

  add(user: OnlineUser): void {
    this.users.set(user.userId, user);
    this.projection.add(user);
  }

  addQueue(user: OnlineUser, live: LiveQueue): void {
    user.queues.add(live);
    if (this.parts.features.selection.isOpen(live.queue.filter)) this.openQueues.set(live, user);
  }

  removeQueue(live: LiveQueue): void {
    this.openQueues.delete(live);
    const user = this.users.get(live.queue.ownerId);
    if (!user?.queues.delete(live) || user.queues.size > 0) return;
    this.users.delete(user.userId);
    this.projection.remove(user);
  }

  take(stored: StoredEvent): void {
    this.takeInOrder({ stored });
  }

  takeEphemeral(ephemeral: EphemeralAnnouncement, at: UnixSeconds): void {
    this.takeInOrder({ ephemeral, at });
  }

  private takeInOrder(announced: Announced): void {
    if (this.lookingUp || this.asks(announced)) {
      this.waiting.push(announced);
      this.lookingUp ??= this.lookUpWaiting();
      return;
    }
    this.process(announced, this.parts.features.noResults);
  }

  /**
   * Makes every queue read the log, beginning with this event or an earlier one that has not reached the queues yet.
   */
  end(seq: EventSeq): void {
    this.isOver = true;
    const first = Math.min(seq, this.lastSeq + 1) as EventSeq;
    for (const user of this.users.values()) for (const live of user.queues) live.fallBehind(first);
  }

  /** Looks up waiting events together, so that an event waits for at most two look-ups. */
  private async lookUpWaiting(): Promise<void> {
    // Batches all events of one commit.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      const results = await this.lookUp(batch).catch((error: unknown) => {
        this.parts.onLookUpFailed(error);
        return null;
      });
      for (const announced of batch) this.process(announced, results);
    }
    this.lookingUp = null;
  }

  private async lookUp(batch: readonly Announced[]): Promise<AudienceResults> {
    const { features, lookUp } = this.parts;
    const questions = mergeQuestions(batch.map((announced) => features.questionsOf(audienceOf(announced))));
    if (!this.projection.concerns(questions)) return features.noResults;
    return lookUp(questions, this.projection.lookupUsers());
  }

  private asks(announced: Announced): boolean {
    return this.users.size > 0 && this.projection.concerns(this.parts.features.questionsOf(audienceOf(announced)));
  }

  /** `results` is null if the look-up failed. */
  private process(announced: Announced, results: AudienceResults | null): void {
    if (this.isOver) return;
    if (announced.stored) this.processStored(announced.stored, results);
    else if (results) this.distributeEphemeral(announced.ephemeral, announced.at, results);
  }

  private processStored(stored: StoredEvent, results: AudienceResults | null): void {
    const { event, seq } = stored;
    try {
      this.projection.fold(event);
      if (results) this.distribute(stored, results);
      else this.loseEvent(seq);
    } catch (error) {
      this.parts.onBroken(stored, error);
    }
    this.lastSeq = seq;
    const signedOut = this.parts.features.signedOutBy(event);
    if (signedOut !== null) this.parts.onSignedOut(signedOut);
  }

  /** Makes every queue read the log, because the receivers of this event are unknown. */
  private loseEvent(seq: EventSeq): void {
    for (const user of this.users.values()) for (const live of user.queues) live.fallBehind(seq);
  }

  private distribute(stored: StoredEvent, results: AudienceResults): void {
    const { event, audience, seq } = stored;
    const receivers = this.resolve(audience, results);
    for (const user of receivers) {
      for (const live of user.queues) {
        if (isForQueue(audience, live) && this.isDue(live, stored)) live.push(dueEvent(seq, false));
      }
    }
    const { selection } = this.parts.features;
    if (!selection.isPublic(event)) return;
    for (const [live, user] of this.openQueues) {
      if (receivers.has(user) || !selection.mayReadPublic(user)) continue;
      if (this.isDue(live, stored)) live.push(dueEvent(seq, true));
    }
  }

  private isDue(live: LiveQueue, { event, seq }: StoredEvent): boolean {
    const { wants, features } = this.parts;
    return this.judge(
      live,
      { type: event.type, seq },
      () => wants(live, event.type) && features.selection.isInNarrow(live.queue, event),
    );
  }

  private distributeEphemeral(
    { event, audience }: EphemeralAnnouncement,
    at: UnixSeconds,
    results: AudienceResults,
  ): void {
    for (const user of this.resolve(audience, results)) {
      for (const live of user.queues) {
        const isWanted = () => isForQueue(audience, live) && this.parts.wants(live, event.type);
        if (this.judge(live, { type: event.type, seq: null }, isWanted)) live.pushEphemeral({ event, at });
      }
    }
  }

  private judge(live: LiveQueue, what: EventReference, test: () => boolean): boolean {
    try {
      return test();
    } catch (error) {
      this.parts.onUnfit(live, what, error);
      return false;
    }
  }

  /** Returns the online users of an audience; common kinds need no scan of all online users. */
  private resolve(audience: Audience, results: AudienceResults): ReadonlySet<OnlineUser> {
    switch (audience.kind) {
      case 'nobody':
        return NOBODY;
      case 'realm':
        return new Set(this.users.values());
      case 'users':
        return new Set(audience.ids.flatMap((id) => this.users.get(id) ?? []));
      case 'anyOf': {
        const union = new Set<OnlineUser>();
        for (const part of audience.of) for (const user of this.resolve(part, results)) union.add(user);
        return union;
      }
      case 'allOf': {
        const [first, ...rest] = audience.of;
        if (!first) return new Set(this.users.values());
        return this.filter(this.resolve(first, results), (user) =>
          rest.every((part) => this.isIn(user, part, results)),
        );
      }
      case 'except':
        return this.filter(this.resolve(audience.from, results), (user) => !this.isIn(user, audience.without, results));
      default: {
        const members = this.projection.members[audience.kind as FeatureAudienceKind] as MembersOf | undefined;
        return members?.(audience) ?? this.filter(this.users.values(), (user) => this.isIn(user, audience, results));
      }
    }
  }

  private filter(users: Iterable<OnlineUser>, test: (user: OnlineUser) => boolean): ReadonlySet<OnlineUser> {
    const kept = new Set<OnlineUser>();
    for (const user of users) if (test(user)) kept.add(user);
    return kept;
  }

  private isIn(user: OnlineUser, audience: Audience, results: AudienceResults): boolean {
    this.candidate.user = user;
    this.candidate.results = results;
    return this.parts.features.isInAudience(audience, this.member);
  }
}

type MembersOf = (audience: Audience) => ReadonlySet<OnlineUser>;

const NOBODY: ReadonlySet<OnlineUser> = new Set();

const audienceOf = ({ stored, ephemeral }: Announced): Audience => (stored ?? ephemeral).audience;

/** False if the event is addressed to a different queue of the same owner. */
const isForQueue = (audience: Audience, live: LiveQueue): boolean =>
  audience.kind !== 'queue' || audience.id === live.queue.id;

export interface RealmFanOutsParts {
  readonly uow: UnitOfWork;
  readonly follower: LogFollower;
  readonly catalogue: EventCatalogue;
  readonly features: DeliveryFeatures;
  readonly report: ReportProblem;
  readonly onUnfit: (live: LiveQueue, what: EventReference, error: unknown) => void;
  readonly onSignedOut: (signedOut: SignedOut) => void;
}

/** Fan-outs of the realms with caught-up queues. */
export class RealmFanOuts {
  private readonly realms = new Map<RealmId, RealmFanOut>();

  constructor(private readonly parts: RealmFanOutsParts) {}

  get(realmId: RealmId): RealmFanOut | undefined {
    return this.realms.get(realmId);
  }

  /**
   * Adds a queue that has read everything its rights cover; `due` holds its due events. Returns false if newer events
   * were distributed or the realm has no projection.
   */
  join(live: LiveQueue, rights: QueueOwnerRights, snapshot: RealmSnapshot | null, due: readonly DueEvent[]): boolean {
    const { realmId } = live.queue;
    const present = this.realms.get(realmId);
    // Joins only if the rights include the latest distributed event; otherwise an event would be lost or duplicated.
    if (this.parts.follower.lastSeqOf(realmId) !== rights.lastSeq || present?.isIdle === false) return false;
    if (!present && snapshot?.lastSeq !== rights.lastSeq) return false;
    // A queue with too many unacknowledged events continues to read the log.
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

  /** Makes every queue of the realm read the log, beginning with this event, because its receivers are unknown. */
  drop(realmId: RealmId, seq: EventSeq): void {
    this.realms.get(realmId)?.end(seq);
    this.realms.delete(realmId);
  }

  private add(realmId: RealmId, snapshot: RealmSnapshot): RealmFanOut {
    const { uow, catalogue, features, report, onUnfit, onSignedOut } = this.parts;
    const realm = new RealmFanOut(realmId, snapshot, {
      features,
      wants: (live, type) => catalogue.wants(live.queue.presentation, type),
      lookUp: (questions, asked) =>
        uow.read(realmId, (repositories) => features.findAnswers(repositories, realmId, questions, asked)),
      onUnfit,
      onBroken: ({ seq, event }, err) => {
        report('an event cannot be applied to the state of its realm', { realmId, seq, eventType: event.type, err });
        this.drop(realmId, seq);
      },
      onLookUpFailed: (err) => report('looking up recipients failed', { realmId, err }),
      onSignedOut,
    });
    this.realms.set(realmId, realm);
    return realm;
  }

  private addUser(realm: RealmFanOut, rights: QueueOwnerRights): OnlineUser {
    const user = this.parts.features.onlineUser(rights);
    realm.add(user);
    return user;
  }
}
