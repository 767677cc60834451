import { INHERITED_NOTIFICATIONS } from '../channels/subscriptions.js';
import { type DueFacts, type DueReason, decideDue, dueInAddition, isIdle, type NotificationSettings } from './due.js';

/** Default settings (users §6.1). */
const DEFAULTS: NotificationSettings = {
  enableOfflinePushNotifications: true,
  enableOnlinePushNotifications: true,
  enableOfflineEmailNotifications: true,
  enableFollowedTopicPushNotifications: true,
  enableFollowedTopicEmailNotifications: true,
  enableFollowedTopicWildcardMentionsNotify: true,
  enableChannelPushNotifications: false,
  enableChannelEmailNotifications: false,
  wildcardMentionsNotify: true,
};

interface Given {
  readonly settings?: Partial<NotificationSettings>;
  readonly flags?: Partial<NonNullable<DueFacts['flags']>> | null;
  readonly message?: Partial<DueFacts['message']>;
  readonly recipient?: Partial<DueFacts['recipient']>;
  readonly isIdle?: boolean;
  readonly hasMutedChannel?: boolean;
  readonly channel?: Partial<NonNullable<DueFacts['subscription']>['notifications']>;
  readonly topic?: DueFacts['topic'];
  readonly isSubscribed?: boolean;
}

const factsOf = (given: Given): DueFacts => ({
  recipient: {
    ...{ isBot: false, isActive: true, settings: { ...DEFAULTS, ...given.settings } },
    ...given.recipient,
  },
  message: { isFromRecipient: false, isSilent: false, isDirect: false, ...given.message },
  flags:
    given.flags === null
      ? null
      : {
          ...{ read: false, mentioned: false, channelWildcardMentioned: false },
          ...{ topicWildcardMentioned: false, hasAlertWord: false },
          ...given.flags,
        },
  isIdle: given.isIdle ?? true,
  subscription:
    given.message?.isDirect || given.isSubscribed === false
      ? null
      : {
          isMuted: given.hasMutedChannel ?? false,
          notifications: { ...INHERITED_NOTIFICATIONS, ...given.channel },
        },
  topic: given.topic ?? 'inherit',
});

const direct = { message: { isDirect: true } };
const mentioned = { flags: { mentioned: true } };
const topicWildcard = { flags: { topicWildcardMentioned: true } };
const channelWildcard = { flags: { channelWildcardMentioned: true } };
const everybody = { flags: { topicWildcardMentioned: true, channelWildcardMentioned: true } };
const alertWord = { flags: { hasAlertWord: true } };
const online = { isIdle: false };
const onlyIdle = { enableOnlinePushNotifications: false };
const noPersonal = { enableOfflinePushNotifications: false, enableOfflineEmailNotifications: false };
const noPush = { enableOfflinePushNotifications: false, enableOnlinePushNotifications: false };
const noWildcards = { wildcardMentionsNotify: false };
const noFollowedWildcards = { enableFollowedTopicWildcardMentionsNotify: false };
const notFollowing = { enableFollowedTopicPushNotifications: false, enableFollowedTopicEmailNotifications: false };
const channelOn = { enableChannelPushNotifications: true, enableChannelEmailNotifications: true };

type Row = readonly [name: string, given: Given, push: DueReason | null, email: DueReason | null];

