import type { Clock } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { SqliteConfirmationRepository } from './access/sqlite-confirmation-repository.js';
import { ChannelCache } from './channels/channel-cache.js';
import { SqliteChannelAddressRepository } from './channels/sqlite-channel-address-repository.js';
import { SqliteChannelFolderRepository } from './channels/sqlite-channel-folder-repository.js';
import { SqliteChannelRepository } from './channels/sqlite-channel-repository.js';
import { SqliteDefaultChannelGroupRepository } from './channels/sqlite-default-channel-group-repository.js';
import { SqliteTopicPolicyRepository } from './channels/sqlite-topic-policy-repository.js';
import type { Connection } from './engine/connection.js';
import { type Migration, migrationsOf } from './engine/migration.js';
import { Quarantine } from './engine/quarantine.js';
import { SQL_TEXTS } from './engine/sql-texts.js';
import type { WritableRepositories } from './engine/unit-runner.js';
import { SqliteCopyRepository } from './exports/sqlite-copy-repository.js';
import { SqliteExportRepository } from './exports/sqlite-export-repository.js';
import { SqliteCustomEmojiRepository } from './files/sqlite-custom-emoji-repository.js';
import { SqliteFileRepository } from './files/sqlite-file-repository.js';
import { SqlitePictureRepository } from './files/sqlite-picture-repository.js';
import { SqliteUnfinishedUploadRepository } from './files/sqlite-unfinished-upload-repository.js';
import { newGroupViewsCache, newSystemGroupCache, SqliteGroupRepository } from './groups/sqlite-group-repository.js';
import { SqliteEventConsumerRepository } from './kernel/sqlite-event-consumer-repository.js';
import { SqliteEventLog } from './kernel/sqlite-event-log.js';
import { SqliteEventQueueRepository } from './kernel/sqlite-event-queue-repository.js';
import { SqliteJobRepository } from './kernel/sqlite-job-repository.js';
import { SqliteBotRepository } from './membership/sqlite-bot-repository.js';
import { SqliteBotStorageRepository } from './membership/sqlite-bot-storage-repository.js';
import { SqliteExternalIdRepository } from './membership/sqlite-external-id-repository.js';
import { SqliteInvitationRepository } from './membership/sqlite-invitation-repository.js';
import { SqliteDraftRepository } from './messages/sqlite-draft-repository.js';
import { SqliteMessageArchive } from './messages/sqlite-message-archive.js';
import { MessageEditPartReads, SqliteMessageEditRepository } from './messages/sqlite-message-edit-repository.js';
import { SqliteMessageMoves } from './messages/sqlite-message-moves.js';
import { SqliteMessagePageReads } from './messages/sqlite-message-page-reads.js';
import { SqliteMessageRepository } from './messages/sqlite-message-repository.js';
import { SqliteNavigationViewRepository } from './messages/sqlite-navigation-view-repository.js';
import { SqlitePersonalMessages } from './messages/sqlite-personal-messages.js';
import { ReactionPartReads, SqliteReactionRepository } from './messages/sqlite-reaction-repository.js';
import { SqliteRecipientRepository } from './messages/sqlite-recipient-repository.js';
import { SqliteReminderRepository } from './messages/sqlite-reminder-repository.js';
import { SqliteScheduledMessageRepository } from './messages/sqlite-scheduled-message-repository.js';
import { SqliteSearchIndex } from './messages/sqlite-search-index.js';
import { SqliteSnippetRepository } from './messages/sqlite-snippet-repository.js';
import { SqliteTopicReads } from './messages/sqlite-topic-reads.js';
import { SqliteDeviceRepository } from './push/sqlite-device-repository.js';
import { SqlitePushTokenRepository } from './push/sqlite-push-token-repository.js';
import { SqliteRealmData } from './realms/sqlite-realm-data.js';
import {
  LinkifierReads,
  SqliteAllowedDomainRepository,
  SqliteLinkifierRepository,
  SqlitePlaygroundRepository,
} from './realms/sqlite-realm-lists.js';
import { newRealmCache, SqliteRealmRepository } from './realms/sqlite-realm-repository.js';
import { newActorCache, SqliteActorReads } from './users/sqlite-actor-reads.js';
import { SqliteAlertWordRepository } from './users/sqlite-alert-word-repository.js';
import { SqliteApiKeyRepository } from './users/sqlite-api-key-repository.js';
import { SqliteOnboardingRepository } from './users/sqlite-onboarding-repository.js';
import { SqlitePresenceRepository } from './users/sqlite-presence-repository.js';
import { SqliteProfileRepository } from './users/sqlite-profile-repository.js';
import { SqliteSessionRepository } from './users/sqlite-session-repository.js';
import { SqliteStatusRepository } from './users/sqlite-status-repository.js';
import { newUserCache, SqliteUserRepository } from './users/sqlite-user-repository.js';

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

/** Makes the repositories of a connection. What they keep in memory, all connections share. */
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
