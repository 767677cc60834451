import { BOUNCE_FEATURE } from '../access/bounces.js';
import { CONFIRMATION_FEATURE } from '../access/confirmations.js';
import { CREDENTIAL_FEATURE } from '../access/credentials.js';
import {
  GROUP_AUDIENCES,
  GroupProjection,
  loadGroupRights,
  loadGroupSnapshot,
  onlineInGroups,
  replayedGroups,
} from '../access/group-delivery.js';
import {
  CHANNEL_AUDIENCES,
  ChannelProjection,
  channelReceiver,
  loadChannelReceivers,
  loadChannelRights,
  needsChannels,
  onlineInChannels,
  replayedSubscriptions,
} from '../channels/channel-delivery.js';
import { CHANNEL_FEATURE } from '../channels/channel-events.js';
import { CHANNEL_FOLDER_FEATURE } from '../channels/channel-folders.js';
import { DEFAULT_CHANNEL_FEATURE } from '../channels/default-channels.js';
import { TOPIC_POLICY_FEATURE } from '../channels/topic-policies.js';
import { EXPORT_FEATURE } from '../exports/exports.js';
import { IMPORT_BATCH_FEATURE } from '../exports/import-batches.js';
import { IMPORT_RUN_FEATURE } from '../exports/import-runs.js';
import {
  CUSTOM_EMOJI_FEATURE,
  customEmojiReceiver,
  loadCustomEmojiReceivers,
  needsCustomEmoji,
} from '../files/custom-emoji.js';
import { FILE_FEATURE } from '../files/files.js';
import type { FileUser } from '../files/files.use-cases.js';
import { PICTURE_FEATURE } from '../files/pictures.js';
import { GROUP_FEATURE } from '../groups/group.js';
import { CALL_COUNT_FEATURE } from '../kernel/call-counts.js';
import { audiencesBy, type DeliveryFeatures, type LiveProjection } from '../kernel/delivery.js';
import { EVENT_FEATURE, type EventFormats, type NotExported } from '../kernel/event.js';
import { eventEncoding, queueEncoding } from '../kernel/event-encoding.js';
import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import type { ExportParts, PersonPart, RealmPart } from '../kernel/export-parts.js';
import type { BusHintTypes, DomainEventTypes } from '../kernel/feature-types.js';
import { JOB_FEATURE } from '../kernel/jobs.js';
import { LEASE_FEATURE } from '../kernel/leases.js';
import type { QueueFilters } from '../kernel/register-queue.js';
import type { RowRules } from '../kernel/rows.js';
import { BOT_FEATURE, loadQueueDefaults } from '../membership/bots.js';
import { ERASURE_FEATURE } from '../membership/erasures.js';
import { HOST_USER_FEATURE } from '../membership/host-users.js';
import { INVITATION_FEATURE } from '../membership/invitations.js';
import { LOG_IN_METHOD_FEATURE } from '../membership/log-in-methods.js';
import { PLACEHOLDER_FEATURE } from '../membership/placeholders.js';
import { PROVISIONING_FEATURE } from '../membership/provisioning/provisioning.js';
import { DRAFT_FEATURE } from '../messages/drafts.js';
import {
  asksForMessages,
  findHolders,
  loadMessageReceivers,
  MESSAGE_AUDIENCES,
  MESSAGE_SELECTION,
  messageHolder,
  messageReceiver,
  needsMessages,
  queueConditionOf,
} from '../messages/message-delivery.js';
import { MESSAGE_FEATURE } from '../messages/message-events.js';
import { MUTED_USER_FEATURE } from '../messages/muted-users.js';
import { NAVIGATION_VIEW_FEATURE } from '../messages/navigation-views.js';
import { REACTION_FEATURE } from '../messages/reactions.js';
import { DELIVERY_FEATURE } from '../messages/scheduled-delivery.js';
import { SCHEDULING_FEATURE } from '../messages/scheduled-messages.js';
import { SENT_ONCE_FEATURE } from '../messages/send-once.js';
import { completeEvents, SENT_REFERENCES } from '../messages/sent-reference.js';
import { SNIPPET_FEATURE } from '../messages/snippets.js';
import { INCOMING_EMAIL_FEATURE } from '../push/incoming-email.js';
import { NOTIFICATION_FEATURE } from '../push/notifications.js';
import { PUSH_FEATURE } from '../push/push.js';
import { PUSH_STATUS_FEATURE } from '../push/push-status.js';
import { WEB_PUSH_FEATURE } from '../push/web-push.js';
import { ALLOWED_DOMAIN_FEATURE } from '../realms/allowed-domains.js';
import { LINKIFIER_FEATURE } from '../realms/linkifiers.js';
import { PLAYGROUND_FEATURE } from '../realms/playgrounds.js';
import { REALM_FEATURE, REALM_SETTINGS_FEATURE } from '../realms/realm-events.js';
import { ALERT_WORD_FEATURE } from '../users/alert-words.js';
import { ONBOARDING_FEATURE } from '../users/onboarding.js';
import { PRESENCE_FEATURE } from '../users/presence.js';
import { PROFILE_FEATURE } from '../users/profiles.js';
import { SECOND_FACTOR_FEATURE } from '../users/second-factors.js';
import { STATUS_FEATURE } from '../users/statuses.js';
import {
  findInaccessible,
  loadUserReceivers,
  loadUserRights,
  loadUserSnapshot,
  lookupGuest,
  needsUsers,
  replayedUser,
  signedOutUserIn,
  USER_AUDIENCES,
  UserProjection,
  userReceiver,
} from '../users/user-delivery.js';
import { USER_FEATURE, USER_SETTINGS_FEATURE } from '../users/user-events.js';

