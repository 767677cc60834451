import type { Audience, AudienceKind, AudienceOf, BaseAudienceTypes, DomainEvent } from './event.js';
import type { EventNeeds, Receiver } from './event-log.js';
import type { EventQueue, QueueFilter } from './event-queue.js';
import { type EventSeq, isId, type RealmId, type UserId } from './ids.js';
import type { LiveQueue } from './live-queue.js';
import type { EventLoop } from './ports.js';
import type { Repositories, UnitOfWork } from './unit-of-work.js';

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

/** What deciding an audience reads: one user, as of one event. */
export interface BaseMembership {
  isAmong(ids: readonly UserId[]): boolean;
  hasQueue(id: string): boolean;
}

/** A feature adds what its kinds of audience ask, by declaration merging: methods only. */
export interface Membership extends BaseMembership {}

/** What features know of a user, for audiences. */
export type FeatureMembership = Omit<Membership, keyof BaseMembership>;

/** What audiences ask about that has to be looked up: lists of ids, each id once. A feature adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface AudienceQuestions {}

export type FeatureAudienceKind = Exclude<AudienceKind, keyof BaseAudienceTypes>;

/** What a kind of audience means. */
export interface AudienceRule<A> {
  /** Whether a value read from the log is an audience of this kind; `kind` itself is checked already. */
  readonly isValid: (part: Readonly<Record<string, unknown>>) => boolean;
  readonly includes: (audience: A, member: Membership) => boolean;
  /** What has to be looked up before; absent: nothing. */
  readonly questions?: (audience: A) => AudienceQuestions;
}

/** One for each of a feature's kinds of audience. */
export type AudienceRules<K extends FeatureAudienceKind> = { readonly [T in K]: AudienceRule<AudienceOf<T>> };

/** What can be done with audiences of every kind. */
export interface Audiences {
  readonly isInAudience: (audience: Audience, member: Membership) => boolean;
  readonly questionsOf: (audience: Audience) => AudienceQuestions;
  /** An audience as the log keeps it. Null: it is none. */
  readonly parseAudience: (value: unknown) => Audience | null;
}

const NO_QUESTIONS: AudienceQuestions = {};

/** No writer nests audiences as deep as this; deeper ones are refused as damaged. */
const MAX_DEPTH = 16;

export function audiencesBy(rules: AudienceRules<FeatureAudienceKind>): Audiences {
  /** A rule takes audiences of its own kind only: whoever looks one up by an audience's kind gives it that audience. */
  const byKind = rules as unknown as Readonly<Record<string, AudienceRule<Audience>>>;
  /** Undefined for the kinds of no feature. */
  const ruleOf = (kind: unknown) =>
    typeof kind === 'string' && Object.hasOwn(byKind, kind) ? byKind[kind] : undefined;

  function isInAudience(audience: Audience, member: Membership): boolean {
    switch (audience.kind) {
      case 'nobody':
        return false;
      case 'realm':
        return true;
      case 'users':
        return member.isAmong(audience.ids);
      case 'queue':
        return member.hasQueue(audience.id);
      case 'anyOf':
        return audience.of.some((part) => isInAudience(part, member));
      case 'allOf':
        return audience.of.every((part) => isInAudience(part, member));
      case 'except':
        return isInAudience(audience.from, member) && !isInAudience(audience.without, member);
      default:
        return byKind[audience.kind]!.includes(audience, member);
    }
  }

  function questionsOf(audience: Audience): AudienceQuestions {
    switch (audience.kind) {
      case 'anyOf':
      case 'allOf':
        return mergeQuestions(audience.of.map(questionsOf));
      case 'except':
        return mergeQuestions([questionsOf(audience.from), questionsOf(audience.without)]);
      default:
        return ruleOf(audience.kind)?.questions?.(audience) ?? NO_QUESTIONS;
    }
  }

  function isAudience(value: unknown, depth: number): value is Audience {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
    const part = value as Readonly<Record<string, unknown>>;
    const areAudiences = (parts: unknown) => Array.isArray(parts) && parts.every((each) => isAudience(each, depth + 1));
    switch (part.kind) {
      case 'nobody':
      case 'realm':
        return true;
      case 'users':
        return Array.isArray(part.ids) && part.ids.every(isId);
      case 'queue':
        return typeof part.id === 'string';
      case 'anyOf':
      case 'allOf':
        return areAudiences(part.of);
      case 'except':
        return areAudiences([part.from, part.without]);
      default:
        return ruleOf(part.kind)?.isValid(part) ?? false;
    }
  }

  return { isInAudience, questionsOf, parseAudience: (value) => (isAudience(value, 0) ? value : null) };
}

/** Each id once. */
export function mergeQuestions(questions: readonly AudienceQuestions[]): AudienceQuestions {
  const asked = questions.filter((each) => each !== NO_QUESTIONS);
  if (asked.length < 2) return asked[0] ?? NO_QUESTIONS;
  const merged: Record<string, ReadonlySet<number>> = {};
  for (const each of asked) {
    for (const [name, ids] of Object.entries(each as Readonly<Record<string, readonly number[]>>)) {
      merged[name] = new Set([...(merged[name] ?? []), ...ids]);
    }
  }
  return Object.fromEntries(Object.entries(merged).map(([name, ids]) => [name, [...ids]]));
}

interface Waiting extends ReceiverRequest {
  readonly resolve: (receiver: Receiver) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up what events depend on of those who receive them: once for all receivers of the same turn of the event loop, which is
 * to say for everybody whom a commit concerns.
 */
export class ReceiverLoader {
  private readonly waiting = new Map<RealmId, Waiting[]>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly eventLoop: EventLoop,
    private readonly features: Pick<DeliveryFeatures, 'loadReceivers'>,
  ) {}

  load(realmId: RealmId, request: ReceiverRequest): Promise<Receiver> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(realmId);
      if (waiting) waiting.push({ ...request, resolve, reject });
      else {
        this.waiting.set(realmId, [{ ...request, resolve, reject }]);
        this.run(realmId).catch(reject);
      }
    });
  }

  private async run(realmId: RealmId): Promise<void> {
    await this.eventLoop.nextTurn();
    const batch = this.waiting.get(realmId)!;
    this.waiting.delete(realmId);
    try {
      const receivers = await this.uow.read((repositories) =>
        this.features.loadReceivers(repositories, realmId, batch),
      );
      batch.forEach(({ resolve }, index) => {
        resolve(receivers[index]!);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
