import type { ChannelId, UserId } from '@parley/domain/kernel';
import { DRAFT_LIST, type Draft } from '@parley/domain/messages';
import { Table } from '../engine/declared-rows.js';

/** Draft to a channel, to users, or to nobody yet. */
interface StoredDraft extends Pick<Draft, 'content' | 'editedAt'> {
  readonly channelId: ChannelId | null;
  readonly userIds: readonly UserId[] | null;
  readonly topic: string;
}

export const DRAFT_FEATURE = new Table<Draft, StoredDraft>(DRAFT_LIST.rows, {
  columns: { channelId: 'int?', userIds: 'ids?', topic: 'text', content: 'text', editedAt: 'real' },
  indices: ['INDEX draft_by_user ON draft (user_id, edited_at, id, realm_id)'],
  pack: ({ to, content, editedAt }) => ({
    channelId: to.kind === 'channel' ? to.channelId : null,
    userIds: to.kind === 'direct' ? to.userIds : null,
    topic: to.kind === 'channel' ? to.topic : '',
    content,
    editedAt,
  }),
  unpack: ({ channelId, userIds, topic, ...draft }) => ({ ...draft, to: addressee(channelId, userIds, topic) }),
}).feature(1, 'drafts', { data: 'Drafts', erase: 'user_id = {id}', mentions: ['content'] });

function addressee(channelId: ChannelId | null, userIds: readonly UserId[] | null, topic: string): Draft['to'] {
  if (channelId !== null) return { kind: 'channel', channelId, topic };
  return userIds === null ? { kind: 'nobody' } : { kind: 'direct', userIds };
}
