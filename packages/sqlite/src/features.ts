import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { SqliteConfirmationRepository } from './access/confirmations.js';
import { ChannelCache } from './channels/channel-cache.js';
import { SqliteChannelAddressRepository, SqliteChannelFolderRepository } from './channels/channel-folders.js';
import { SqliteChannelRepository } from './channels/channels.js';
import { SqliteDefaultChannelGroupRepository } from './channels/default-channels.js';
import { SqliteTopicPolicyRepository } from './channels/topic-policies.js';
import type { Connection } from './engine/connection.js';
import { type Migration, migrationsOf } from './engine/migration.js';
import { Quarantine } from './engine/quarantine.js';
import { SQL_TEXTS } from './engine/sql-texts.js';
import type { WritableRepositories } from './engine/unit-runner.js';
import { SqliteCopyRepository } from './exports/copies.js';
import { SqliteExportRepository } from './exports/exports.js';
import { SqliteCustomEmojiRepository } from './files/custom-emoji.js';
import { SqliteFileRepository, SqliteUnfinishedUploadRepository } from './files/files.js';
import { SqlitePictureRepository } from './files/pictures.js';
import { newGroupViewsCache, newSystemGroupCache, SqliteGroupRepository } from './groups/groups.js';
import { SqliteEventConsumerRepository, SqliteEventLog, SqliteEventQueueRepository } from './kernel/events.js';
import { SqliteJobRepository } from './kernel/jobs.js';
import { SqliteBotRepository, SqliteBotStorageRepository } from './membership/bots.js';
import { SqliteExternalIdRepository } from './membership/host-users.js';
import { SqliteInvitationRepository } from './membership/invitations.js';
import { SqliteDraftRepository } from './messages/drafts.js';
import { SqliteMessageArchive } from './messages/message-archive.js';
import { MessageEditPartReads, SqliteMessageEditRepository, SqliteMessageMoves } from './messages/message-edits.js';
import { SqliteMessageRepository } from './messages/messages.js';
import { SqliteNavigationViewRepository } from './messages/navigation-views.js';
import { SqliteMessagePageReads } from './messages/page-reads.js';
import { SqlitePersonalMessages } from './messages/personal-messages.js';
import { ReactionPartReads, SqliteReactionRepository } from './messages/reactions.js';
import { SqliteRecipientRepository } from './messages/recipients.js';
import { SqliteReminderRepository, SqliteScheduledMessageRepository } from './messages/scheduling.js';
import { SqliteSearchIndex } from './messages/search.js';
import { SqliteSnippetRepository } from './messages/snippets.js';
import { SqliteTopicReads } from './messages/topics.js';
import { SqliteDeviceRepository, SqlitePushTokenRepository } from './push/push.js';
import { SqliteRealmData } from './realms/realm-data.js';
import {
  LinkifierReads,
  SqliteAllowedDomainRepository,
  SqliteLinkifierRepository,
  SqlitePlaygroundRepository,
} from './realms/realm-lists.js';
import { newRealmCache, SqliteRealmRepository } from './realms/realms.js';
import { newActorCache, SqliteActorReads } from './users/actors.js';
import { SqliteAlertWordRepository } from './users/alert-words.js';
import { SqliteApiKeyRepository, SqliteSessionRepository } from './users/credentials.js';
import { SqliteOnboardingRepository } from './users/onboarding.js';
import { SqlitePresenceRepository } from './users/presence.js';
import { SqliteProfileRepository } from './users/profiles.js';
import { SqliteStatusRepository } from './users/statuses.js';
import { newUserCache, SqliteUserRepository } from './users/users.js';

/** Features with tables, in the order in which the baseline creates them. */
const FEATURES = [
  'realms',
  'users',
  'groups',
  'channels',
  'messages',
  'reactions',
  'bots',
  'push',
  'presence',
  'statuses',
  'scheduling',
  'drafts',
  'snippets',
  'navigation-views',
  'onboarding',
  'alert-words',
  'events',
  'files',
  'pictures',
  'custom-emoji',
  'authentication',
  'jobs',
  'invitations',
  'host-users',
  'confirmations',
  'exports',
];

