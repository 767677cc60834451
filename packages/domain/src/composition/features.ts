import {
  GROUP_AUDIENCES,
  GroupProjection,
  isGroupChangeOf,
  loadGroupRights,
  loadGroupSnapshot,
  onlineInGroups,
  replayedGroups,
} from '../access/group-delivery.js';
import * as access from '../access/index.js';
import {
  CHANNEL_AUDIENCES,
  ChannelProjection,
  channelReceiver,
  findSpans,
  loadChannelReceivers,
  needsChannels,
  onlineInChannels,
  replayedSubscriptions,
} from '../channels/channel-delivery.js';
import * as channels from '../channels/index.js';
import * as exports from '../exports/index.js';
import { customEmojiReceiver, loadCustomEmojiReceivers, needsCustomEmoji } from '../files/custom-emoji.js';
import type { FileUser } from '../files/files.use-cases.js';
import * as files from '../files/index.js';
import * as groups from '../groups/index.js';
import { audiencesBy, type DeliveryFeatures, type LiveProjection } from '../kernel/delivery.js';
import type { EventFormats, NotExported } from '../kernel/event.js';
import { eventEncoding, queueEncoding } from '../kernel/event-encoding.js';
import type { QueueNarrowTerm } from '../kernel/event-queue.js';
import type { ExportParts, PersonPart, RealmPart } from '../kernel/export-parts.js';
import { partOfRows } from '../kernel/exported-rows.js';
import type { BusHintTypes, DomainEventTypes } from '../kernel/feature-types.js';
import * as kernel from '../kernel/index.js';
import type { QueueFilters } from '../kernel/register-queue.js';
import type { RowRules } from '../kernel/rows.js';
import * as logIn from '../log-in/index.js';
import { loadQueueDefaults } from '../membership/bots.js';
import * as membership from '../membership/index.js';
import * as messages from '../messages/index.js';
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
import * as push from '../push/index.js';
import * as realms from '../realms/index.js';
import * as users from '../users/index.js';
import {
  findInaccessible,
  isReachChangeOf,
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
import * as writing from '../writing/index.js';
import { completeEvents, SENT_REFERENCES } from '../writing/sent-reference.js';

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
  noResults: { holders: new Map(), inaccessible: new Map(), spans: new Map() },

  async loadRights(repositories, { realmId, ownerId }, isOnline) {
    const user = await loadUserRights(repositories, realmId, ownerId);
    if (!user) return null;
    return {
      ...{ userId: ownerId, lastSeq: await repositories.events.lastSeq(realmId), ...user },
      ...(await loadGroupRights(repositories, realmId, ownerId)),
      channelIds: isOnline ? [] : await repositories.channels.listSubscribedIds(realmId, ownerId),
    };
  },

  loadSnapshot: async (repositories, realmId) => ({
    lastSeq: await repositories.events.lastSeq(realmId),
    ...(await loadGroupSnapshot(repositories, realmId)),
    ...(await loadUserSnapshot(repositories, realmId)),
  }),

  findAnswers: async (repositories, realmId, questions, asked) => ({
    ...(await findHolders(repositories, realmId, questions, asked)),
    ...(await findInaccessible(repositories, realmId, questions, asked)),
    ...(await findSpans(repositories, realmId, questions, asked)),
  }),

  askedOwner(rights, questions) {
    const guest = lookupGuest(rights, questions);
    const isConcerned = asksForMessages(questions) || guest.guestIds.length > 0 || questions.channelIds !== undefined;
    return isConcerned ? { ids: [rights.userId], spansOf: rights.userId, ...guest } : null;
  },

  membershipOf: (candidate) => ({
    ...replayedUser(candidate),
    ...replayedGroups(candidate),
    ...replayedSubscriptions(candidate),
    ...messageHolder(candidate),
  }),

  isRightsChange: (event, rights) => isGroupChangeOf(event, rights) || isReachChangeOf(event, rights),

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

/** Exports of the areas that have features. */
type Areas = typeof access &
  typeof channels &
  typeof exports &
  typeof files &
  typeof groups &
  typeof kernel &
  typeof writing &
  typeof membership &
  typeof logIn &
  typeof messages &
  typeof push &
  typeof realms &
  typeof users;
type Feature = Areas[Extract<keyof Areas, `${string}_FEATURE`>];

/** Features that an area exports as `…_FEATURE`, by name. */
export const FEATURES: readonly DomainFeature[] = [
  access,
  channels,
  exports,
  files,
  groups,
  kernel,
  writing,
  membership,
  logIn,
  messages,
  push,
  realms,
  users,
]
  .flatMap((area) => Object.entries<unknown>(area))
  .filter((entry): entry is [string, Feature] => entry[0].endsWith('_FEATURE'))
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([, feature]) => feature);

type FormatsOf<F> = F extends { readonly eventFormats: infer Formats } ? keyof Formats : never;

/** Formats of all events; the compiler reports an event without a format here. */
export const EVENT_FORMATS: EventFormats<DomainEventTypes> = Object.assign(
  {},
  ...FEATURES.map(({ eventFormats }) => eventFormats),
) as Record<FormatsOf<Feature>, number>;

type RowsOf<F> = F extends { readonly rows: infer Rows } ? keyof Rows : never;

/** Rules of declared rows, by repository. */
export const ROWS: Readonly<Record<RowsOf<Feature>, RowRules>> = Object.assign({}, ...FEATURES.map(({ rows }) => rows));

const partsOf = (owner: RowRules['owner'], rows: DomainFeature['rows'] = {}) =>
  Object.entries(rows).flatMap(([name, rules]) => (rules.owner === owner ? (partOfRows(name, rules) ?? []) : []));

/** Export parts of all features. */
export const EXPORT_PARTS: ExportParts = {
  people: FEATURES.flatMap(({ rows, personPart }) => [...partsOf('user', rows), ...(personPart ? [personPart] : [])]),
  realm: FEATURES.flatMap(({ rows, realmPart }) => [...partsOf('realm', rows), ...(realmPart ? [realmPart] : [])]),
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
