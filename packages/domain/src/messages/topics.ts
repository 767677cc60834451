import {
  canReadContent,
  canSpectateChannel,
  hasFullHistoryAccess,
  loadChannel,
  unknownChannel,
  type WebPublicOption,
} from '../channels/channel-access.js';
import { enterAsSpectator, type Spectator } from '../channels/spectators.js';
import type { Caller, ChannelId, MessageId, RealmId, RecipientId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { Viewer } from './message-condition.js';

export interface TopicSummary {
  /** As last spelt. */
  readonly name: string;
  readonly maxMessageId: MessageId;
}

/** What is said in channels, topic by topic. Every implementation passes topic-reads.contract.ts. */
export interface TopicReads {
  /** In the topic, or anywhere in the channel or conversation. */
  hasMessages(realmId: RealmId, recipientId: RecipientId, topicKey?: string): Promise<boolean>;
  /** Whether anything in the channel was sent to a topic that has a name. */
  hasNamedTopics(realmId: RealmId, recipientId: RecipientId): Promise<boolean>;
  /** By topic key: the newest message of each of these topics; topics without any are absent. Costs by the topics named. */
  listNewestInTopics(
    realmId: RealmId,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** The same over only those messages that are the viewer's own. */
  listNewestOwnInTopics(
    viewer: Viewer,
    recipientId: RecipientId,
    topicKeys: readonly string[],
  ): Promise<ReadonlyMap<string, MessageId>>;
  /** Everybody who has sent something to the topic; ascending. Costs by the messages of the topic. */
  listTopicSenders(realmId: RealmId, recipientId: RecipientId, topicKey: string): Promise<readonly UserId[]>;
  /** Spellings that differ only in case are one topic; newest message first. Costs by topics, not by messages. */
  listTopics(realmId: RealmId, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** The same over only those messages that are the viewer's own. */
  listOwnTopics(viewer: Viewer, recipientId: RecipientId): Promise<readonly TopicSummary[]>;
  /** How many were sent to each recipient since then; recipients without any are absent. */
  countSince(
    realmId: RealmId,
    recipientIds: readonly RecipientId[],
    since: number,
  ): Promise<ReadonlyMap<RecipientId, number>>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    topics: [reads: TopicReads, repository: TopicReads];
  }
}

/** The topics of a channel, the one with the newest message first, as far as the caller can read it (channels §5.3). */
export class ListTopics {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const { channel, isSubscribed } = await loadChannel(repositories, actor, channelId, canReadContent);
      return hasFullHistoryAccess(actor, channel, isSubscribed)
        ? repositories.topics.listTopics(actor.realmId, channel.recipientId)
        : repositories.topics.listOwnTopics(caller, channel.recipientId);
    });
  }
}

/** Those of a web-public channel, without logging in (protocol §9). */
export class SpectateTopics {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_CHANNEL */
  execute(spectator: Spectator, { channelId }: { readonly channelId: ChannelId }): Promise<readonly TopicSummary[]> {
    return this.uow.read(async (repositories) => {
      const { realm, spectators } = await enterAsSpectator(repositories, spectator, this.option);
      const channel = await repositories.channels.find(realm.id, channelId);
      enforce(channel ? canSpectateChannel(realm, channel, spectators) : unknownChannel);
      return repositories.topics.listTopics(realm.id, channel!.recipientId);
    });
  }
}
