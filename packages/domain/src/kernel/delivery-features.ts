import type { AudienceOf } from './audience.js';
import type { AudienceQuestions, Audiences, FeatureAudienceKind, FeatureMembership } from './audience-membership.js';
import type { DomainEvent } from './event.js';
import type { EventQueue, QueueFilter } from './event-queue.js';
import type { EventSeq, RealmId, UserId } from './ids.js';
import type { LiveQueue } from './live-queue.js';
import type { EventNeeds, Receiver } from './receiver.js';
import type { Repositories } from './unit-of-work.js';

// Types that delivery passes on without reading them. A feature adds what it needs by declaration merging, in its
// `<feature>-delivery.ts`.

/** What is known of a queue's owner whenever they receive an event. */
export interface QueueOwner {
  readonly userId: UserId;
}

/** What the owner of a queue may read in the log, as of one of its events. */
export interface QueueOwnerRights extends QueueOwner {
  /** The rights are valid up to this event: leaving a channel later is a later event. */
  readonly lastSeq: EventSeq;
}

/** A user whose queues are up to date, with what audiences read of them. Kept up to date from the log. */
export interface OnlineUser {
  readonly userId: UserId;
  readonly queues: Set<LiveQueue>;
}

/** What a live realm starts from; the log goes on from there. */
export interface RealmSnapshot {
  /** The snapshot includes every event up to it. */
  readonly lastSeq: EventSeq;
}

/** Answers of storage that audiences need. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface AudienceAnswers {}

/** Of whom storage is asked. */
export interface AskedUsers {
  readonly ids: readonly UserId[];
}

/** The user for whom an audience is decided: one object is reused for all of them, so that deciding allocates nothing. */
export class LiveCandidate {
  /** Set before anything is asked. */
  user!: OnlineUser;

  constructor(public answers: AudienceAnswers) {}
}

/** The owner of a queue that reads the log. */
export interface ReplayedCandidate {
  readonly user: QueueOwnerRights;
  /** Of the event as of which they are decided. */
  seq: EventSeq;
  answers: AudienceAnswers;
}

/**
 * What a feature keeps in memory of a realm while users are online: it starts from a snapshot, and follows the feature's
 * events. Its size grows with the users online.
 */
export interface LiveProjection {
  /** Called when they are among those online already. */
  add(user: OnlineUser): void;
  remove(user: OnlineUser): void;
  /** Before the event is distributed. */
  fold(event: DomainEvent): void;
}

/** Those online in an audience, for kinds whose members are known without looking at every user. */
export type AudienceMembers<K extends FeatureAudienceKind> = {
  readonly [T in K]: (audience: AudienceOf<T>) => ReadonlySet<OnlineUser>;
};

/** The projections of all features. */
export interface RealmProjection extends LiveProjection {
  readonly members: Partial<AudienceMembers<FeatureAudienceKind>>;
  membershipOf(candidate: LiveCandidate): FeatureMembership;
  ownerOf(user: OnlineUser): QueueOwner;
  /** Whether anybody online is concerned, so that it has to be looked up. */
  concerns(questions: AudienceQuestions): boolean;
  /** Everybody online. */
  askedUsers(): AskedUsers;
}

/** Which events a queue gets beside those whose audience its owner is in, and which of these it does not get. */
export interface QueueSelection {
  /** Whether a queue gets public events whoever they are for, provided its owner may read them. */
  isOpen(filter: QueueFilter): boolean;
  isPublic(event: DomainEvent): boolean;
  /** Asked each time, because it changes. */
  mayReadPublic(user: OnlineUser | QueueOwnerRights): boolean;
  /** Whether the event passes the queue's narrow. */
  isInNarrow(queue: EventQueue, event: DomainEvent): boolean;
}

/** A receiver of whom something has to be looked up before an event is presented to them. */
export interface ReceiverRequest {
  readonly owner: QueueOwner;
  readonly needs: EventNeeds;
  /** Of the event; null: it is not logged. */
  readonly seq: EventSeq | null;
}

/** What delivery has features decide and look up; put together from all of them in composition/delivery-features.ts. */
export interface DeliveryFeatures extends Omit<Audiences, 'parseAudience'> {
  readonly selection: QueueSelection;
  readonly noAnswers: AudienceAnswers;
  /** Null: there is no such user, or they are deactivated. */
  loadRights(repositories: Repositories, queue: EventQueue): Promise<QueueOwnerRights | null>;
  loadSnapshot(repositories: Repositories, realmId: RealmId): Promise<RealmSnapshot>;
  /** A constant number of statements. */
  findAnswers(
    repositories: Repositories,
    realmId: RealmId,
    questions: AudienceQuestions,
    asked: AskedUsers,
  ): Promise<AudienceAnswers>;
  /** Null: the questions do not concern the owner. */
  askedOwner(rights: QueueOwnerRights, questions: AudienceQuestions): AskedUsers | null;
  membershipOf(candidate: ReplayedCandidate): FeatureMembership;
  onlineUser(rights: QueueOwnerRights): OnlineUser;
  /** `users`: those online; the caller keeps the map up to date. */
  projectionOf(snapshot: RealmSnapshot, users: ReadonlyMap<UserId, OnlineUser>): RealmProjection;
  /** Whose queues end with this event; null: nobody's. */
  signedOutBy(event: DomainEvent): UserId | null;
  /** Of an event for which nothing has to be looked up. */
  receiver(owner: QueueOwner): Receiver;
  isNeeded(needs: EventNeeds, owner: QueueOwner): boolean;
  /** In the order they were asked for. A constant number of statements. */
  loadReceivers(
    repositories: Repositories,
    realmId: RealmId,
    requests: readonly ReceiverRequest[],
  ): Promise<readonly Receiver[]>;
}
