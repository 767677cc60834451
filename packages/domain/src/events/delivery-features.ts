import type { EventSeq, RealmId, UserId } from '../shared/ids.js';
import type { Repositories } from '../shared/unit-of-work.js';
import type { AudienceOf } from './audience.js';
import type { AudienceQuestions, Audiences, FeatureAudienceKind, FeatureMembership } from './audience-membership.js';
import type { DomainEvent } from './event.js';
import type { EventQueue, QueueFilter } from './event-queue.js';
import type { LiveQueue } from './live-queue.js';
import type { EventNeeds, Receiver } from './receiver.js';

// What delivery passes around without looking into it. A feature adds what it needs by declaration merging, in its
// `<feature>-delivery.ts`.

/** What is known of a queue's owner whenever they receive an event. */
export interface QueueOwner {
  readonly userId: UserId;
}

/** What the owner of a queue may read in the log, as of one of its events. */
export interface QueueOwnerRights extends QueueOwner {
  /** Up to here they tell the truth: who leaves a channel later, leaves it as of a later event. */
  readonly lastSeq: EventSeq;
}

/** Somebody whose queues are up to date, and what audiences ask about them. Follows the log. */
export interface OnlineUser {
  readonly userId: UserId;
  readonly queues: Set<LiveQueue>;
}

/** What a live realm starts from; the log goes on from there. */
export interface RealmSnapshot {
  /** Up to here the picture holds everything. */
  readonly lastSeq: EventSeq;
}

/** What audiences ask about people that only storage knows. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface AudienceAnswers {}

/** Of whom storage is asked. */
export interface AskedUsers {
  readonly ids: readonly UserId[];
}

/** Whom an audience is put to at the moment: one object for all of them, so that asking makes none. */
export class LiveCandidate {
  /** Set before anything is asked. */
  user!: OnlineUser;

  constructor(public answers: AudienceAnswers) {}
}

/** The owner of a queue that reads the log. */
export interface ReplayedCandidate {
  readonly user: QueueOwnerRights;
  /** Of the event they are judged as of. */
  seq: EventSeq;
  answers: AudienceAnswers;
}

/**
 * What a feature keeps in mind of a realm while somebody is online: it starts from a snapshot, and follows the feature's
 * events. It costs by who is online.
 */
export interface LiveProjection {
  /** They are among those online by then. */
  add(user: OnlineUser): void;
  remove(user: OnlineUser): void;
  /** Before the event is distributed. */
  fold(event: DomainEvent): void;
}

/** Those online in audiences of kinds that tell it without looking at everybody. */
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

/** Which events queues get beside those whose audience their owners are in, and which of these they do not get. */
export interface QueueSelection {
  /** Whether a queue gets public events whoever they are for, provided its owner may read them. */
  isOpen(filter: QueueFilter): boolean;
  isPublic(event: DomainEvent): boolean;
  /** Asked each time, because it changes. */
  mayReadPublic(user: OnlineUser | QueueOwnerRights): boolean;
  /** Whether the queue's narrow leaves the event. */
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
  /** Null: the owner is none, or no longer. */
  loadRights(repositories: Repositories, queue: EventQueue): Promise<QueueOwnerRights | null>;
  loadSnapshot(repositories: Repositories, realmId: RealmId): Promise<RealmSnapshot>;
  /** A constant number of statements. */
  findAnswers(
    repositories: Repositories,
    realmId: RealmId,
    questions: AudienceQuestions,
    asked: AskedUsers,
  ): Promise<AudienceAnswers>;
  /** Null: what is asked does not concern the owner. */
  askedOwner(rights: QueueOwnerRights, questions: AudienceQuestions): AskedUsers | null;
  membershipOf(candidate: ReplayedCandidate): FeatureMembership;
  onlineUser(rights: QueueOwnerRights): OnlineUser;
  /** `users`: those online, always as they are then. */
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
