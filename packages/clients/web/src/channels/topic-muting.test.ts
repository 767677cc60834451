import type { Chat } from '@parley/chat';
import { topicMuting } from './topic-muting.js';

describe('topicMuting', () => {
  it.each([
    [false, 'none', false, 'muted'],
    [false, 'followed', false, 'muted'],
    [false, 'unmuted', false, 'muted'],
    [false, 'muted', true, 'none'],
    [true, 'none', true, 'unmuted'],
    [true, 'muted', true, 'unmuted'],
    [true, 'unmuted', false, 'none'],
    [true, 'followed', false, 'none'],
  ] as const)('in a channel that is muted: %s, switches the policy %s, muted: %s, to %s', (...row) => {
    const [isChannelMuted, policy, isMuted, next] = row;
    const sidebar = { policyOf: () => policy, channel: () => ({ value: { isMuted: isChannelMuted } }) };
    const chat = { sidebar } as unknown as Chat;
    expect(topicMuting(chat, { kind: 'channel', channelId: 1, topic: 'plans' })).toEqual({ isMuted, next });
  });
});
