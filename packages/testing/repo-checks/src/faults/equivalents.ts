/** Faults that change no behavior, so no test can detect them. */
export interface Equivalent {
  /** Path relative to `domain/src`. */
  readonly source: string;
  /** Source line without indentation. */
  readonly code: string;
  /** Pairs of original text and replacement. */
  readonly changes: readonly (readonly [text: string, replacement: string | null])[];
  readonly reason: string;
}

const ACCESS = 'messages/load-access.ts';
const DELETION = 'writing/deletion.use-cases.ts';
const NO_CHANNEL = 'Storages find no channel for null.';
const NO_SUBSCRIPTION = 'Nobody subscribes to the channel null.';
const RECHECKED = 'A shortcut without writes; the unit that deletes messages checks again.';
const NOTHING = 'Deleting no messages changes nothing.';
const SHORTCUT = 'A shortcut.';
const CACHE = 'A cache.';
const MESSAGES = 'messages/message-delivery.ts';
const CHANNELS = 'channels/channel-delivery.ts';
const USERS = 'users/user-delivery.ts';
const HOLDS = 'writing/holds.ts';
const BEFORE_EVERY_TIME = 'Null is compared as 0, before the time of each message.';
const TOKENS = 'log-in/access-tokens.use-cases.ts';
const MOVES = 'writing/moves.ts';
const PARTS = 'writing/move-parts.ts';
const VISITORS = 'log-in/visitors.use-cases.ts';
const ERASURES = 'membership/erasures.use-cases.ts';
const MERGED = 'membership/merged-accounts.ts';
const ONLY_OWNER = 'A shortcut; the only owner is an active owner.';
const GUESTS = 'isLimitedGuest checks the role of each candidate.';

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    source: 'messages/message-permissions.ts',
    code: "if (!wasResolved && isResolved) return cutTopic(to) === cutTopic(RESOLVED_PREFIX + from) ? 'resolve' : null;",
    changes: [['isResolved', 'true']],
    reason: 'A topic without the prefix never equals one that starts with it.',
  },
  {
    source: 'channels/post-permissions.ts',
    code: '!somebodyAuthorizes && realm.permissions.directMessagePermission === nobodyGroupId,',
    changes: [['!somebodyAuthorizes', 'true']],
    reason: 'Nobody authorizes if the permission belongs to the group without members.',
  },
  {
    source: 'channels/post-permissions.ts',
    code: 'const botOwner = botOwnerId === null ? null : ((await actors.list(realmId, [botOwnerId])).get(botOwnerId) ?? null);',
    changes: [['botOwnerId === null', 'false']],
    reason: 'Storages find no actor for null.',
  },
  {
    source: 'membership/contribution-deletion.ts',
    code: 'const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);',
    changes: [['channelId === null', 'false']],
    reason: NO_CHANNEL,
  },
  {
    source: 'membership/contribution-deletion.ts',
    code: "...(privacies.length > 0 ? [{ conditions: [bySender, inChannels], scope: 'shared' } as const] : []),",
    changes: [['privacies.length > 0', 'true']],
    reason: 'No channel has one of no privacies.',
  },
  {
    source: 'writing/deletion.ts',
    code: 'if (channel === null || channel.firstMessageId === null || !ids.includes(channel.firstMessageId)) return;',
    changes: [['channel.firstMessageId === null', 'false']],
    reason: 'The deleted ids do not include null.',
  },
  {
    source: DELETION,
    code: 'if (entries.length === 0) return 0;',
    changes: [['entries.length === 0', 'false']],
    reason: NOTHING,
  },
  {
    source: DELETION,
    code: 'const isEmpty = !(await tx.topics.hasMessages(realmId, channel.recipientId, key));',
    changes: [['!(await tx.topics.hasMessages(realmId, channel.recipientId, key))', 'false']],
    reason: 'No user has messages in an empty topic.',
  },
  {
    source: DELETION,
    code: 'if (!isEmpty && (await this.hasMessages(tx, channel, key, policy.userId))) continue;',
    changes: [['!isEmpty', 'true']],
    reason: 'No user has messages in an empty topic.',
  },
  {
    source: DELETION,
    code: 'if (retentionDays(realm, channel) !== null) count += await this.expireAll(realm.id, channel.recipientId);',
    changes: [['retentionDays(realm, channel) !== null', 'true']],
    reason: RECHECKED,
  },
  {
    source: DELETION,
    code: 'if (retentionDays(realm, null) === null) return count;',
    changes: [['retentionDays(realm, null) === null', 'false']],
    reason: RECHECKED,
  },
  {
    source: DELETION,
    code: 'const channel = oldest.channelId === null ? null : await r.channels.find(realmId, oldest.channelId);',
    changes: [['oldest.channelId === null', 'false']],
    reason: NO_CHANNEL,
  },
  {
    source: DELETION,
    code: 'return days !== null && oldest.sentAt < this.sentBefore(days);',
    changes: [
      ['days !== null && oldest.sentAt < this.sentBefore(days)', 'true'],
      ['days !== null', 'true'],
      ['oldest.sentAt < this.sentBefore(days)', 'true'],
      ['oldest.sentAt < this.sentBefore(days)', 'oldest.sentAt <= this.sentBefore(days)'],
    ],
    reason: RECHECKED,
  },
  {
    source: DELETION,
    code: 'let deleted = isDue ? MAX_DELETED_AT_ONCE : 0;',
    changes: [['isDue', 'true']],
    reason: RECHECKED,
  },
  {
    source: DELETION,
    code: 'const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);',
    changes: [['channelId === null', 'false']],
    reason: NO_CHANNEL,
  },
  {
    source: DELETION,
    code: 'const parts = channel === null ? messages.map((message) => [message]) : messages.length > 0 ? [messages] : [];',
    changes: [['messages.length > 0', 'true']],
    reason: NOTHING,
  },
  {
    source: 'channels/channel-access.ts',
    code: 'return hasContentAccess(actor, channel, isSubscribed) || (!isGuest(actor) && mayAdminister(actor, channel));',
    changes: [['!isGuest(actor)', 'true']],
    reason: 'The permission to administer a channel excludes guests.',
  },
  {
    source: ACCESS,
    code: 'if (messages.length === 0) return [];',
    changes: [['messages.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: ACCESS,
    code: 'channel: message.channelId === null ? null : (channels.get(message.channelId) ?? null),',
    changes: [['message.channelId === null', 'false']],
    reason: NO_CHANNEL,
  },
  {
    source: ACCESS,
    code: 'isSubscribed: message.channelId !== null && subscribed.has(message.channelId),',
    changes: [['message.channelId !== null', 'true']],
    reason: NO_SUBSCRIPTION,
  },
  {
    source: ACCESS,
    code: 'const channel = channelId === null ? null : await reads.channels.find(realmId, channelId);',
    changes: [['channelId === null', 'false']],
    reason: NO_CHANNEL,
  },
  {
    source: ACCESS,
    code: 'const isSubscribed = channelId !== null && (await reads.channels.isSubscribed(realmId, channelId, userId));',
    changes: [['channelId !== null', 'true']],
    reason: NO_SUBSCRIPTION,
  },
  {
    source: ACCESS,
    code: 'const isOwn = dependsOnOwnership(located) && (await reads.personal.listFlags({ realmId, userId }, [id])).has(id);',
    changes: [['dependsOnOwnership(located)', 'true']],
    reason: 'A shortcut for messages whose access does not depend on ownership.',
  },
  {
    source: ACCESS,
    code: 'channel: entry.channelId === null ? null : (channels.get(entry.channelId) ?? null),',
    changes: [['entry.channelId === null', 'false']],
    reason: NO_CHANNEL,
  },
  {
    source: ACCESS,
    code: 'isSubscribed: entry.channelId !== null && subscribed.has(entry.channelId),',
    changes: [['entry.channelId !== null', 'true']],
    reason: NO_SUBSCRIPTION,
  },
  {
    source: ACCESS,
    code: 'const taken = historical.length > 0 ? await reads.personal.listFlags(viewer, historical) : new Map();',
    changes: [['historical.length > 0', 'true']],
    reason: SHORTCUT,
  },
  {
    source: USERS,
    code: 'else this.guests.delete(user);',
    changes: [['this.guests.delete(user);', null]],
    reason: GUESTS,
  },
  {
    source: USERS,
    code: "role === 'guest' &&",
    changes: [["role === 'guest'", 'true']],
    reason: GUESTS,
  },
  {
    source: USERS,
    code: 'const people = shown.length === 0 ? [] : await repositories.users.list(realmId, shown);',
    changes: [['shown.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: MESSAGES,
    code: 'if (!exceptions) {',
    changes: [['!exceptions', 'true']],
    reason: CACHE,
  },
  {
    source: MESSAGES,
    code: 'exceptionsByEvent.set(event, exceptions);',
    changes: [['exceptionsByEvent.set(event, exceptions);', null]],
    reason: CACHE,
  },
  {
    source: MESSAGES,
    code: 'if (!conditions) {',
    changes: [['!conditions', 'true']],
    reason: CACHE,
  },
  {
    source: MESSAGES,
    code: 'conditionsByNarrow.set(terms, conditions);',
    changes: [['conditionsByNarrow.set(terms, conditions);', null]],
    reason: CACHE,
  },
  {
    source: MESSAGES,
    code: 'if (conditions.length === 0) return true;',
    changes: [['conditions.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: MESSAGES,
    code: 'const holders = messageIds.length === 0 ? [] : await personal.filterHolders(realmId, messageIds, ids);',
    changes: [['messageIds.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: MESSAGES,
    code: 'if (asking.length === 0) return null;',
    changes: [['asking.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: MESSAGES,
    code: 'const holders = ids.length === 1 ? holdersOf(firstOf(ids)) : anyOf(...ids.map(holdersOf));',
    changes: [['ids.length === 1', 'false']],
    reason: 'A union of one audience is that audience.',
  },
  {
    source: CHANNELS,
    code: 'if (subscribers?.size === 0) this.subscribers.delete(channelId);',
    changes: [
      ['subscribers?.size === 0', 'false'],
      ['this.subscribers.delete(channelId);', null],
    ],
    reason: 'A channel without online subscribers has the same members as an unknown one.',
  },
  {
    source: CHANNELS,
    code: 'if (ids.length === 0) return requests.map(channelReceiver);',
    changes: [['ids.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: CHANNELS,
    code: 'return isWebPublic(channel) ? wholeRealm : anyOf(subscribersOf(channel.id), firstAudience(channel));',
    changes: [['isWebPublic(channel)', 'false']],
    reason: 'The first audience of a web-public channel is everyone, which includes its subscribers.',
  },
  {
    source: CHANNELS,
    code: 'if (text === undefined) {',
    changes: [['text === undefined', 'true']],
    reason: CACHE,
  },
  {
    source: CHANNELS,
    code: 'texts.set(groups, text);',
    changes: [['texts.set(groups, text);', null]],
    reason: CACHE,
  },
  {
    source: HOLDS,
    code: '(since === null || sentAt >= since) &&',
    changes: [['since === null', 'false']],
    reason: BEFORE_EVERY_TIME,
  },
  {
    source: HOLDS,
    code: 'if (since !== null && until !== null && since > until) {',
    changes: [['since !== null', 'true']],
    reason: BEFORE_EVERY_TIME,
  },
  {
    source: HOLDS,
    code: 'if (since !== null && until !== null && since > until) continue;',
    changes: [['since !== null', 'true']],
    reason: BEFORE_EVERY_TIME,
  },
  {
    source: 'kernel/token-scope.ts',
    code: "if (conversation.kind === 'direct' || place.kind === 'direct') {",
    changes: [
      ["conversation.kind === 'direct'", 'false'],
      ["place.kind === 'direct'", 'false'],
    ],
    reason: 'A direct conversation has no channel id.',
  },
  {
    source: 'messages/token-scope.ts',
    code: 'if (ids.length === 0) return new Set();',
    changes: [['ids.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: 'messages/token-scope.ts',
    code: "return recipientId === null ? NO_MESSAGE : { kind: 'recipient', recipientIds: [recipientId] };",
    changes: [['recipientId === null', 'false']],
    reason: 'No message has the recipient null.',
  },
  {
    source: TOKENS,
    code: 'if (id === undefined || secret === undefined) throw invalidToken();',
    changes: [
      ['id === undefined || secret === undefined', 'false'],
      ['id === undefined', 'false'],
      ['secret === undefined', 'false'],
    ],
    reason: 'Storages find no token with an invalid id.',
  },
  {
    source: TOKENS,
    code: 'if (this.uses.size >= MAX_REMEMBERED_USES) this.uses.clear();',
    changes: [
      ['this.uses.size >= MAX_REMEMBERED_USES', 'true'],
      ['this.uses.size >= MAX_REMEMBERED_USES', 'false'],
      ['this.uses.size >= MAX_REMEMBERED_USES', 'this.uses.size > MAX_REMEMBERED_USES'],
      ['this.uses.clear();', null],
    ],
    reason: 'Rows have the times as well.',
  },
  {
    source: 'channels/closing.use-cases.ts',
    code: 'if (!channel?.isArchived || !(await tx.channelClosings.find(realmId, channelId))?.isClosed) return false;',
    changes: [['!channel?.isArchived', 'false']],
    reason: 'A closed channel is archived.',
  },
  {
    source: MOVES,
    code: 'for (let start = 0; start < ids.length; start += SLICE) {',
    changes: [['start < ids.length', 'start <= ids.length']],
    reason: 'Moving no messages changes nothing.',
  },
  {
    source: MOVES,
    code: 'const message = id === undefined ? null : await tx.messages.find(realm.id, id);',
    changes: [['id === undefined', 'false']],
    reason: 'Storages find no message without an id.',
  },
  {
    source: PARTS,
    code: 'if (ids.length <= MAX_MOVED_AT_ONCE) return [ids];',
    changes: [
      ['ids.length <= MAX_MOVED_AT_ONCE', 'false'],
      ['ids.length <= MAX_MOVED_AT_ONCE', 'ids.length < MAX_MOVED_AT_ONCE'],
    ],
    reason: SHORTCUT,
  },
  {
    source: PARTS,
    code: 'const mark = move.isOtherTopic && !move.isOtherChannel && !hasText ? topicMark(move.previousTopic, move.topic) : null;',
    changes: [['move.isOtherTopic', 'true']],
    reason: 'A topic that does not change has the same mark.',
  },
  {
    source: PARTS,
    code: "if ('ending' in payload && (await this.waitFor(tx, payload.after ?? [], job))) return { result: undefined };",
    changes: [["'ending' in payload", 'true']],
    reason: 'Only endings have jobs to wait for.',
  },
  {
    source: PARTS,
    code: 'ending.policies === null ? ending : { ...ending, ...(await movePolicies(tx, actor, move, ending.policies)) };',
    changes: [['ending.policies === null', 'false']],
    reason: 'Only endings with policies left are scheduled.',
  },
  {
    source: VISITORS,
    code: 'if (channels.length === 0) return [];',
    changes: [['channels.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: VISITORS,
    code: 'if (recipientIds.length === 0) return [];',
    changes: [['recipientIds.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: VISITORS,
    code: "if (recipient.kind !== 'direct') continue;",
    changes: [["recipient.kind !== 'direct'", 'false']],
    reason: 'Only direct conversations are listed; the condition narrows the type.',
  },
  {
    source: VISITORS,
    code: 'const sent = entries.filter(({ senderId }) => senderId === visitor.id).map(({ id }) => id);',
    changes: [['senderId === visitor.id', 'true']],
    reason: 'Storages ignore messages that another user sent.',
  },
  {
    source: VISITORS,
    code: 'if (files.length === 0) return;',
    changes: [['files.length === 0', 'false']],
    reason: SHORTCUT,
  },
  {
    source: ERASURES,
    code: "if (user.role === 'owner' && user.isActive && (await isOnlyOwnerOf(tx, realm.id, user.id))) {",
    changes: [
      ["user.role === 'owner'", 'true'],
      ['user.isActive', 'true'],
    ],
    reason: ONLY_OWNER,
  },
  {
    source: ERASURES,
    code: 'if (erasure && removedRows + changedTexts > 0) {',
    changes: [['removedRows + changedTexts > 0', 'true']],
    reason: 'Adding 0 to the counts changes nothing.',
  },
  {
    source: ERASURES,
    code: 'if (holds.every(({ releasedAt }) => releasedAt !== null)) return { next: following(payload), counts: {} };',
    changes: [
      ['holds.every(({ releasedAt }) => releasedAt !== null)', 'false'],
      ['releasedAt !== null', 'false'],
    ],
    reason: SHORTCUT,
  },
  {
    source: MERGED,
    code: 'if (earlier) await tx.placeholderKeys.update({ ...earlier, key: visitKey(visitorId) });',
    changes: [['earlier', 'true']],
    reason: 'Storages update no row without an id.',
  },
  {
    source: MERGED,
    code: '} while (page.length === ENTITIES_PER_PAGE && after.targetId === userId);',
    changes: [['after.targetId === userId', 'true']],
    reason: 'A shortcut; later records have other targets.',
  },
  {
    source: 'membership/bot-storage.ts',
    code: 'export const MAX_REMOVED_AT_ONCE = 5000;',
    changes: [
      ['5000', '(5000 + 1)'],
      ['5000', '(5000 - 1)'],
    ],
    reason: 'The size of a batch, of which all are removed in the end.',
  },
];