const ROWS: readonly Row[] = [
  ['an ordinary channel message', {}, null, null],

  // Row 1.
  ['a direct message', direct, 'directMessage', 'directMessage'],
  ['a direct message without personal notifications', { ...direct, settings: noPersonal }, null, null],
  [
    'a direct message without personal push',
    { ...direct, settings: { enableOfflinePushNotifications: false } },
    ...([null, 'directMessage'] as const),
  ],
  [
    'a direct message without personal email',
    { ...direct, settings: { enableOfflineEmailNotifications: false } },
    ...(['directMessage', null] as const),
  ],
  ['a direct message without any push', { ...direct, settings: noPush }, null, 'directMessage'],
  ['a direct message with a wildcard', { ...direct, ...channelWildcard }, 'directMessage', 'directMessage'],
  // Row 2.
  ['a mention', mentioned, 'mentioned', 'mentioned'],
  ['a mention without personal notifications', { ...mentioned, settings: noPersonal }, null, null],
  ['a mention in a muted topic', { ...mentioned, topic: 'muted' }, 'mentioned', 'mentioned'],
  ['a mention in a muted channel', { ...mentioned, hasMutedChannel: true }, 'mentioned', 'mentioned'],
  ['a mention without a subscription', { ...mentioned, isSubscribed: false }, 'mentioned', 'mentioned'],
  ['a mention beside wildcards', { flags: { ...mentioned.flags, ...everybody.flags } }, 'mentioned', 'mentioned'],
  ['a mention in a followed topic', { ...mentioned, topic: 'followed' }, 'mentioned', 'mentioned'],
  [
    'a mention in a followed topic without personal notifications',
    { ...mentioned, topic: 'followed', settings: noPersonal },
    ...(['followedTopic', 'followedTopic'] as const),
  ],
  // Rows 3 and 4.
  [
    'a topic wildcard in a followed topic',
    { ...topicWildcard, topic: 'followed' },
    ...(['topicWildcardInFollowedTopic', 'topicWildcardInFollowedTopic'] as const),
  ],
  [
    'a channel wildcard in a followed topic',
    { ...channelWildcard, topic: 'followed' },
    ...(['channelWildcardInFollowedTopic', 'channelWildcardInFollowedTopic'] as const),
  ],
  [
    'both wildcards in a followed topic',
    { ...everybody, topic: 'followed' },
    ...(['topicWildcardInFollowedTopic', 'topicWildcardInFollowedTopic'] as const),
  ],
  [
    'a wildcard in a followed topic of a muted channel',
    { ...channelWildcard, topic: 'followed', hasMutedChannel: true },
    ...(['channelWildcardInFollowedTopic', 'channelWildcardInFollowedTopic'] as const),
  ],
  [
    'a wildcard in a followed topic without wildcards for followed topics',
    { ...channelWildcard, topic: 'followed', settings: noFollowedWildcards },
    ...(['channelWildcard', 'channelWildcard'] as const),
  ],
  [
    'a wildcard in a followed topic without personal notifications',
    { ...channelWildcard, topic: 'followed', settings: noPersonal },
    ...(['followedTopic', 'followedTopic'] as const),
  ],
  [
    'a wildcard in a followed topic, ignored elsewhere',
    { ...topicWildcard, topic: 'followed', settings: noWildcards },
    ...(['topicWildcardInFollowedTopic', 'topicWildcardInFollowedTopic'] as const),
  ],
  [
    'a wildcard in a followed topic, ignored in this channel',
    { ...channelWildcard, topic: 'followed', channel: { wildcardMentions: false } },
    ...(['channelWildcardInFollowedTopic', 'channelWildcardInFollowedTopic'] as const),
  ],
  // Rows 5 and 6.
  ['a topic wildcard', topicWildcard, 'topicWildcard', 'topicWildcard'],
  ['a channel wildcard', channelWildcard, 'channelWildcard', 'channelWildcard'],
  ['both wildcards', everybody, 'topicWildcard', 'topicWildcard'],
  ['a wildcard in an unmuted topic', { ...topicWildcard, topic: 'unmuted' }, 'topicWildcard', 'topicWildcard'],
  [
    'a wildcard in a notified channel that the user ignores',
    { ...channelWildcard, settings: { ...noWildcards, ...channelOn } },
    ...(['channel', 'channel'] as const),
  ],
  ['a wildcard that the user ignores', { ...channelWildcard, settings: noWildcards }, null, null],
  [
    'a wildcard that the user ignores except in this channel',
    { ...channelWildcard, settings: noWildcards, channel: { wildcardMentions: true } },
    ...(['channelWildcard', 'channelWildcard'] as const),
  ],
  ['a wildcard ignored in this channel', { ...topicWildcard, channel: { wildcardMentions: false } }, null, null],
  ['a wildcard without personal notifications', { ...channelWildcard, settings: noPersonal }, null, null],
  ['a wildcard in a muted topic', { ...channelWildcard, topic: 'muted' }, null, null],
  ['a wildcard in a muted channel', { ...topicWildcard, hasMutedChannel: true }, null, null],
  [
    'a wildcard in an unmuted topic of a muted channel',
    { ...channelWildcard, hasMutedChannel: true, topic: 'unmuted' },
    ...(['channelWildcard', 'channelWildcard'] as const),
  ],
  // Row 7.
  ['a message in a followed topic', { topic: 'followed' }, 'followedTopic', 'followedTopic'],
  [
    'a message in a followed topic of a muted channel',
    { topic: 'followed', hasMutedChannel: true },
    ...(['followedTopic', 'followedTopic'] as const),
  ],
  ['a message in a followed topic without its settings', { topic: 'followed', settings: notFollowing }, null, null],
  [
    'a message in a followed topic without its push',
    { topic: 'followed', settings: { enableFollowedTopicPushNotifications: false } },
    ...([null, 'followedTopic'] as const),
  ],
  [
    'a message in a followed topic without its email',
    { topic: 'followed', settings: { enableFollowedTopicEmailNotifications: false } },
    ...(['followedTopic', null] as const),
  ],
  [
    'a followed topic of a notified channel',
    { topic: 'followed', settings: channelOn },
    'followedTopic',
    'followedTopic',
  ],
  [
    'a followed topic of a notified channel without its settings',
    { topic: 'followed', settings: { ...channelOn, ...notFollowing } },
    ...(['channel', 'channel'] as const),
  ],
  // Row 8.
  ['a message with notifications of all channels', { settings: channelOn }, 'channel', 'channel'],
  ['a message with notifications of this channel', { channel: { push: true, email: true } }, 'channel', 'channel'],
  ['a message with push of this channel', { channel: { push: true } }, 'channel', null],
  ['a message with email of this channel', { channel: { email: true } }, null, 'channel'],
  [
    'a message with notifications of all channels but this one',
    { settings: channelOn, channel: { push: false, email: false } },
    ...([null, null] as const),
  ],
  [
    'a notified channel without personal notifications',
    { settings: { ...channelOn, ...noPersonal } },
    'channel',
    'channel',
  ],
  ['a muted topic of a notified channel', { settings: channelOn, topic: 'muted' }, null, null],
  ['a muted channel with notifications', { channel: { push: true, email: true }, hasMutedChannel: true }, null, null],
  [
    'an unmuted topic of a muted channel with notifications',
    { settings: channelOn, hasMutedChannel: true, topic: 'unmuted' },
    ...(['channel', 'channel'] as const),
  ],
  ['a channel that the user has left', { settings: channelOn, isSubscribed: false }, null, null],

  // Presence.
  ['a direct message to an active user', { ...direct, ...online }, 'directMessage', null],
  ['a mention of an active user', { ...mentioned, ...online }, 'mentioned', null],
  ['a wildcard to active users', { ...channelWildcard, ...online }, 'channelWildcard', null],
  ['a message in a followed topic to an active user', { topic: 'followed', ...online }, 'followedTopic', null],
  ['a message of a notified channel to an active user', { settings: channelOn, ...online }, 'channel', null],
  ['a mention of an active user with push only when idle', { ...mentioned, ...online, settings: onlyIdle }, null, null],
  [
    'a direct message to an active user with push only when idle',
    { ...direct, ...online, settings: onlyIdle },
    null,
    null,
  ],
  [
    'a direct message to an idle user with push only when idle',
    { ...direct, settings: onlyIdle },
    'directMessage',
    'directMessage',
  ],
  [
    'a message of a notified channel without any personal push',
    { settings: { ...channelOn, ...noPush } },
    ...([null, 'channel'] as const),
  ],

  // No notification at all.
  ['an own message', { message: { isDirect: true, isFromRecipient: true } }, null, null],
  ['a message of the welcome bot', { message: { isDirect: true, isSilent: true } }, null, null],
  ['an own mention', { ...mentioned, message: { isFromRecipient: true } }, null, null],
  ['a message to a bot', { ...direct, recipient: { isBot: true } }, null, null],
  ['a message to a deactivated user', { ...direct, recipient: { isActive: false } }, null, null],
  ['a mention of a bot', { ...mentioned, recipient: { isBot: true } }, null, null],
  ['a mention of a deactivated user', { ...mentioned, recipient: { isActive: false } }, null, null],
  ['a message of a muted user, which arrives as read', { flags: { mentioned: true, read: true } }, null, null],
  ['a read message', { message: { isDirect: true }, flags: { read: true } }, null, null],
  ['a message that the user does not have', { ...direct, flags: null }, null, null],
];