/** Audience functions for the kinds of every feature. */
export const { isInAudience, questionsOf, parseAudience } = audiencesBy({
  ...CHANNEL_AUDIENCES,
  ...GROUP_AUDIENCES,
  ...MESSAGE_AUDIENCES,
  ...USER_AUDIENCES,
});

/** Delivery contributions of all features; the compiler reports missing ones. */
export const DELIVERY_FEATURES: DeliveryFeatures = {
  isInAudience,
  questionsOf,
  selection: MESSAGE_SELECTION,
  noResults: { holders: new Map(), inaccessible: new Map() },

  async loadRights(repositories, { realmId, ownerId }) {
    const user = await loadUserRights(repositories, realmId, ownerId);
    return (
      user && {
        userId: ownerId,
        lastSeq: await repositories.events.lastSeq(realmId),
        ...user,
        ...(await loadGroupRights(repositories, realmId, ownerId)),
        ...(await loadChannelRights(repositories, realmId, ownerId)),
      }
    );
  },

  loadSnapshot: async (repositories, realmId) => ({
    lastSeq: await repositories.events.lastSeq(realmId),
    ...(await loadGroupSnapshot(repositories, realmId)),
    ...(await loadUserSnapshot(repositories, realmId)),
  }),

  findAnswers: async (repositories, realmId, questions, asked) => ({
    ...(await findHolders(repositories, realmId, questions, asked)),
    ...(await findInaccessible(repositories, realmId, questions, asked)),
  }),

  askedOwner(rights, questions) {
    const guest = lookupGuest(rights, questions);
    const isConcerned = asksForMessages(questions) || guest.guestIds.length > 0;
    return isConcerned ? { ids: [rights.userId], ...guest } : null;
  },

  membershipOf: (candidate) => ({
    ...replayedUser(candidate),
    ...replayedGroups(candidate),
    ...replayedSubscriptions(candidate),
    ...messageHolder(candidate),
  }),

  onlineUser: (rights) => ({
    userId: rights.userId,
    role: rights.role,
    ...onlineInChannels(rights),
    ...onlineInGroups(rights),
    queues: new Set(),
  }),

  projectionOf(snapshot, online) {
    const groups = new GroupProjection(snapshot, online);
    const users = new UserProjection(snapshot, online, groups);
    const channels = new ChannelProjection(online);
    const all: readonly LiveProjection[] = [users, groups, channels];
    return {
      add: (user) => {
        for (const projection of all) projection.add(user);
      },
      remove: (user) => {
        for (const projection of all) projection.remove(user);
      },
      fold: (event) => {
        for (const projection of all) projection.fold(event);
      },
      members: { ...users.members, ...channels.members },
      membershipOf: (candidate) => ({
        ...users.membershipOf(candidate),
        ...groups.membershipOf(candidate),
        ...channels.membershipOf(candidate),
        ...messageHolder(candidate),
      }),
      ownerOf: (user) => users.ownerOf(user),
      concerns: (questions) => asksForMessages(questions) || users.concerns(questions),
      lookupUsers: () => ({ ids: [...online.keys()], ...users.lookupUsers() }),
    };
  },

  signedOutBy: signedOutUserIn,

  receiver: (owner) => ({
    userId: owner.userId,
    ...userReceiver(owner),
    ...messageReceiver(),
    ...channelReceiver(),
    ...customEmojiReceiver(),
  }),

  isNeeded: (needs, owner) =>
    needsUsers(needs, owner) || needsMessages(needs) || needsChannels(needs) || needsCustomEmoji(needs),

  async loadReceivers(repositories, realmId, requests) {
    const users = await loadUserReceivers(repositories, realmId, requests);
    const messages = await loadMessageReceivers(repositories, realmId, requests);
    const channels = await loadChannelReceivers(repositories, realmId, requests);
    const customEmoji = await loadCustomEmojiReceivers(repositories, realmId, requests);
    return requests.map(({ owner }, index) => ({
      userId: owner.userId,
      ...users[index]!,
      ...messages[index]!,
      ...channels[index]!,
      ...customEmoji[index]!,
    }));
  },
};

