import {
  GroupProjection,
  loadGroupRights,
  loadGroupSnapshot,
  onlineInGroups,
  replayedGroups,
} from '../access/group-delivery.js';
import {
  ChannelProjection,
  channelReceiver,
  loadChannelReceivers,
  loadChannelRights,
  needsChannels,
  onlineInChannels,
  replayedSubscriptions,
} from '../channels/channel-delivery.js';
import { customEmojiReceiver, loadCustomEmojiReceivers, needsCustomEmoji } from '../files/custom-emoji-delivery.js';
import type { DeliveryFeatures, LiveProjection } from '../kernel/delivery-features.js';
import {
  asksForMessages,
  findHolders,
  loadMessageReceivers,
  MESSAGE_SELECTION,
  messageHolder,
  messageReceiver,
  needsMessages,
} from '../messages/message-delivery.js';
import {
  askedGuest,
  findInaccessible,
  loadUserReceivers,
  loadUserRights,
  loadUserSnapshot,
  needsUsers,
  replayedUser,
  signedOutUserIn,
  UserProjection,
  userReceiver,
} from '../users/user-delivery.js';
import { isInAudience, questionsOf } from './audiences.js';

/** What every feature contributes to delivery; the compiler reports what is missing. */
export const DELIVERY_FEATURES: DeliveryFeatures = {
  isInAudience,
  questionsOf,
  selection: MESSAGE_SELECTION,
  noAnswers: { holders: new Map(), inaccessible: new Map() },

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
    const guest = askedGuest(rights, questions);
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
      askedUsers: () => ({ ids: [...online.keys()], ...users.askedUsers() }),
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
