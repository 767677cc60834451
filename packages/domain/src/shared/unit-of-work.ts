import type { ApiKeyReads, ApiKeyRepository } from '../authentication/api-keys.js';
import type { ChannelReads, ChannelRepository } from '../channels/channel-repository.js';
import type { TopicPolicyReads, TopicPolicyRepository } from '../channels/topic-policy.js';
import type { EventLog, EventReads } from '../events/event-log.js';
import type { EventQueueReads, EventQueueRepository } from '../events/event-queue.js';
import type { GroupReads, GroupRepository } from '../groups/group-repository.js';
import type { JobReads, JobRepository } from '../jobs/job-repository.js';
import type { MessageMoves } from '../messages/message-moves.js';
import type { MessagePageReads } from '../messages/message-page-reads.js';
import type { MessageReads, MessageRepository } from '../messages/message-repository.js';
import type { PersonalMessageReads, PersonalMessages } from '../messages/personal-messages.js';
import type { RecipientReads, RecipientRepository } from '../messages/recipient.js';
import type { TopicReads } from '../messages/topic-reads.js';
import type { RealmReads, RealmRepository } from '../realms/realm-repository.js';
import type { ActorReads } from '../users/actor.js';
import type { UserReads, UserRepository } from '../users/user-repository.js';

/** Everything a unit can read. */
export interface Repositories {
  readonly realms: RealmReads;
  readonly users: UserReads;
  readonly actors: ActorReads;
  readonly groups: GroupReads;
  readonly channels: ChannelReads;
  readonly topicPolicies: TopicPolicyReads;
  readonly recipients: RecipientReads;
  readonly messages: MessageReads;
  readonly pages: MessagePageReads;
  readonly topics: TopicReads;
  readonly personal: PersonalMessageReads;
  readonly events: EventReads;
  readonly queues: EventQueueReads;
  readonly apiKeys: ApiKeyReads;
  readonly jobs: JobReads;
  /**
   * Lets the event loop turn when the unit has held it for long; reads go on meanwhile, writes wait for a write. Whoever
   * works through a list that may be long calls it at each step: most calls cost nothing.
   */
  yield(): Promise<void>;
}

/** Everything a unit can read and change. */
export interface Transaction {
  readonly realms: RealmRepository;
  readonly users: UserRepository;
  readonly actors: ActorReads;
  readonly groups: GroupRepository;
  readonly channels: ChannelRepository;
  readonly topicPolicies: TopicPolicyRepository;
  readonly recipients: RecipientRepository;
  readonly messages: MessageRepository;
  readonly pages: MessagePageReads;
  readonly topics: TopicReads;
  readonly moves: MessageMoves;
  readonly personal: PersonalMessages;
  readonly events: EventLog;
  readonly queues: EventQueueRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly jobs: JobRepository;
  /** As in reads. */
  yield(): Promise<void>;
}

/**
 * The only way to storage. A unit awaits nothing but its repositories and their `yield`, one call after the other: hashing,
 * files and network come before or after it. Every implementation passes unit-of-work.contract.ts.
 */
export interface UnitOfWork {
  /** One consistent snapshot; nothing can be written. @throws DomainError STORAGE_UNAVAILABLE */
  read<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
  /**
   * All or nothing; resolves once the commit is durable. `work` may run again after a serialization failure, so it
   * touches nothing but `tx`; for what is counted in memory see `writeProvisionally`. A `write` inside a unit waits for itself. @throws DomainError SERVER_BUSY,
   * STORAGE_UNAVAILABLE
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}
