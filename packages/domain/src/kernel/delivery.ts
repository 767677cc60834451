import type { DomainError } from './errors.js';
import type { Audience, AudienceKind, AudienceOf, BaseAudienceTypes, DomainEvent } from './event.js';
import type { EventQueue, QueueFilter } from './event-queue.js';
import type {
  AudienceQuestions,
  AudienceResults,
  EventNeeds,
  LookupUsers,
  Membership,
  OnlineUser,
  QueueOwner,
  QueueOwnerRights,
  RealmSnapshot,
  Receiver,
} from './feature-types.js';
import { type EventSeq, isId, type RealmId, type UserId } from './ids.js';
import type { LiveQueue } from './live-queue.js';
import type { Repositories, UnitOfWork } from './unit-of-work.js';
import { getOrThrow } from './work.js';
import type { EventLoop } from './yielding.js';

declare module './feature-types.js' {
  interface QueueOwner {
    readonly userId: UserId;
  }
  interface QueueOwnerRights {
    /** Event up to which the rights are valid; a later unsubscription is a later event. */
    readonly lastSeq: EventSeq;
  }
  interface OnlineUser {
    readonly userId: UserId;
    readonly queues: Set<LiveQueue>;
  }
  interface RealmSnapshot {
    /** Last event included in the snapshot. */
    readonly lastSeq: EventSeq;
  }
  interface LookupUsers {
    readonly ids: readonly UserId[];
  }
  interface Membership extends BaseMembership {}
}

/** User for whom an audience is decided. One object is reused for all users to avoid allocations. */
export class LiveCandidate {
  /** Set before each decision. */
  user!: OnlineUser;

  constructor(public results: AudienceResults) {}
}

/** Owner of a queue that reads the log. */
export interface ReplayedCandidate {
  readonly user: QueueOwnerRights;
  /** Event as of which audiences are decided. */
  seq: EventSeq;
  results: AudienceResults;
}

/**
 * In-memory state of a feature for the online users of a realm, which starts from a snapshot and follows events. Its
 * size grows with the number of online users.
 */
export interface LiveProjection {
  /** Called after the user was added to the online users. */
  add(user: OnlineUser): void;
  remove(user: OnlineUser): void;
  /** Called before the event is distributed. */
  fold(event: DomainEvent): void;
}

/** Online members of an audience, for kinds that need no scan of all users. */
export type AudienceMembers<K extends FeatureAudienceKind> = {
  readonly [T in K]: (audience: AudienceOf<T>) => ReadonlySet<OnlineUser>;
};

/** Combined projections of all features. */
export interface RealmProjection extends LiveProjection {
  readonly members: Partial<AudienceMembers<FeatureAudienceKind>>;
  membershipOf(candidate: LiveCandidate): FeatureMembership;
  ownerOf(user: OnlineUser): QueueOwner;
  /** True if the questions concern an online user and need a look-up. */
  concerns(questions: AudienceQuestions): boolean;
  /** All online users. */
  lookupUsers(): LookupUsers;
}

/** Selects additional events for a queue and excludes others from it. */
export interface QueueSelection {
  /** True if a queue receives all public events that its owner may read, regardless of their audience. */
  isOpen(filter: QueueFilter): boolean;
  isPublic(event: DomainEvent): boolean;
  /** Evaluated each time, because the right may change. */
  mayReadPublic(user: OnlineUser | QueueOwnerRights): boolean;
  /** True if the event passes the queue's narrow. */
  isInNarrow(queue: EventQueue, event: DomainEvent): boolean;
}

/** Receiver with data to load before an event is presented. */
export interface ReceiverRequest {
  readonly owner: QueueOwner;
  readonly needs: EventNeeds;
  /** Seq of the event; null if it is not logged. */
  readonly seq: EventSeq | null;
}

/** User with event queues to be ended. */
export interface SignedOut {
  readonly userId: UserId;
  /** Error for waiting polls; null if clients should poll again. */
  readonly reason: DomainError | null;
}