/** Steps that make the schema, in order. The schema's version is the number of steps that have run. */
export const MIGRATIONS: readonly Migration[] = migrationsOf(FEATURES, SQL_TEXTS);

/** Creates the repositories of a connection; their caches are shared by all connections. */
export function repositoryFactory(
  clock: Clock,
  report: (problem: string) => void,
  words: SearchWords,
): (connection: Connection) => WritableRepositories {
  const realmCache = newRealmCache();
  const userCache = newUserCache();
  const actorCache = newActorCache();
  const systemGroupCache = newSystemGroupCache();
  const groupViewsCache = newGroupViewsCache();
  const channelCache = new ChannelCache();
  const quarantine = new Quarantine(report);
  return (connection) => {
    const groups = new SqliteGroupRepository(connection, systemGroupCache, groupViewsCache, quarantine);
    const topics = new SqliteTopicReads(connection);
    return {
      realms: new SqliteRealmRepository(
        connection,
        realmCache,
        groups,
        new LinkifierReads(connection, quarantine),
        quarantine,
      ),
      realmData: new SqliteRealmData(connection),
      copies: new SqliteCopyRepository(connection, words),
      exports: new SqliteExportRepository(connection),
      allowedDomains: new SqliteAllowedDomainRepository(connection),
      linkifiers: new SqliteLinkifierRepository(connection),
      playgrounds: new SqlitePlaygroundRepository(connection),
      users: new SqliteUserRepository(connection, userCache, quarantine),
      actors: new SqliteActorReads(connection, actorCache, quarantine),
      groups,
      channels: new SqliteChannelRepository(connection, channelCache, clock, groups, topics, quarantine),
      channelAddresses: new SqliteChannelAddressRepository(connection),
      channelFolders: new SqliteChannelFolderRepository(connection),
      defaultChannelGroups: new SqliteDefaultChannelGroupRepository(connection),
      topicPolicies: new SqliteTopicPolicyRepository(connection),
      recipients: new SqliteRecipientRepository(connection),
      messages: new SqliteMessageRepository(connection, quarantine, words),
      pages: new SqliteMessagePageReads(connection, quarantine, [
        new ReactionPartReads(connection),
        new MessageEditPartReads(connection),
      ]),
      topics,
      moves: new SqliteMessageMoves(connection),
      edits: new SqliteMessageEditRepository(connection),
      archive: new SqliteMessageArchive(connection),
      personal: new SqlitePersonalMessages(connection),
      reactions: new SqliteReactionRepository(connection),
      bots: new SqliteBotRepository(connection),
      searchIndex: new SqliteSearchIndex(connection),
      botStorage: new SqliteBotStorageRepository(connection),
      statuses: new SqliteStatusRepository(connection),
      presence: new SqlitePresenceRepository(connection),
      devices: new SqliteDeviceRepository(connection),
      pushTokens: new SqlitePushTokenRepository(connection),
      scheduledMessages: new SqliteScheduledMessageRepository(connection, quarantine),
      reminders: new SqliteReminderRepository(connection),
      alertWords: new SqliteAlertWordRepository(connection),
      drafts: new SqliteDraftRepository(connection, quarantine),
      files: new SqliteFileRepository(connection),
      unfinishedUploads: new SqliteUnfinishedUploadRepository(connection),
      pictures: new SqlitePictureRepository(connection),
      customEmoji: new SqliteCustomEmojiRepository(connection),
      snippets: new SqliteSnippetRepository(connection),
      navigationViews: new SqliteNavigationViewRepository(connection),
      onboarding: new SqliteOnboardingRepository(connection),
      profiles: new SqliteProfileRepository(connection, quarantine),
      events: new SqliteEventLog(connection, clock),
      queues: new SqliteEventQueueRepository(connection),
      consumers: new SqliteEventConsumerRepository(connection),
      externalIds: new SqliteExternalIdRepository(connection),
      apiKeys: new SqliteApiKeyRepository(connection),
      sessions: new SqliteSessionRepository(connection),
      invitations: new SqliteInvitationRepository(connection, quarantine),
      confirmations: new SqliteConfirmationRepository(connection),
      jobs: new SqliteJobRepository(connection),
    };
  };
}
