/** Faults that change no behavior, so no test can detect them. */
export interface Equivalent {
  /** Path in `domain/src`. */
  readonly source: string;
  /** Source line without indentation. */
  readonly code: string;
  /** Pairs of original text and replacement. */
  readonly changes: readonly (readonly [text: string, replacement: string | null])[];
  readonly reason: string;
}

const DELETION = 'messages/deletion.use-cases.ts';
const NO_CHANNEL = 'Storages find no channel for null.';
const RECHECKED = 'A shortcut without writes; the unit that deletes messages checks again.';
const NOTHING = 'Deleting no messages changes nothing.';

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
    source: 'messages/deletion.ts',
    code: 'if (channel === null || channel.firstMessageId === null || !ids.includes(channel.firstMessageId)) return;',
    changes: [['channel.firstMessageId === null', 'false']],
    reason: 'The deleted ids do not include null.',
  },
  {
    source: DELETION,
    code: 'const isSubscribed = channel !== null && (await tx.channels.isSubscribed(realmId, channelId, actor.id));',
    changes: [['channel !== null', 'true']],
    reason: 'Nobody subscribes to a nonexistent channel.',
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
];
