import {
  canReadContent,
  canSpectateChannel,
  hasFullHistoryAccess,
  loadChannel,
  unknownChannel,
  unknownUnless,
  type WebPublicOption,
} from '../channels/channel-access.js';
import { reading } from '../channels/read-contexts.js';
import { sharedViewOf } from '../channels/shared-view.js';
import { readAsSpectator, type Spectator } from '../channels/spectators.js';
import type { Caller, ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Viewer } from './message-condition.js';

export interface TopicSummary {
  /** Most recent spelling. */
  readonly name: string;
  readonly maxMessageId: MessageId;
}

/** Reads channel messages by topic. Every implementation passes topic-reads.contract.ts. */
export interface TopicReads {
  /** Returns true if a topic or, without `topicKey`, the whole channel or conversation has messages. */
  hasMessages(realmId: RealmId, recipientId: RecipientId, topicKey?: string): Promise<boolean>;
  /** True if any message in the channel has a nonempty topic. */
  hasNamedTopics(realmId: RealmId, recipientId: RecipientId): Promise<boolean>;
  /**
   * Returns the newest message of each topic, keyed by topic key. Topics without messages are absent. The cost depends
   * on the number of given topics.
   */
  listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** Works like `listNewestInTopics`, but considers only the viewer's own messages. */
  listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** Returns all senders in the topic, ascending. The cost depends on the number of messages in the topic. */
  listTopicSenders(realmId: RealmId, recipientId: RecipientId, topicKey: string): Promise<readonly UserId[]>;
  /**
   * Returns topics, most recent first; spellings that differ only in case are one topic. The cost depends on the number
   * of topics, not messages.
   */
  listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** Works like `listTopics`, but considers only the viewer's own messages. */
  listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** Returns the number of messages per recipient since that time; recipients without messages are absent. */
  countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: UnixSeconds,
  ): Promise<ReadonlyMap<RecipientId, number>>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    topics: [reads: TopicReads, repository: TopicReads];
  }
}

/** Lists the topics of a channel that the caller can read, most recent first (channels §5.3). */
export class ListTopics {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    const read = async (repositories: Repositories): Promise<readonly TopicSummary[]> => {
      const shared = await sharedViewOf(repositories, caller);
      if (shared) {
        const channel = shared.channels.get(channelId);
        enforce(unknownUnless(channel !== undefined));
        return repositories.topics.listTopics(caller.realmId, channel!.recipientId);
      }
      const actor = await repositories.actors.get(caller);
      const { channel, isSubscribed } = await loadChannel(repositories, actor, channelId, canReadContent);
      return hasFullHistoryAccess(actor, channel, isSubscribed)
        ? repositories.topics.listTopics(actor.realmId, channel.recipientId)
        : repositories.topics.listOwnTopics(caller, channel.recipientId);
    };
    return reading(this.uow, caller, () => this.uow.read(caller.realmId, read), { channelIds: [channelId] });
  }
}

/** Lists the topics of a web-public channel for anonymous callers (protocol §9). */
export class SpectateTopics {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_CHANNEL */
  execute(spectator: Spectator, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    return readAsSpectator(this.uow, spectator, this.option, async (repositories, { realm, spectators }) => {
      const channel = await repositories.channels.find(realm.id, channelId);
      enforce(channel ? canSpectateChannel(realm, channel, spectators) : unknownChannel);
      return repositories.topics.listTopics(realm.id, channel!.recipientId);
    });
  }
}