/** Domain part of a feature. */
export interface DomainFeature {
  readonly personPart?: PersonPart;
  readonly realmPart?: RealmPart;
  readonly eventFormats?: Partial<EventFormats<DomainEventTypes>>;
  /** Present if the feature needs files beyond those in messages. */
  readonly fileUser?: FileUser;
  readonly rows?: Readonly<Record<string, RowRules>>;
  readonly notExported?: NotExported;
}

/** All features with their own domain part. */
const ALL = [
  ALERT_WORD_FEATURE,
  BOT_FEATURE,
  CHANNEL_FEATURE,
  CHANNEL_FOLDER_FEATURE,
  DEFAULT_CHANNEL_FEATURE,
  TOPIC_POLICY_FEATURE,
  CUSTOM_EMOJI_FEATURE,
  DELIVERY_FEATURE,
  DRAFT_FEATURE,
  EVENT_FEATURE,
  EXPORT_FEATURE,
  FILE_FEATURE,
  GROUP_FEATURE,
  IMPORT_BATCH_FEATURE,
  IMPORT_RUN_FEATURE,
  INCOMING_EMAIL_FEATURE,
  INVITATION_FEATURE,
  MESSAGE_FEATURE,
  MUTED_USER_FEATURE,
  NAVIGATION_VIEW_FEATURE,
  NOTIFICATION_FEATURE,
  ONBOARDING_FEATURE,
  PRESENCE_FEATURE,
  PUSH_FEATURE,
  PUSH_STATUS_FEATURE,
  WEB_PUSH_FEATURE,
  REACTION_FEATURE,
  ALLOWED_DOMAIN_FEATURE,
  LINKIFIER_FEATURE,
  PLAYGROUND_FEATURE,
  REALM_FEATURE,
  REALM_SETTINGS_FEATURE,
  SCHEDULING_FEATURE,
  SENT_ONCE_FEATURE,
  SNIPPET_FEATURE,
  STATUS_FEATURE,
  PROFILE_FEATURE,
  USER_FEATURE,
  USER_SETTINGS_FEATURE,
  PICTURE_FEATURE,
  CREDENTIAL_FEATURE,
  BOUNCE_FEATURE,
  CONFIRMATION_FEATURE,
  SECOND_FACTOR_FEATURE,
  ERASURE_FEATURE,
  HOST_USER_FEATURE,
  LOG_IN_METHOD_FEATURE,
  PLACEHOLDER_FEATURE,
  PROVISIONING_FEATURE,
  CALL_COUNT_FEATURE,
  JOB_FEATURE,
  LEASE_FEATURE,
] as const satisfies readonly DomainFeature[];

export const FEATURES: readonly DomainFeature[] = ALL;

type FormatsOf<F> = F extends { readonly eventFormats: infer Formats } ? keyof Formats : never;

/** Formats of all events; the compiler reports an event without a format here. */
export const EVENT_FORMATS: EventFormats<DomainEventTypes> = Object.assign(
  {},
  ...FEATURES.map(({ eventFormats }) => eventFormats),
) as Record<FormatsOf<(typeof ALL)[number]>, number>;

type RowsOf<F> = F extends { readonly rows: infer Rows } ? keyof Rows : never;

/** Rules of declared rows, by repository. */
export const ROWS: Readonly<Record<RowsOf<(typeof ALL)[number]>, RowRules>> = Object.assign(
  {},
  ...FEATURES.map(({ rows }) => rows),
);

/** Export parts of all features. */
export const EXPORT_PARTS: ExportParts = {
  people: FEATURES.flatMap(({ personPart }) => personPart ?? []),
  realm: FEATURES.flatMap(({ realmPart }) => realmPart ?? []),
};

/** Features that need files beyond those in messages. */
export const FILE_USERS: readonly FileUser[] = FEATURES.flatMap(({ fileUser }) => fileUser ?? []);

export const {
  encodeEvent,
  decodeEvent,
  sizeOf: sizeOfEvent,
  blankEvent: BLANK_EVENT,
} = eventEncoding(EVENT_FORMATS, parseAudience, SENT_REFERENCES);

export { completeEvents };

/** True if queues support the narrow term. */
const isQueueNarrowTerm = (term: QueueNarrowTerm): boolean => queueConditionOf(term) !== null;

/** Supported queue filters and their defaults. */
export const QUEUE_FILTERS: QueueFilters = { isSupported: isQueueNarrowTerm, loadDefaults: loadQueueDefaults };

export const { encodeQueue, decodeQueue } = queueEncoding(isQueueNarrowTerm);

/** Kinds of server messages that this release understands. */
export const BUS_HINT_KINDS: Readonly<Record<keyof BusHintTypes, true>> = {
  committed: true,
  ephemeral: true,
  presence: true,
  queuesRemoved: true,
};
