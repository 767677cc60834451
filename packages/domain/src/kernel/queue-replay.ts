import type { Audience } from './audience.js';
import { type Membership, mergeQuestions } from './audience-membership.js';
import type { AudienceAnswers, DeliveryFeatures, QueueOwnerRights, ReplayedCandidate } from './delivery-features.js';
import { isReadable, type LoggedEvent, type StoredEvent } from './event-log.js';
import type { EventQueue } from './event-queue.js';
import type { EventSeq } from './ids.js';
import { type DueEvent, dueEvent } from './live-queue.js';
import type { UnitOfWork } from './unit-of-work.js';

/** An event that the owner would receive cannot be read. */
export class UnreadableEventDue extends Error {
  constructor(readonly logged: Exclude<LoggedEvent, StoredEvent>) {
    super(`The event cannot be read: ${logged.reason}`);
    this.name = 'UnreadableEventDue';
  }
}

/**
 * Decides which events of the log are due to a queue that was not up to date when they came. Subscriptions are those as of the
 * event, because they protect message content; everything else is decided by present rights (architecture §4).
 */
export class LogReplay {
  private readonly candidate: ReplayedCandidate;
  private readonly member: Membership;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly features: DeliveryFeatures,
    private readonly queue: EventQueue,
    private readonly rights: QueueOwnerRights,
    private readonly wants: (event: StoredEvent['event']) => boolean,
  ) {
    this.candidate = { user: rights, seq: rights.lastSeq, answers: features.noAnswers };
    this.member = {
      ...features.membershipOf(this.candidate),
      isAmong: (ids) => ids.includes(rights.userId),
      hasQueue: (id) => id === queue.id,
    };
  }

  /** One look-up for all of the events. */
  async answersFor(page: readonly LoggedEvent[]): Promise<AudienceAnswers> {
    const { features } = this;
    const questions = mergeQuestions(
      page.flatMap(({ audience }) => (audience ? [features.questionsOf(audience)] : [])),
    );
    const asked = features.askedOwner(this.rights, questions);
    if (!asked) return features.noAnswers;
    return this.uow.read((repositories) => features.findAnswers(repositories, this.queue.realmId, questions, asked));
  }

  /** Null: the event is not due. @throws UnreadableEventDue */
  dueEvent(logged: LoggedEvent, answers: AudienceAnswers): DueEvent | null {
    if (!isReadable(logged)) {
      // The audience may be readable although the content is not.
      if (logged.audience && !this.isIn(logged.audience, logged.seq, answers)) return null;
      throw new UnreadableEventDue(logged);
    }
    const { event, seq, audience } = logged;
    if (!this.wants(event)) return null;
    const isReceiver = this.isIn(audience, seq, answers);
    if (!isReceiver && !this.isOpenTo(event)) return null;
    return this.features.selection.isInNarrow(this.queue, event) ? dueEvent(seq, !isReceiver) : null;
  }

  private isOpenTo(event: StoredEvent['event']): boolean {
    const { selection } = this.features;
    return selection.isPublic(event) && selection.isOpen(this.queue.filter) && selection.mayReadPublic(this.rights);
  }

  private isIn(audience: Audience, seq: EventSeq, answers: AudienceAnswers): boolean {
    this.candidate.seq = seq;
    this.candidate.answers = answers;
    return this.features.isInAudience(audience, this.member);
  }
}
