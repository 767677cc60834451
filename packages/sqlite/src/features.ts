import type { SearchWords } from '@parley/domain/markdown';
import type { Clock } from '@parley/domain/shared';
import { SqliteAlertWordRepository } from './alert-words/sqlite-alert-word-repository.js';
import { SqliteApiKeyRepository } from './authentication/sqlite-api-key-repository.js';
import { SqliteSessionRepository } from './authentication/sqlite-session-repository.js';
import { SqliteBotRepository } from './bots/sqlite-bot-repository.js';
import { SqliteBotStorageRepository } from './bots/sqlite-bot-storage-repository.js';
import { ChannelCache } from './channels/channel-cache.js';
import { SqliteChannelAddressRepository } from './channels/sqlite-channel-address-repository.js';
import { SqliteChannelFolderRepository } from './channels/sqlite-channel-folder-repository.js';
import { SqliteChannelRepository } from './channels/sqlite-channel-repository.js';
import { SqliteDefaultChannelGroupRepository } from './channels/sqlite-default-channel-group-repository.js';
import { SqliteTopicPolicyRepository } from './channels/sqlite-topic-policy-repository.js';
import { SqliteConfirmationRepository } from './confirmations/sqlite-confirmation-repository.js';
import type { Connection } from './connection.js';
import { SqliteCustomEmojiRepository } from './custom-emoji/sqlite-custom-emoji-repository.js';
import { SqliteDraftRepository } from './drafts/sqlite-draft-repository.js';
import type { WritableRepositories } from './engine/unit-runner.js';
import { SqliteEventConsumerRepository } from './events/sqlite-event-consumer-repository.js';
import { SqliteEventLog } from './events/sqlite-event-log.js';
import { SqliteEventQueueRepository } from './events/sqlite-event-queue-repository.js';
import { SqliteCopyRepository } from './exports/sqlite-copy-repository.js';
import { SqliteExportRepository } from './exports/sqlite-export-repository.js';
import { SqliteFileRepository } from './files/sqlite-file-repository.js';
import { SqliteUnfinishedUploadRepository } from './files/sqlite-unfinished-upload-repository.js';
import { newGroupViewsCache, newSystemGroupCache, SqliteGroupRepository } from './groups/sqlite-group-repository.js';
import { SqliteExternalIdRepository } from './host-users/sqlite-external-id-repository.js';
import { SqliteInvitationRepository } from './invitations/sqlite-invitation-repository.js';
import { SqliteJobRepository } from './jobs/sqlite-job-repository.js';
import { SqliteMessageArchive } from './messages/sqlite-message-archive.js';
import { MessageEditPartReads, SqliteMessageEditRepository } from './messages/sqlite-message-edit-repository.js';
import { SqliteMessageMoves } from './messages/sqlite-message-moves.js';
import { SqliteMessagePageReads } from './messages/sqlite-message-page-reads.js';
import { SqliteMessageRepository } from './messages/sqlite-message-repository.js';
import { SqlitePersonalMessages } from './messages/sqlite-personal-messages.js';
import { SqliteRecipientRepository } from './messages/sqlite-recipient-repository.js';
import { SqliteSearchIndex } from './messages/sqlite-search-index.js';
import { SqliteTopicReads } from './messages/sqlite-topic-reads.js';
import { initial } from './migrations/0001-initial.js';
import { serverAddress } from './migrations/0002-server-address.js';
import { eventFormats } from './migrations/0003-event-formats.js';
import { settingWords } from './migrations/0004-setting-words.js';
import { narrowIndexes } from './migrations/0005-narrow-indexes.js';
import { jobs } from './migrations/0006-jobs.js';
import { plainNames } from './migrations/0007-plain-names.js';
import { reactions } from './migrations/0008-reactions.js';
import { search } from './migrations/0009-search.js';
import { botStorage } from './migrations/0010-bot-storage.js';
import { push } from './migrations/0011-push.js';
import { scheduling } from './migrations/0012-scheduling.js';
import { messageChanges } from './migrations/0013-message-changes.js';
import { bots } from './migrations/0014-bots.js';
import { channelLists } from './migrations/0015-channel-lists.js';
import { personalLists } from './migrations/0016-personal-lists.js';
import { people } from './migrations/0017-people.js';
import { presence } from './migrations/0018-presence.js';
import { statuses } from './migrations/0019-statuses.js';
import { organizationLists } from './migrations/0020-organization-lists.js';
import { invitations } from './migrations/0021-invitations.js';
import { mutedUsers } from './migrations/0022-muted-users.js';
import { anonymousGroups } from './migrations/0023-anonymous-groups.js';
import { alertWords } from './migrations/0024-alert-words.js';
import { files } from './migrations/0025-files.js';
import { mutedTopics } from './migrations/0026-muted-topics.js';
import { searchTerms } from './migrations/0027-search-terms.js';
import { pictures } from './migrations/0028-pictures.js';
import { hostApplication } from './migrations/0029-host-application.js';
import { uploads } from './migrations/0030-uploads.js';
import { topicsPolicies } from './migrations/0031-topics-policies.js';
import { sessions } from './migrations/0032-sessions.js';
import { thumbnails } from './migrations/0033-thumbnails.js';
import { confirmations } from './migrations/0034-confirmations.js';
import { exports } from './migrations/0035-exports.js';
import { spaceOfOwners } from './migrations/0036-space-of-owners.js';
import { deletedUsers } from './migrations/0037-deleted-users.js';
import { membershipCount } from './migrations/0038-membership-count.js';
import { importedMessages } from './migrations/0039-imported-messages.js';
import { invitationOffers } from './migrations/0040-invitation-offers.js';
import { permissionHolderCount } from './migrations/0041-permission-holder-count.js';
import { settingValuesVersion } from './migrations/0042-setting-values-version.js';
import { eventIds } from './migrations/0043-event-ids.js';
import type { Migration } from './migrations/migration.js';
import { SqliteNavigationViewRepository } from './navigation-views/sqlite-navigation-view-repository.js';
import { SqliteOnboardingRepository } from './onboarding/sqlite-onboarding-repository.js';
import { SqlitePictureRepository } from './pictures/sqlite-picture-repository.js';
import { SqlitePresenceRepository } from './presence/sqlite-presence-repository.js';
import { SqliteDeviceRepository } from './push/sqlite-device-repository.js';
import { SqlitePushTokenRepository } from './push/sqlite-push-token-repository.js';
import { Quarantine } from './quarantine.js';
import { ReactionPartReads, SqliteReactionRepository } from './reactions/sqlite-reaction-repository.js';
import { SqliteRealmData } from './realms/sqlite-realm-data.js';
import {
  LinkifierReads,
  SqliteAllowedDomainRepository,
  SqliteLinkifierRepository,
  SqlitePlaygroundRepository,
} from './realms/sqlite-realm-lists.js';
import { newRealmCache, SqliteRealmRepository } from './realms/sqlite-realm-repository.js';
import { SqliteReminderRepository } from './scheduling/sqlite-reminder-repository.js';
import { SqliteScheduledMessageRepository } from './scheduling/sqlite-scheduled-message-repository.js';
import { SqliteSnippetRepository } from './snippets/sqlite-snippet-repository.js';
import { SqliteStatusRepository } from './statuses/sqlite-status-repository.js';
import { newActorCache, SqliteActorReads } from './users/sqlite-actor-reads.js';
import { SqliteProfileRepository } from './users/sqlite-profile-repository.js';
import { newUserCache, SqliteUserRepository } from './users/sqlite-user-repository.js';

/** In order; the schema's version is how many of them have run. New ones go to the end. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  serverAddress,
  eventFormats,
  settingWords,
  narrowIndexes,
  jobs,
  plainNames,
  reactions,
  search,
  botStorage,
  push,
  scheduling,
  messageChanges,
  bots,
  channelLists,
  personalLists,
  people,
  presence,
  statuses,
  organizationLists,
  invitations,
  mutedUsers,
  anonymousGroups,
  alertWords,
  files,
  mutedTopics,
  searchTerms,
  pictures,
  hostApplication,
  uploads,
  topicsPolicies,
  sessions,
  thumbnails,
  confirmations,
  exports,
  spaceOfOwners,
  deletedUsers,
  membershipCount,
  importedMessages,
  invitationOffers,
  permissionHolderCount,
  settingValuesVersion,
  eventIds,
];

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