describe('decideDue (organization §15, users §6)', () => {
  it.each(ROWS)('decides for %s', (_, given, push, email) => {
    const due = decideDue(factsOf(given));
    expect([due?.push ?? null, due?.email ?? null]).toEqual([push, email]);
    if (due) expect(due.reason).toBe(push ?? email);
  });

  it('prefers the strongest of the push and email reasons', () => {
    const settings = { enableOfflinePushNotifications: false };
    expect(decideDue(factsOf({ ...mentioned, topic: 'followed', settings }))).toEqual({
      ...{ push: 'followedTopic', email: 'mentioned', reason: 'mentioned' },
    });
  });

  it('considers alert words for the host application only, while the user is idle', () => {
    expect(decideDue(factsOf(alertWord))).toEqual({ push: null, email: null, reason: 'alertWord' });
    expect(decideDue(factsOf({ ...alertWord, ...online }))).toBeNull();
    expect(decideDue(factsOf({ flags: { hasAlertWord: true, mentioned: true } }))?.reason).toBe('mentioned');
  });
});

describe('dueInAddition', () => {
  const push = { push: 'channel', email: null, reason: 'channel' } as const;
  const both = { push: 'mentioned', email: 'mentioned', reason: 'mentioned' } as const;
  it.each([
    ['everything if nothing was due before', null, both, both],
    ['nothing if nothing is due anymore', push, null, null],
    ['nothing if everything was due before', both, both, null],
    ['only the part not due before', push, both, { push: null, email: 'mentioned', reason: 'mentioned' }],
  ] as const)('returns %s', (_, before, after, expected) => {
    expect(dueInAddition(before, after)).toEqual(expected);
  });
});

describe('isIdle', () => {
  it.each([
    ['a client and recent activity', true, { lastActive: 800, lastConnected: 1000 }, false],
    ['a client and old activity', true, { lastActive: 799, lastConnected: 1000 }, true],
    ['a client unused for a year', true, { lastActive: 1000 - 31_536_000, lastConnected: 1000 }, true],
    ['a client that was never used', true, { lastActive: null, lastConnected: 1000 }, true],
    ['a client without presence', true, null, true],
    ['a client and activity in the future', true, { lastActive: 173_800, lastConnected: 173_800 }, true],
    ['a client and the activity of a server ahead', true, { lastActive: 1010, lastConnected: 1010 }, false],
    ['recent activity without a client', false, { lastActive: 1000, lastConnected: 1000 }, true],
  ] as const)('evaluates %s', (_, receivesMessages, presence, expected) => {
    expect(isIdle(receivesMessages, presence, 1000)).toBe(expected);
  });
});