/** Decisions and look-ups that features contribute to delivery, combined in composition/features.ts. */
export interface DeliveryFeatures extends Omit<Audiences, 'parseAudience'> {
  readonly selection: QueueSelection;
  readonly noResults: AudienceResults;
  /**
   * `isOnline` leaves out what the projection knows of online users. Returns null if the user does not exist or is
   * deactivated.
   */
  loadRights(repositories: Repositories, queue: EventQueue, isOnline: boolean): Promise<QueueOwnerRights | null>;
  loadSnapshot(repositories: Repositories, realmId: RealmId): Promise<RealmSnapshot>;
  /** Uses few statements for any number of events. */
  findAnswers(
    repositories: Repositories,
    realmId: RealmId,
    questions: AudienceQuestions,
    asked: LookupUsers,
  ): Promise<AudienceResults>;
  /** Returns null if the questions do not concern the owner. */
  askedOwner(rights: QueueOwnerRights, questions: AudienceQuestions): LookupUsers | null;
  membershipOf(candidate: ReplayedCandidate): FeatureMembership;
  /** True if the event changed the owner's rights, so that earlier audiences cannot be decided by the present ones. */
  isRightsChange(event: DomainEvent, rights: QueueOwnerRights): boolean;
  onlineUser(rights: QueueOwnerRights): OnlineUser;
  /** `users` holds the online users; the caller updates the map. */
  projectionOf(snapshot: RealmSnapshot, users: ReadonlyMap<UserId, OnlineUser>): RealmProjection;
  /** Returns the user signed out by this event and the reason, or null. */
  signedOutBy(event: DomainEvent): SignedOut | null;
  /** Returns the receiver of an event that needs no look-up. */
  receiver(owner: QueueOwner): Receiver;
  isNeeded(needs: EventNeeds, owner: QueueOwner): boolean;
  /** Loads receivers in request order, in a constant number of statements. */
  loadReceivers(
    repositories: Repositories,
    realmId: RealmId,
    requests: readonly ReceiverRequest[],
  ): Promise<readonly Receiver[]>;
}

/** State of one user as of one event, read when deciding audiences. */
export interface BaseMembership {
  isAmong(ids: readonly UserId[]): boolean;
  hasQueue(id: string): boolean;
}

/** Membership methods contributed by features. */
export type FeatureMembership = Omit<Membership, keyof BaseMembership>;

export type FeatureAudienceKind = Exclude<AudienceKind, keyof BaseAudienceTypes>;

/** Semantics of one kind of audience. */
export interface AudienceRule<A> {
  /** True if a value from the log is a valid audience of this kind. `kind` itself is already checked. */
  readonly isValid: (part: Readonly<Record<string, unknown>>) => boolean;
  readonly includes: (audience: A, member: Membership) => boolean;
  /** Required look-ups; absent if there are none. */
  readonly questions?: (audience: A) => AudienceQuestions;
}

/** One rule for each kind of audience of a feature. */
export type AudienceRules<K extends FeatureAudienceKind> = { readonly [T in K]: AudienceRule<AudienceOf<T>> };

/** Operations on audiences of every kind. */
export interface Audiences {
  readonly isInAudience: (audience: Audience, member: Membership) => boolean;
  readonly questionsOf: (audience: Audience) => AudienceQuestions;
  /** Parses an audience from the log; null if it is invalid. */
  readonly parseAudience: (value: unknown) => Audience | null;
}

const NO_QUESTIONS: AudienceQuestions = {};

/** Maximum nesting depth. Deeper audiences are rejected as damaged, because no code writes them. */
const MAX_DEPTH = 16;

export function audiencesBy(rules: AudienceRules<FeatureAudienceKind>): Audiences {
  /** Each rule takes only audiences of one kind, and every look-up uses the audience's kind as key. */
  const byKind = rules as unknown as Readonly<Record<string, AudienceRule<Audience>>>;
  /** Returns undefined for unknown kinds. */
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

/** Merges questions and removes duplicate ids. */
export function mergeQuestions(questions: readonly AudienceQuestions[]): AudienceQuestions {
  const merged: Record<string, Set<number>> = {};
  for (const each of questions) {
    for (const [name, ids] of Object.entries(each as Readonly<Record<string, readonly number[]>>)) {
      merged[name] ??= new Set();
      for (const id of ids) merged[name].add(id);
    }
  }
  return Object.fromEntries(Object.entries(merged).map(([name, ids]) => [name, [...ids]]));
}

interface Waiting extends ReceiverRequest {
  readonly resolve: (receiver: Receiver) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Loads receiver data for events. One load covers all requests of an event loop turn, and so all receivers of a commit.
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
    await this.eventLoop.yield();
    const batch = getOrThrow(this.waiting, realmId);
    this.waiting.delete(realmId);
    try {
      const receivers = await this.uow.read(realmId, (repositories) =>
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
